/** Validates a ResourceInterpreterWebhookConfiguration, with upstream's messages. */
import type { DeepReadonly } from "@flotilla/base";
import {
  checkText,
  checkWebhookClient,
  dns1035LabelProblems,
  dnsLabelProblems,
  dnsSubdomainProblems,
  field,
  hasCertificate,
} from "@flotilla/apimachinery";
import type { Admission, AnyAdmission, FieldError } from "@flotilla/apimachinery";
import type {
  ResourceInterpreterWebhook,
  RuleWithOperations,
} from "@flotilla/apimachinery/facts/config-karmada-v1alpha1.ts";
import { ResourceInterpreterWebhookConfiguration } from "./resourceinterpreterwebhookconfiguration-kind.ts";

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

export const resourceInterpreterWebhookConfigurationRules: readonly AnyAdmission[] = [
  {
    name: "ResourceInterpreterWebhookConfigurationRules",
    for: ResourceInterpreterWebhookConfiguration,
    on: ["CREATE", "UPDATE"],
    validate: ({ object }) => checkInterpreterWebhooks(object.webhooks),
  } satisfies Admission<ResourceInterpreterWebhookConfiguration>,
];

function checkInterpreterWebhooks(webhooks: readonly Read<ResourceInterpreterWebhook>[]): FieldError[] {
  const names = new Set<string>();
  return webhooks.flatMap((webhook, index) => {
    const at = `webhooks[${index}]`;
    const isRepeated = names.has(webhook.name);
    names.add(webhook.name);
    return [...checkWebhook(at, webhook), ...(isRepeated ? [field.duplicate(`${at}.name`, webhook.name)] : [])];
  });
}

function checkWebhook(at: string, read: Read<ResourceInterpreterWebhook>): FieldError[] {
  const { name, rules = [], timeoutSeconds = 1, clientConfig, interpreterContextVersions } = read;
  return [
    ...checkDomainName(`${at}.name`, name),
    ...rules.flatMap((rule, index) => checkRule(`${at}.rules[${index}]`, rule)),
    ...(timeoutSeconds < 1 || timeoutSeconds > 30
      ? [field.invalid(`${at}.timeoutSeconds`, timeoutSeconds, "the timeout value must be between 1 and 30 seconds")]
      : []),
    ...checkWebhookClient(`${at}.clientConfig`, clientConfig),
    ...checkBundle(`${at}.clientConfig.caBundle`, clientConfig.caBundle),
    ...checkContextVersions(`${at}.interpreterContextVersions`, interpreterContextVersions),
  ];
}

/** A fully qualified name such as `workloads.example.com`; a trailing dot is allowed. */
function checkDomainName(path: string, given: string): FieldError[] {
  if (given === "") return [field.required(path)];
  const name = given.replace(/\.$/, "");
  const problems = dnsSubdomainProblems(name);
  if (problems.length > 0) return [field.invalid(path, name, problems.join(","))];
  const labels = name.split(".");
  if (labels.length < 2)
    return [field.invalid(path, name, "should be a domain with at least two segments separated by dots")];
  const broken = labels.find((label) => dnsLabelProblems(label).length > 0);
  return broken === undefined ? [] : [field.invalid(path, broken, dnsLabelProblems(broken).join(","))];
}

function checkRule(at: string, { operations, apiGroups, apiVersions, kinds }: Read<RuleWithOperations>): FieldError[] {
  return [
    ...checkList(`${at}.operations`, operations, "operations"),
    ...operations.flatMap((operation, index) =>
      OPERATIONS.includes(operation) ? [] : [field.notSupported(`${at}.operations[${index}]`, operation, OPERATIONS)],
    ),
    // The core group has an empty name, so an empty text is valid only here.
    ...checkList(`${at}.apiGroups`, apiGroups, "API groups"),
    ...checkList(`${at}.apiVersions`, apiVersions, "API versions"),
    ...checkFilled(`${at}.apiVersions`, apiVersions),
    ...checkList(`${at}.kinds`, kinds, "kinds"),
    ...checkFilled(`${at}.kinds`, kinds),
  ];
}

function checkList(path: string, list: readonly string[], what: string): FieldError[] {
  if (list.length === 0) return [field.required(path)];
  return list.length > 1 && list.includes(ANY)
    ? [field.invalid(path, list, `if '*' is present, must not specify other ${what}`)]
    : [];
}

const checkFilled = (path: string, list: readonly string[]): FieldError[] =>
  list.flatMap((text, index) => (text === "" ? [field.required(`${path}[${index}]`)] : []));

/** Upstream detects a bundle without a certificate only when the webhook is called. */
function checkBundle(path: string, bundle: string | undefined): FieldError[] {
  if (!bundle || hasCertificate(Buffer.from(bundle, "base64").toString("latin1"))) return [];
  return [field.invalid(path, field.noValue, "unable to load root certificates: unable to parse bytes as PEM block")];
}

function checkContextVersions(path: string, versions: readonly string[]): FieldError[] {
  if (versions.length === 0) return [field.required(path, `must specify one of ${CONTEXT_VERSION}`)];
  const seen = new Set<string>();
  const errors: FieldError[] = [];
  for (const [index, version] of versions.entries()) {
    if (seen.has(version)) errors.push(field.invalid(`${path}[${index}]`, version, "duplicate version"));
    else errors.push(...checkText(`${path}[${index}]`, version, dns1035LabelProblems));
    seen.add(version);
  }
  return seen.has(CONTEXT_VERSION)
    ? errors
    : [...errors, field.invalid(path, versions, `must include at least one of ${CONTEXT_VERSION}`)];
}
