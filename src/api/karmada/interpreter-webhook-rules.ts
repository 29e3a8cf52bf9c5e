/** Validates a ResourceInterpreterWebhookConfiguration, with upstream's messages. */
import type { DeepReadonly } from "../../base/index.ts";
import {
  dns1035LabelProblems,
  dnsLabelProblems,
  dnsSubdomainProblems,
  type FieldError,
} from "../../machinery/index.ts";
import { checkText, missing, notOneOf, twice, wrong } from "../field-errors.ts";
import type { ResourceInterpreterWebhook, RuleWithOperations } from "../facts/config-karmada-v1alpha1.ts";
import { hasCertificate } from "../../pki/index.ts";
import { checkWebhookClient } from "../webhook-client.ts";

type Read<T> = DeepReadonly<T>;

const ANY = "*";
const CONTEXT_VERSION = "v1alpha1";
const OPERATIONS = [
  ANY,
  "AggregateStatus",
  "InterpretComponent",
  "InterpretDependency",
  "InterpretHealth",
  "InterpretReplica",
  "InterpretStatus",
  "Retain",
  "ReviseReplica",
];

export function checkInterpreterWebhooks(webhooks: readonly Read<ResourceInterpreterWebhook>[]): FieldError[] {
  const names = new Set<string>();
  return webhooks.flatMap((webhook, index) => {
    const at = `webhooks[${index}]`;
    const isRepeated = names.has(webhook.name);
    names.add(webhook.name);
    return [...checkWebhook(at, webhook), ...(isRepeated ? [twice(`${at}.name`, webhook.name)] : [])];
  });
}

function checkWebhook(
  at: string,
  { name, rules = [], timeoutSeconds = 1, clientConfig, interpreterContextVersions }: Read<ResourceInterpreterWebhook>,
): FieldError[] {
  return [
    ...checkDomainName(`${at}.name`, name),
    ...rules.flatMap((rule, index) => checkRule(`${at}.rules[${index}]`, rule)),
    ...(timeoutSeconds < 1 || timeoutSeconds > 30
      ? [wrong(`${at}.timeoutSeconds`, timeoutSeconds, "the timeout value must be between 1 and 30 seconds")]
      : []),
    ...checkWebhookClient(`${at}.clientConfig`, clientConfig),
    ...checkBundle(`${at}.clientConfig.caBundle`, clientConfig.caBundle),
    ...checkContextVersions(`${at}.interpreterContextVersions`, interpreterContextVersions),
  ];
}

/** A fully qualified name such as `workloads.example.com`; a trailing dot is allowed. */
function checkDomainName(field: string, given: string): FieldError[] {
  if (given === "") return [missing(field)];
  const name = given.replace(/\.$/, "");
  const problems = dnsSubdomainProblems(name);
  if (problems.length > 0) return [wrong(field, name, problems.join(","))];
  const labels = name.split(".");
  if (labels.length < 2) return [wrong(field, name, "should be a domain with at least two segments separated by dots")];
  const broken = labels.find((label) => dnsLabelProblems(label).length > 0);
  return broken === undefined ? [] : [wrong(field, broken, dnsLabelProblems(broken).join(","))];
}

function checkRule(at: string, { operations, apiGroups, apiVersions, kinds }: Read<RuleWithOperations>): FieldError[] {
  return [
    ...checkList(`${at}.operations`, operations, "operations"),
    ...operations.flatMap((operation, index) =>
      OPERATIONS.includes(operation) ? [] : [notOneOf(`${at}.operations[${index}]`, operation, OPERATIONS)],
    ),
    // The core group has an empty name, so an empty text is valid only here.
    ...checkList(`${at}.apiGroups`, apiGroups, "API groups"),
    ...checkList(`${at}.apiVersions`, apiVersions, "API versions"),
    ...checkFilled(`${at}.apiVersions`, apiVersions),
    ...checkList(`${at}.kinds`, kinds, "kinds"),
    ...checkFilled(`${at}.kinds`, kinds),
  ];
}

function checkList(field: string, list: readonly string[], what: string): FieldError[] {
  if (list.length === 0) return [missing(field)];
  return list.length > 1 && list.includes(ANY)
    ? [wrong(field, list, `if '*' is present, must not specify other ${what}`)]
    : [];
}

const checkFilled = (field: string, list: readonly string[]): FieldError[] =>
  list.flatMap((text, index) => (text === "" ? [missing(`${field}[${index}]`)] : []));

/** Upstream detects a bundle without a certificate only when the webhook is called. */
function checkBundle(field: string, bundle: string | undefined): FieldError[] {
  if (!bundle || hasCertificate(Buffer.from(bundle, "base64").toString("latin1"))) return [];
  return [
    {
      type: "Invalid",
      field,
      message: "Invalid value: unable to load root certificates: unable to parse bytes as PEM block",
    },
  ];
}

function checkContextVersions(field: string, versions: readonly string[]): FieldError[] {
  if (versions.length === 0) return [missing(field, `must specify one of ${CONTEXT_VERSION}`)];
  const seen = new Set<string>();
  const errors: FieldError[] = [];
  for (const [index, version] of versions.entries()) {
    if (seen.has(version)) errors.push(wrong(`${field}[${index}]`, version, "duplicate version"));
    else errors.push(...checkText(`${field}[${index}]`, version, dns1035LabelProblems));
    seen.add(version);
  }
  return seen.has(CONTEXT_VERSION)
    ? errors
    : [...errors, wrong(field, versions, `must include at least one of ${CONTEXT_VERSION}`)];
}
