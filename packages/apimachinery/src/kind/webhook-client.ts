/**
 * Validates the client configuration of a webhook: a URL or a Service. CRDs and Karmada's interpreter webhooks share
 * it.
 */
import type { DeepReadonly } from "@flotilla/base";
import { dnsSubdomainProblems } from "../names.ts";
import { field, type FieldError } from "../field.ts";
import type { ServiceReference, WebhookClientConfig } from "./facts/admissionregistration-v1.ts";

/** `checkService` replaces the default messages for the fields of a Service. */
export function checkWebhookClient(
  path: string,
  { url, service }: DeepReadonly<WebhookClientConfig>,
  checkService = checkWebhookService,
): FieldError[] {
  if ((url === undefined) === (service === undefined))
    return [field.required(path, "exactly one of url or service is required")];
  return url !== undefined
    ? checkWebhookUrl(`${path}.url`, url)
    : checkService(`${path}.service`, service ?? { namespace: "", name: "" });
}

const URL_FORM = "; desired format: https://host[/path]";

function checkWebhookUrl(path: string, text: string): FieldError[] {
  const scheme = /^([a-z][a-z0-9+.-]*):/i.exec(text)?.[1]?.toLowerCase() ?? "";
  const errors =
    scheme === "https" ? [] : [field.invalid(path, scheme, `'https' is the only allowed URL scheme${URL_FORM}`)];
  // The WHATWG parser accepts a host in `https:shop`; the author probably forgot the slashes.
  if (!/^[^/?#]*:\/\/[^/?#]/.test(text))
    return [...errors, field.invalid(path, "", `host must be specified${URL_FORM}`)];
  if (!URL.canParse(text))
    return [field.required(path, `url must be a valid URL: ${JSON.stringify(text)} cannot be parsed${URL_FORM}`)];
  const url = new URL(text);
  const user = url.password === "" ? url.username : `${url.username}:${url.password}`;
  return [
    ...errors,
    ...(user === "" ? [] : [field.invalid(path, user, "user information is not permitted in the URL")]),
    ...(url.hash === "" ? [] : [field.invalid(path, url.hash.slice(1), "fragments are not permitted in the URL")]),
    ...(url.search === ""
      ? []
      : [field.invalid(path, url.search.slice(1), "query parameters are not permitted in the URL")]),
  ];
}

export function checkWebhookService(
  at: string,
  { namespace, name, path, port = 443 }: DeepReadonly<ServiceReference>,
): FieldError[] {
  const errors: FieldError[] = [];
  if (!name) errors.push(field.required(`${at}.name`));
  if (!namespace) errors.push(field.required(`${at}.namespace`));
  if (port < 1 || port > 65_535)
    errors.push(field.invalid(`${at}.port`, port, "port is not valid: must be between 1 and 65535, inclusive"));
  if (path === undefined || path === "" || path === "/") return errors;
  if (path === "//") return [...errors, field.invalid(`${at}.path`, path, "segment[0] may not be empty")];
  if (!path.startsWith("/")) errors.push(field.invalid(`${at}.path`, path, "must start with a '/'"));
  for (const [index, segment] of path.slice(1).replace(/\/$/, "").split("/").entries()) {
    if (segment === "") errors.push(field.invalid(`${at}.path`, path, `segment[${index}] may not be empty`));
    else
      errors.push(
        ...dnsSubdomainProblems(segment).map((problem) =>
          field.invalid(`${at}.path`, path, `segment[${index}]: ${problem}`),
        ),
      );
  }
  return errors;
}
