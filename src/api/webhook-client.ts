/**
 * Validates the client configuration of a webhook: a URL or a Service. CRDs and Karmada's interpreter webhooks share
 * it.
 */
import type { DeepReadonly } from "../base/index.ts";
import { dnsSubdomainProblems, type FieldError } from "../machinery/index.ts";
import { missing, wrong } from "./field-errors.ts";
import type { ServiceReference, WebhookClientConfig } from "./facts/admissionregistration-v1.ts";

/** `checkService` replaces the default messages for the fields of a Service. */
export function checkWebhookClient(
  field: string,
  { url, service }: DeepReadonly<WebhookClientConfig>,
  checkService = checkWebhookService,
): FieldError[] {
  if ((url === undefined) === (service === undefined))
    return [missing(field, "exactly one of url or service is required")];
  return url !== undefined
    ? checkWebhookUrl(`${field}.url`, url)
    : checkService(`${field}.service`, service ?? { namespace: "", name: "" });
}

const URL_FORM = "; desired format: https://host[/path]";

function checkWebhookUrl(field: string, text: string): FieldError[] {
  const scheme = /^([a-z][a-z0-9+.-]*):/i.exec(text)?.[1]?.toLowerCase() ?? "";
  const errors = scheme === "https" ? [] : [wrong(field, scheme, `'https' is the only allowed URL scheme${URL_FORM}`)];
  // The WHATWG parser accepts a host in `https:shop`; the author probably forgot the slashes.
  if (!/^[^/?#]*:\/\/[^/?#]/.test(text)) return [...errors, wrong(field, "", `host must be specified${URL_FORM}`)];
  if (!URL.canParse(text))
    return [missing(field, `url must be a valid URL: ${JSON.stringify(text)} cannot be parsed${URL_FORM}`)];
  const url = new URL(text);
  const user = url.password === "" ? url.username : `${url.username}:${url.password}`;
  return [
    ...errors,
    ...(user === "" ? [] : [wrong(field, user, "user information is not permitted in the URL")]),
    ...(url.hash === "" ? [] : [wrong(field, url.hash.slice(1), "fragments are not permitted in the URL")]),
    ...(url.search === "" ? [] : [wrong(field, url.search.slice(1), "query parameters are not permitted in the URL")]),
  ];
}

export function checkWebhookService(
  field: string,
  { namespace, name, path, port = 443 }: DeepReadonly<ServiceReference>,
): FieldError[] {
  const errors: FieldError[] = [];
  if (!name) errors.push(missing(`${field}.name`));
  if (!namespace) errors.push(missing(`${field}.namespace`));
  if (port < 1 || port > 65_535)
    errors.push(wrong(`${field}.port`, port, "port is not valid: must be between 1 and 65535, inclusive"));
  if (path === undefined || path === "" || path === "/") return errors;
  if (path === "//") return [...errors, wrong(`${field}.path`, path, "segment[0] may not be empty")];
  if (!path.startsWith("/")) errors.push(wrong(`${field}.path`, path, "must start with a '/'"));
  for (const [index, segment] of path.slice(1).replace(/\/$/, "").split("/").entries()) {
    if (segment === "") errors.push(wrong(`${field}.path`, path, `segment[${index}] may not be empty`));
    else
      errors.push(
        ...dnsSubdomainProblems(segment).map((problem) =>
          wrong(`${field}.path`, path, `segment[${index}]: ${problem}`),
        ),
      );
  }
  return errors;
}
