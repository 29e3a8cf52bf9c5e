/** What a definition says about the conversion between its versions. */
import type { DeepReadonly } from "../../base/index.ts";
import { dns1035LabelProblems, dnsSubdomainProblems, type FieldError } from "../../machinery/index.ts";
import { checkText, forbiddenField, missing, notOneOf, wrong } from "../field-errors.ts";
import type { CustomResourceConversion, ServiceReference, WebhookClientConfig } from "../facts/apiextensions-v1.ts";

const AT = "spec.conversion";
const REVIEW_VERSIONS = ["v1", "v1beta1"];

export function checkConversion(conversion: DeepReadonly<CustomResourceConversion> | undefined): FieldError[] {
  if (!conversion) return [];
  const { strategy, webhook } = conversion;
  const errors: FieldError[] = [];
  if (!strategy) errors.push(missing(`${AT}.strategy`));
  else if (strategy !== "None" && strategy !== "Webhook") errors.push(notOneOf(`${AT}.strategy`, strategy, ["None", "Webhook"]));
  const { clientConfig, conversionReviewVersions = [] } = webhook ?? {};
  if (strategy !== "Webhook") {
    const detail = "should not be set when strategy is not set to Webhook";
    if (clientConfig) errors.push(forbiddenField(`${AT}.webhookClientConfig`, detail));
    if (conversionReviewVersions.length > 0) errors.push(forbiddenField(`${AT}.conversionReviewVersions`, detail));
    return errors;
  }
  if (clientConfig) errors.push(...checkClient(`${AT}.webhookClientConfig`, clientConfig));
  else errors.push(missing(`${AT}.webhookClientConfig`, "required when strategy is set to Webhook"));
  return [...errors, ...checkReviewVersions(`${AT}.conversionReviewVersions`, conversionReviewVersions)];
}

function checkReviewVersions(field: string, versions: readonly string[]): FieldError[] {
  if (versions.length === 0) return [missing(field)];
  const errors: FieldError[] = [];
  const seen = new Set<string>();
  for (const [index, version] of versions.entries()) {
    if (seen.has(version)) errors.push(wrong(`${field}[${index}]`, version, "duplicate version"));
    else errors.push(...checkText(`${field}[${index}]`, version, dns1035LabelProblems));
    seen.add(version);
  }
  if (!versions.some((version) => REVIEW_VERSIONS.includes(version))) errors.push(wrong(field, versions, `must include at least one of ${REVIEW_VERSIONS.join(", ")}`));
  return errors;
}

function checkClient(field: string, { url, service }: DeepReadonly<WebhookClientConfig>): FieldError[] {
  if ((url === undefined) === (service === undefined)) return [missing(field, "exactly one of url or service is required")];
  return url !== undefined ? checkUrl(`${field}.url`, url) : checkService(`${field}.service`, service ?? { namespace: "", name: "" });
}

const URL_FORM = "; desired format: https://host[/path]";

function checkUrl(field: string, text: string): FieldError[] {
  if (!URL.canParse(text)) return [missing(field, `url must be a valid URL: ${JSON.stringify(text)} cannot be parsed${URL_FORM}`)];
  const url = new URL(text);
  const scheme = url.protocol.slice(0, -1);
  const user = url.password === "" ? url.username : `${url.username}:${url.password}`;
  return [
    ...(scheme === "https" ? [] : [wrong(field, scheme, `'https' is the only allowed URL scheme${URL_FORM}`)]),
    ...(url.host === "" ? [wrong(field, "", `host must be specified${URL_FORM}`)] : []),
    ...(user === "" ? [] : [wrong(field, user, "user information is not permitted in the URL")]),
    ...(url.hash === "" ? [] : [wrong(field, url.hash.slice(1), "fragments are not permitted in the URL")]),
    ...(url.search === "" ? [] : [wrong(field, url.search.slice(1), "query parameters are not permitted in the URL")]),
  ];
}

function checkService(field: string, { namespace, name, path, port = 443 }: DeepReadonly<ServiceReference>): FieldError[] {
  const errors: FieldError[] = [];
  // The real server has these two the wrong way round.
  if (!namespace) errors.push(missing(`${field}.name`));
  if (!name) errors.push(missing(`${field}.namespace`));
  if (port < 1 || port > 65_535) errors.push(wrong(`${field}.port`, port, "port is not valid: must be between 1 and 65535, inclusive"));
  if (path === undefined || path === "" || path === "/") return errors;
  if (path === "//") return [...errors, wrong(`${field}.path`, path, "segment[0] may not be empty")];
  if (!path.startsWith("/")) errors.push(wrong(`${field}.path`, path, "must start with a '/'"));
  for (const [index, segment] of path.slice(1).replace(/\/$/, "").split("/").entries()) {
    if (segment === "") errors.push(wrong(`${field}.path`, path, `segment[${index}] may not be empty`));
    else errors.push(...dnsSubdomainProblems(segment).map((problem) => wrong(`${field}.path`, path, `segment[${index}]: ${problem}`)));
  }
  return errors;
}
