/** Defaults and validation of Ingress. */
import type { DeepReadonly } from "@flotilla/base";
import { builtInAdmission, checkText, dnsLabelProblems, dnsSubdomainProblems, field } from "@flotilla/apimachinery";
import type { AnyAdmission, FieldError, Sent } from "@flotilla/apimachinery";
import { checkBalancerName } from "../service/service-validation.ts";
import type {
  HTTPIngressPath,
  IngressBackend,
  IngressRule,
  IngressSpec,
  IngressTLS,
} from "@flotilla/apimachinery/facts/networking-v1.ts";
import { addressWarnings, checkAddress, parseAddress } from "../networking/addresses.ts";
import { checkReferenceName } from "../ingressclass/ingressclass-rules.ts";
import { checkPortName, checkPortNumber } from "../networking/ports.ts";
import { Ingress } from "./ingress-kind.ts";

type Read<T> = DeepReadonly<T>;

/** The annotation for the class, which predates the field. */
export const INGRESS_CLASS_ANNOTATION = "kubernetes.io/ingress.class";

const PATH_TYPES = ["Exact", "ImplementationSpecific", "Prefix"];
const BAD_SEQUENCES = ["//", "/./", "/../", "%2f", "%2F"];
const BAD_ENDS = ["/..", "/."];
const WILDCARD = /^\*\.[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/;
const WILDCARD_RULE =
  "a wildcard DNS-1123 subdomain must start with '*.', followed by a valid DNS subdomain, which must " +
  "consist of lower case alphanumeric characters, '-' or '.' and end with an alphanumeric character (e.g. " +
  "'*.example.com', regex used for validation is " +
  "'\\*\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')";

/** Values stored under older rules stay valid. */
interface Leniency {
  secretNames: boolean;
  wildcardRules: boolean;
}

const STRICT: Leniency = { secretNames: false, wildcardRules: false };

function leniencyFor({ tls = [], rules = [] }: Read<IngressSpec>): Leniency {
  return {
    secretNames: tls.some(({ secretName }) => secretName && dnsSubdomainProblems(secretName).length > 0),
    wildcardRules: rules.some((rule) => rule.host?.includes("*") && checkRuleValue("", rule).length > 0),
  };
}

function checkSpec(spec: Sent<IngressSpec>, lenient: Leniency): FieldError[] {
  const { rules = [], defaultBackend, tls = [], ingressClassName } = spec;
  return [
    ...(rules.length === 0 && !defaultBackend
      ? [field.invalid("spec", null, "either `defaultBackend` or `rules` must be specified")]
      : []),
    ...(defaultBackend ? checkBackend("spec.defaultBackend", defaultBackend) : []),
    ...rules.flatMap((rule, index) => checkRule(`spec.rules[${index}]`, rule, lenient)),
    ...tls.flatMap((item, index) => checkTls(`spec.tls[${index}]`, item, lenient)),
    ...(ingressClassName === undefined
      ? []
      : checkText("spec.ingressClassName", ingressClassName, dnsSubdomainProblems)),
  ];
}

function wildcardProblems(host: string): string[] {
  if (host.length > 253)
    return [
      "must be no more than 253 characters",
      ...(host.length <= 1024 && WILDCARD.test(host) ? [] : [WILDCARD_RULE]),
    ];
  return WILDCARD.test(host) ? [] : [WILDCARD_RULE];
}

const checkHost = (path: string, host: string): FieldError[] =>
  checkText(path, host, host.includes("*") ? wildcardProblems : dnsSubdomainProblems);

function checkRule(at: string, rule: Sent<IngressRule>, lenient: Leniency): FieldError[] {
  const { host = "" } = rule;
  const errors: FieldError[] = [];
  if (host !== "") {
    if (parseAddress(host)) errors.push(field.invalid(`${at}.host`, host, "must be a DNS name, not an IP address"));
    errors.push(...checkHost(`${at}.host`, host));
  }
  return lenient.wildcardRules && host.includes("*") ? errors : [...errors, ...checkRuleValue(at, rule)];
}

function checkRuleValue(at: string, { http }: Sent<IngressRule>): FieldError[] {
  if (!http) return [];
  const { paths = [] } = http;
  return [
    ...(paths.length === 0 ? [field.required(`${at}.http.paths`)] : []),
    ...paths.flatMap((path, index) => checkPath(`${at}.http.paths[${index}]`, path)),
  ];
}

function checkPath(at: string, { path = "", pathType, backend = {} }: Sent<HTTPIngressPath>): FieldError[] {
  if (pathType === undefined) return [field.required(`${at}.pathType`, "pathType must be specified")];
  const errors: FieldError[] = [];
  const isRelative = !path.startsWith("/");
  if (pathType === "Exact" || pathType === "Prefix") {
    if (isRelative) errors.push(field.invalid(`${at}.path`, path, "must be an absolute path"));
    for (const sequence of BAD_SEQUENCES)
      if (path.includes(sequence)) errors.push(field.invalid(`${at}.path`, path, `must not contain '${sequence}'`));
    for (const end of BAD_ENDS)
      if (path.endsWith(end)) errors.push(field.invalid(`${at}.path`, path, `cannot end with '${end}'`));
  } else if (pathType === "ImplementationSpecific") {
    if (path !== "" && isRelative) errors.push(field.invalid(`${at}.path`, path, "must be an absolute path"));
  } else errors.push(field.notSupported(`${at}.pathType`, pathType, PATH_TYPES));
  return [...errors, ...checkBackend(`${at}.backend`, backend)];
}

function checkBackend(at: string, { service, resource }: Sent<IngressBackend>): FieldError[] {
  if (service && resource) return [field.invalid(at, "", "cannot set both resource and service backends")];
  if (resource) {
    const { apiGroup, kind = "", name = "" } = resource;
    const path = `${at}.resource`;
    return [
      ...(apiGroup === undefined ? [] : checkText(`${path}.apiGroup`, apiGroup, dnsSubdomainProblems)),
      ...checkReferenceName(`${path}.kind`, kind),
      ...checkReferenceName(`${path}.name`, name),
    ];
  }
  if (!service) return [field.invalid(at, "", "resource or service backend is required")];
  const errors = service.name
    ? checkText(`${at}.service.name`, service.name, dnsLabelProblems)
    : [field.required(`${at}.service.name`)];
  const { name, number } = service.port ?? {};
  if (name && number) return [...errors, field.invalid(at, "", "cannot set both port name & port number")];
  if (name) return [...errors, ...checkPortName(`${at}.service.port.name`, name)];
  return [
    ...errors,
    ...(number
      ? checkPortNumber(`${at}.service.port.number`, number)
      : [field.required(at, "port name or number is required")]),
  ];
}

function checkTls(at: string, { hosts = [], secretName }: Sent<IngressTLS>, lenient: Leniency): FieldError[] {
  const errors = hosts.flatMap((host, index) => checkHost(`${at}.hosts[${index}]`, host));
  return secretName && !lenient.secretNames
    ? [...errors, ...checkText(`${at}.secretName`, secretName, dnsSubdomainProblems)]
    : errors;
}

function checkClassAnnotation({ metadata, spec }: Read<Ingress>): FieldError[] {
  const named = metadata.annotations?.[INGRESS_CLASS_ANNOTATION];
  if (named === undefined || spec?.ingressClassName === undefined || named === spec.ingressClassName) return [];
  return [
    field.invalid(
      `annotations.${INGRESS_CLASS_ANNOTATION}`,
      named,
      "must match `ingressClassName` when both are specified",
    ),
  ];
}

function checkStatus({ status }: Read<Ingress>, old: Read<Ingress> | undefined): FieldError[] {
  const known = (old?.status?.loadBalancer?.ingress ?? []).flatMap(({ ip }) => ip || []);
  return (status?.loadBalancer?.ingress ?? []).flatMap(({ ip, hostname = "" }, index) => {
    const at = `status.loadBalancer.ingress[${index}]`;
    return [...(ip ? checkAddress(`${at}.ip`, ip, known) : []), ...checkBalancerName(`${at}.hostname`, hostname)];
  });
}

function ingressWarnings({ metadata, spec }: Read<Ingress>): string[] {
  if (metadata.annotations?.[INGRESS_CLASS_ANNOTATION] === undefined || spec?.ingressClassName !== undefined) return [];
  return [`annotation "${INGRESS_CLASS_ANNOTATION}" is deprecated, please use 'spec.ingressClassName' instead`];
}

const statusWarnings = ({ status }: Read<Ingress>): string[] =>
  (status?.loadBalancer?.ingress ?? []).flatMap(({ ip }, index) =>
    ip ? addressWarnings(`status.loadBalancer.ingress[${index}]`, ip) : [],
  );

export const rules: AnyAdmission[] = [
  builtInAdmission(Ingress, "networking-v1", {
    validate: ({ object, oldObject }) => [
      ...checkSpec(object.spec ?? {}, oldObject ? leniencyFor(oldObject.spec ?? {}) : STRICT),
      ...(oldObject ? [] : checkClassAnnotation(object)),
    ],
    validateStatus: ({ object, oldObject }) => checkStatus(object, oldObject),
    warnings: ({ object, operation, subresource }) =>
      subresource === "status" ? statusWarnings(object) : operation === "CREATE" ? ingressWarnings(object) : [],
  }),
];
