/** Defaults and validation of webhooks, which both kinds of webhook configurations share. */
import { equalJson, type DeepReadonly } from "@flotilla/base";
import {
  change,
  changeItems,
  checkSelector,
  checkText,
  checkWebhookClient,
  dns1035LabelProblems,
  dnsSubdomainProblems,
  field,
  fill,
} from "@flotilla/apimachinery";
import type { FieldError, Sent } from "@flotilla/apimachinery";
import type { MutatingWebhook, ValidatingWebhook } from "@flotilla/apimachinery/facts/admissionregistration-v1.ts";
import { checkMatchConditions } from "./match-conditions.ts";
import {
  checkMatchRule,
  checkOneOf,
  completeRules,
  FAILURE_POLICIES,
  MATCH_POLICIES,
  REINVOCATION_POLICIES,
} from "./match-rules.ts";

type Read<T> = DeepReadonly<T>;

/** What both kinds of webhooks have. */
type Webhook = ValidatingWebhook & Pick<MutatingWebhook, "reinvocationPolicy">;

const MAX_TIMEOUT_SECONDS = 30;
const REVIEW_VERSIONS = ["v1", "v1beta1"];
const SIDE_EFFECTS = ["None", "NoneOnDryRun", "Some", "Unknown"];
const NO_SIDE_EFFECTS = ["None", "NoneOnDryRun"];

const DEFAULTS: Partial<Webhook> = {
  failurePolicy: "Fail",
  matchPolicy: "Equivalent",
  namespaceSelector: {},
  objectSelector: {},
  timeoutSeconds: 10,
};

export function completeWebhooks(
  webhooks: readonly Read<Webhook>[],
  defaults: Partial<Webhook> = DEFAULTS,
): readonly Read<Webhook>[] {
  return changeItems<Webhook>(webhooks, (webhook) => {
    const filled = change(fill(webhook, defaults), "clientConfig", (client) =>
      change(client, "service", (service) => fill(service, { port: 443 })),
    );
    return change(filled, "rules", (rules) => completeRules(rules));
  });
}

export const completeMutatingWebhooks = (webhooks: readonly Read<Webhook>[]): readonly Read<Webhook>[] =>
  completeWebhooks(webhooks, { ...DEFAULTS, reinvocationPolicy: "Never" });

/** What an update does not have to satisfy, because the stored object does not either. */
interface Leniency {
  readonly sideEffects?: boolean;
  readonly versions?: boolean;
  readonly names?: boolean;
  readonly selectors?: boolean;
  /** Conditions that an update leaves unchanged are not compiled again. */
  readonly conditions?: boolean;
}

export function checkWebhooks(
  webhooks: readonly Sent<Webhook>[] = [],
  stored?: readonly Sent<Webhook>[],
): FieldError[] {
  const lenient = stored ? leniencyFor(webhooks, stored) : {};
  const names = new Set<string>();
  return webhooks.flatMap((webhook, index) => {
    const at = `webhooks[${index}]`;
    const { name = "", admissionReviewVersions = [] } = webhook;
    const isRepeated = !lenient.names && name !== "" && names.has(name);
    names.add(name);
    return [
      ...checkWebhook(at, webhook, lenient),
      ...checkReviewVersions(`${at}.admissionReviewVersions`, admissionReviewVersions, lenient),
      ...(isRepeated ? [field.duplicate(`${at}.name`, name)] : []),
    ];
  });
}

function leniencyFor(webhooks: readonly Sent<Webhook>[], stored: readonly Sent<Webhook>[]): Leniency {
  return {
    sideEffects: stored.some(({ sideEffects = "" }) => !NO_SIDE_EFFECTS.includes(sideEffects)),
    versions: stored.some(
      ({ admissionReviewVersions: versions = [] }) => versions.length > 0 && !versions.some(isKnownVersion),
    ),
    names: new Set(stored.map(({ name }) => name)).size < stored.length,
    selectors: stored.some(
      ({ namespaceSelector, objectSelector }) =>
        checkWebhookSelector("", namespaceSelector).length > 0 || checkWebhookSelector("", objectSelector).length > 0,
    ),
    conditions:
      webhooks.length === stored.length &&
      webhooks.every(({ matchConditions = [] }, index) =>
        equalJson(matchConditions, stored[index]?.matchConditions ?? []),
      ),
  };
}

