/** Validates a pod's host name, DNS configuration and host aliases. */
import type { DeepReadonly } from "@flotilla/base";
import { checkText, dnsSubdomainProblems, field } from "@flotilla/apimachinery";
import type { FieldError } from "@flotilla/apimachinery";
import type { HostAlias, PodDNSConfig, PodSpec } from "@flotilla/apimachinery/facts/core-v1.ts";
import { checkAddress } from "../networking/addresses.ts";

type Read<T> = DeepReadonly<T>;

const MAX_NAMESERVERS = 3;
const MAX_SEARCHES = 32;
const MAX_SEARCH_CHARACTERS = 2048;
const SEARCH_PART = /^_?[a-z0-9](?:[-_a-z0-9]*[a-z0-9])?$/;
const SEARCH_RULE =
  "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '_', '-' or '.', and " +
  "must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is " +
  "'_?[a-z0-9]([-_a-z0-9]*[a-z0-9])?(\\._?[a-z0-9]([-_a-z0-9]*[a-z0-9])?)*')";

export function checkDns(
  errors: FieldError[],
  at: string,
  config: Read<PodDNSConfig> | undefined,
  policy: string | undefined,
): void {
  if (policy === "None") {
    if (!config) return void errors.push(field.required(at, "must provide `dnsConfig` when `dnsPolicy` is None"));
    if (!config.nameservers?.length)
      return void errors.push(
        field.required(`${at}.nameservers`, "must provide at least one DNS nameserver when `dnsPolicy` is None"),
      );
  }
  if (!config) return;
  const { nameservers = [], searches = [], options = [] } = config;
  if (nameservers.length > MAX_NAMESERVERS)
    errors.push(
      field.invalid(`${at}.nameservers`, nameservers, `must not have more than ${MAX_NAMESERVERS} nameservers`),
    );
  for (const [index, server] of nameservers.entries())
    errors.push(...checkAddress(`${at}.nameservers[${index}]`, server));
  if (searches.length > MAX_SEARCHES)
    errors.push(field.invalid(`${at}.searches`, searches, `must not have more than ${MAX_SEARCHES} search paths`));
  if (searches.join(" ").length > MAX_SEARCH_CHARACTERS)
    errors.push(
      field.invalid(
        `${at}.searches`,
        searches,
        `must not have more than ${MAX_SEARCH_CHARACTERS} characters (including spaces) in the search list`,
      ),
    );
  for (const [index, search] of searches.entries())
    if (search !== ".")
      errors.push(...checkText(`${at}.searches[${index}]`, search.replace(/\.$/, ""), searchProblems));
  for (const [index, { name }] of options.entries())
    if (!name) errors.push(field.required(`${at}.options[${index}]`, "must not be empty"));
}

/** Search domains may have underscores, which some services use in their names. */
function searchProblems(search: string): string[] {
  const problems: string[] = [];
  if (search.length > 253) problems.push("must be no more than 253 characters");
  if (!search.split(".").every((part) => SEARCH_PART.test(part))) problems.push(SEARCH_RULE);
  return problems;
}

export function checkHostAliases(errors: FieldError[], at: string, aliases: readonly Read<HostAlias>[]): void {
  for (const [index, { ip = "", hostnames }] of aliases.entries()) {
    errors.push(...checkAddress(`${at}[${index}].ip`, ip));
    for (const [place, name] of (hostnames ?? []).entries())
      errors.push(...checkText(`${at}[${index}].hostnames[${place}]`, name, dnsSubdomainProblems));
  }
}

/** With hostNetwork a container listens on the node's port. In a template an unset hostPort is defaulted later. */
export function checkHostNetwork(errors: FieldError[], at: string, spec: Read<PodSpec>, isPod: boolean): void {
  if (!spec.hostNetwork) return;
  for (const [index, { ports }] of (spec.containers ?? []).entries()) {
    for (const [place, { hostPort = 0, containerPort = 0 }] of (ports ?? []).entries()) {
      if ((isPod || hostPort !== 0) && hostPort !== containerPort)
        errors.push(
          field.invalid(
            `${at}.containers[${index}].ports[${place}].hostPort`,
            hostPort,
            "must match `containerPort` when `hostNetwork` is true",
          ),
        );
    }
  }
}

export function checkHostnameOverride(
  errors: FieldError[],
  at: string,
  { hostnameOverride, setHostnameAsFQDN, hostNetwork }: Read<PodSpec>,
): void {
  if (hostnameOverride === undefined) return;
  const path = `${at}.hostnameOverride`;
  if (setHostnameAsFQDN) errors.push(field.forbidden(path, "may not be specified when setHostnameAsFQDN is true"));
  if (hostNetwork) errors.push(field.forbidden(path, "may not be specified when hostNetwork is true"));
  if (hostnameOverride.length > 64) errors.push(field.tooLong(path, 64));
  errors.push(...checkText(path, hostnameOverride, dnsSubdomainProblems));
}