const isKnownVersion = (version: string): boolean => REVIEW_VERSIONS.includes(version);

const checkWebhookSelector = (
  path: string,
  selector: Sent<Webhook["namespaceSelector"]>,
  lenient = false,
): FieldError[] => checkSelector(path, selector as Read<Webhook>["namespaceSelector"], lenient);

function checkWebhook(at: string, webhook: Sent<Webhook>, lenient: Leniency): FieldError[] {
  const { name = "", rules = [], timeoutSeconds = 10, sideEffects, matchConditions = [] } = webhook;
  const allowed = lenient.sideEffects ? SIDE_EFFECTS : NO_SIDE_EFFECTS;
  return [
    ...checkWebhookName(`${at}.name`, name),
    ...rules.flatMap((rule, index) => checkMatchRule(`${at}.rules[${index}]`, rule)),
    ...checkOneOf(`${at}.failurePolicy`, webhook.failurePolicy, FAILURE_POLICIES),
    ...checkOneOf(`${at}.matchPolicy`, webhook.matchPolicy, MATCH_POLICIES),
    ...(sideEffects === undefined
      ? [field.required(`${at}.sideEffects`, `must specify one of ${allowed.join(", ")}`)]
      : checkOneOf(`${at}.sideEffects`, sideEffects, allowed)),
    ...(timeoutSeconds < 1 || timeoutSeconds > MAX_TIMEOUT_SECONDS
      ? [
          field.invalid(
            `${at}.timeoutSeconds`,
            timeoutSeconds,
            `the timeout value must be between 1 and ${MAX_TIMEOUT_SECONDS} seconds`,
          ),
        ]
      : []),
    ...checkWebhookSelector(`${at}.namespaceSelector`, webhook.namespaceSelector, lenient.selectors),
    ...checkWebhookSelector(`${at}.objectSelector`, webhook.objectSelector, lenient.selectors),
    ...checkOneOf(`${at}.reinvocationPolicy`, webhook.reinvocationPolicy, REINVOCATION_POLICIES),
    ...checkWebhookClient(`${at}.clientConfig`, (webhook.clientConfig ?? {}) as Read<Webhook>["clientConfig"]),
    ...(lenient.conditions ? [] : checkMatchConditions(`${at}.matchConditions`, matchConditions)),
  ];
}

/** A domain such as `pods.example.com`. */
function checkWebhookName(path: string, name: string): FieldError[] {
  if (name === "") return [field.required(path)];
  const problems = dnsSubdomainProblems(name);
  if (problems.length > 0) return [field.invalid(path, name, problems.join(","))];
  return name.split(".").length < 3
    ? [field.invalid(path, name, "should be a domain with at least three segments separated by dots")]
    : [];
}

function checkReviewVersions(path: string, versions: readonly string[], lenient: Leniency): FieldError[] {
  const known = REVIEW_VERSIONS.join(", ");
  if (versions.length === 0) return [field.required(path, `must specify one of ${known}`)];
  const seen = new Set<string>();
  const errors: FieldError[] = [];
  for (const [index, version] of versions.entries()) {
    if (seen.has(version)) errors.push(field.invalid(`${path}[${index}]`, version, "duplicate version"));
    else errors.push(...checkText(`${path}[${index}]`, version, dns1035LabelProblems));
    seen.add(version);
  }
  if (!lenient.versions && !versions.some(isKnownVersion))
    errors.push(field.invalid(path, versions, `must include at least one of ${known}`));
  return errors;
}
