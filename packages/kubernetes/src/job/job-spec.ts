/**
 * Defaults and validation for the spec of a Job or Job template: how many pods run to completion, and how failures are
 * handled.
 */
// oxlint-disable typescript/no-useless-default-assignment -- types say what a valid object has; here anything may still be absent.
import type { DeepReadonly } from "@flotilla/base";
import {
  change,
  checkNotNegative,
  checkText,
  dnsSubdomainProblems,
  field,
  fill,
  labelKeyProblems,
} from "@flotilla/apimachinery";
import type { FieldError } from "@flotilla/apimachinery";
import { checkCounts } from "../workloads/workload-rules.ts";
import { defaultPodTemplate } from "../pod/pod-defaults.ts";
import { checkTemplate } from "../pod/pod-validation.ts";
import { templateWarnings } from "../pod/pod-warnings.ts";
import type {
  JobSpec as JobSpecFacts,
  PodFailurePolicyRule,
  SuccessPolicyRule,
} from "@flotilla/apimachinery/facts/batch-v1.ts";
import { indexProblem } from "./index-validation.ts";

type Read<T> = DeepReadonly<T>;
export type JobSpec = Read<JobSpecFacts>;

const MAX_INT32 = 2 ** 31 - 1;

/** Defaults the pod template and policies of a Job or CronJob. */
export function defaultJobTemplate(spec: JobSpec): JobSpec {
  const result = change(spec, "template", (template) => defaultPodTemplate(template));
  return change(result, "podFailurePolicy", (policy) =>
    change(policy, "rules", (rules) =>
      rules.map((rule) =>
        change(rule, "onPodConditions", (patterns) =>
          patterns.map((pattern) => (pattern.status ? pattern : { ...pattern, status: "True" })),
        ),
      ),
    ),
  );
}

export function defaultJobSpec(spec: JobSpec): JobSpec {
  const once = spec.completions === undefined && spec.parallelism === undefined;
  const filled: JobSpec = fill(spec, {
    completions: once ? 1 : undefined,
    parallelism: 1,
    backoffLimit: spec.backoffLimitPerIndex === undefined ? 6 : MAX_INT32,
    completionMode: "NonIndexed",
    suspend: false,
    podReplacementPolicy: spec.podFailurePolicy ? "Failed" : "TerminatingOrFailed",
    manualSelector: false,
  });
  return defaultJobTemplate(filled);
}

/** With more indexes the status of a Job would exceed the object size limit. */
const MAX_INDEXES = 100_000;
const MANY_COMPLETIONS = 100_000;
const MAX_WITH_MANY = 10_000;
const COUNTS = [
  "parallelism",
  "completions",
  "activeDeadlineSeconds",
  "backoffLimit",
  "ttlSecondsAfterFinished",
  "backoffLimitPerIndex",
  "maxFailedIndexes",
] as const;

/**
 * Validates everything but the selector, which a Job template does not have. `templateSettled`: the pod template passed
 * before.
 */
export function checkJobSpec(errors: FieldError[], at: string, spec: JobSpec, templateSettled: boolean): void {
  checkCounts(errors, at, spec, COUNTS);
  if (spec.maxFailedIndexes !== undefined && spec.backoffLimitPerIndex === undefined)
    errors.push(field.required(`${at}.backoffLimitPerIndex`, "when maxFailedIndexes is specified"));
  if (spec.managedBy !== undefined) checkManagedBy(errors, `${at}.managedBy`, spec.managedBy);
  checkCompletionMode(errors, at, spec);
  if (spec.podFailurePolicy) checkFailurePolicy(errors, `${at}.podFailurePolicy.rules`, spec);
  if (spec.successPolicy) checkSuccessPolicy(errors, `${at}.successPolicy`, spec);
  checkReplacement(errors, `${at}.podReplacementPolicy`, spec);
  if (!templateSettled) checkTemplate(errors, `${at}.template`, spec.template ?? {});
  checkRestartPolicy(errors, `${at}.template.spec.restartPolicy`, spec);
}

const PATH_PART = /^[A-Za-z0-9/\-._~%!$&'()*+,;=:]+$/;

function checkManagedBy(errors: FieldError[], at: string, managedBy: string): void {
  const slash = managedBy.indexOf("/");
  const [host, path] = [managedBy.slice(0, slash), managedBy.slice(slash + 1)];
  if (managedBy === "") errors.push(field.required(at));
  else if (slash <= 0 || path === "")
    errors.push(field.invalid(at, managedBy, 'must be a domain-prefixed path (such as "acme.io/foo")'));
  else {
    errors.push(...checkText(at, host, dnsSubdomainProblems));
    if (!PATH_PART.test(path))
      errors.push(
        field.invalid(at, path, "Invalid path (regex used for validation is '[A-Za-z0-9/\\-._~%!$&'()*+,;=:]+')"),
      );
  }
  if (managedBy.length > 63) errors.push(field.tooLong(at, 63));
}

function checkCompletionMode(errors: FieldError[], at: string, spec: JobSpec): void {
  const { completionMode, completions, parallelism = 0, maxFailedIndexes, backoffLimitPerIndex } = spec;
  if (completionMode !== undefined && completionMode !== "NonIndexed" && completionMode !== "Indexed")
    errors.push(field.notSupported(`${at}.completionMode`, completionMode, ["NonIndexed", "Indexed"]));
  if (completionMode === undefined || completionMode === "NonIndexed") {
    if (backoffLimitPerIndex !== undefined)
      errors.push(
        field.invalid(`${at}.backoffLimitPerIndex`, backoffLimitPerIndex, "requires indexed completion mode"),
      );
    if (maxFailedIndexes !== undefined)
      errors.push(field.invalid(`${at}.maxFailedIndexes`, maxFailedIndexes, "requires indexed completion mode"));
  }
  if (completionMode !== "Indexed") return;
  if (completions === undefined) errors.push(field.required(`${at}.completions`, "when completion mode is Indexed"));
  if (parallelism > MAX_INDEXES)
    errors.push(
      field.invalid(
        `${at}.parallelism`,
        parallelism,
        `must be less than or equal to ${MAX_INDEXES} when completion mode is Indexed`,
      ),
    );
  if (completions !== undefined && maxFailedIndexes !== undefined && maxFailedIndexes > completions)
    errors.push(field.invalid(`${at}.maxFailedIndexes`, maxFailedIndexes, "must be less than or equal to completions"));
  if (maxFailedIndexes !== undefined && maxFailedIndexes > MAX_INDEXES)
    errors.push(
      field.invalid(`${at}.maxFailedIndexes`, maxFailedIndexes, `must be less than or equal to ${MAX_INDEXES}`),
    );
  if (completions === undefined || completions <= MANY_COMPLETIONS || backoffLimitPerIndex === undefined) return;
  const limit = `must be less than or equal to ${MAX_WITH_MANY} when completions are above ${MANY_COMPLETIONS} and used with backoff limit per index`;
  if (maxFailedIndexes === undefined)
    errors.push(
      field.required(`${at}.maxFailedIndexes`, `must be specified when completions is above ${MANY_COMPLETIONS}`),
    );
  if (parallelism > MAX_WITH_MANY) errors.push(field.invalid(`${at}.parallelism`, parallelism, limit));
  if (maxFailedIndexes !== undefined && maxFailedIndexes > MAX_WITH_MANY)
    errors.push(field.invalid(`${at}.maxFailedIndexes`, maxFailedIndexes, limit));
}

const MAX_RULES = 20;
const MAX_EXIT_CODES = 255;
const ACTIONS = ["Count", "FailIndex", "FailJob", "Ignore"];
const OPERATORS = ["In", "NotIn"];
const STATUSES = ["False", "True", "Unknown"];
const quoted = (values: readonly string[]): string =>
  `valid values: [${values.map((value) => JSON.stringify(value)).join(" ")}]`;

function checkFailurePolicy(errors: FieldError[], at: string, spec: JobSpec): void {
  const rules = spec.podFailurePolicy?.rules ?? [];
  if (rules.length > MAX_RULES) errors.push(field.tooMany(at, rules.length, MAX_RULES));
  const { containers = [], initContainers = [] } = spec.template?.spec ?? {};
  const names = new Set([...containers, ...initContainers].map(({ name = "" }) => name));
  for (const [index, rule] of rules.entries())
    checkFailureRule(errors, `${at}[${index}]`, rule, spec.backoffLimitPerIndex !== undefined, names);
}

function checkFailureRule(
  errors: FieldError[],
  at: string,
  { action, onExitCodes, onPodConditions = [] }: Read<PodFailurePolicyRule>,
  perIndex: boolean,
  containers: ReadonlySet<string>,
): void {
  if (!action) errors.push(field.required(`${at}.action`, quoted(ACTIONS)));
  else if (action === "FailIndex") {
    if (!perIndex) errors.push(field.invalid(`${at}.action`, action, "requires the backoffLimitPerIndex to be set"));
  } else if (!ACTIONS.includes(action)) errors.push(field.notSupported(`${at}.action`, action, ACTIONS));
  if (onExitCodes) checkExitCodes(errors, `${at}.onExitCodes`, onExitCodes, containers);
  if (onPodConditions.length > MAX_RULES)
    errors.push(field.tooMany(`${at}.onPodConditions`, onPodConditions.length, MAX_RULES));
  for (const [index, { type = "", status }] of onPodConditions.entries()) {
    const path = `${at}.onPodConditions[${index}]`;
    errors.push(...checkText(`${path}.type`, type, labelKeyProblems));
    if (!status) errors.push(field.required(`${path}.status`, quoted(STATUSES)));
    else if (!STATUSES.includes(status)) errors.push(field.notSupported(`${path}.status`, status, STATUSES));
  }
  if (onExitCodes && onPodConditions.length > 0)
    errors.push(field.invalid(at, field.noValue, "specifying both OnExitCodes and OnPodConditions is not supported"));
  if (!onExitCodes && onPodConditions.length === 0)
    errors.push(field.invalid(at, field.noValue, "specifying one of OnExitCodes and OnPodConditions is required"));
}

function checkExitCodes(
  errors: FieldError[],
  at: string,
  { operator, containerName, values = [] }: NonNullable<Read<PodFailurePolicyRule>["onExitCodes"]>,
  containers: ReadonlySet<string>,
): void {
  if (!operator) errors.push(field.required(`${at}.operator`, quoted(OPERATORS)));
  else if (!OPERATORS.includes(operator)) errors.push(field.notSupported(`${at}.operator`, operator, OPERATORS));
  if (containerName !== undefined && !containers.has(containerName))
    errors.push(
      field.invalid(
        `${at}.containerName`,
        containerName,
        "must be one of the container or initContainer names in the pod template",
      ),
    );
  const path = `${at}.values`;
  if (values.length === 0) errors.push(field.invalid(path, null, "at least one value is required"));
  else if (values.length > MAX_EXIT_CODES) errors.push(field.tooMany(path, values.length, MAX_EXIT_CODES));
  const seen = new Set<number>();
  for (const [index, value] of values.entries()) {
    if (operator === "In" && value === 0)
      errors.push(field.invalid(`${path}[${index}]`, value, "must not be 0 for the In operator"));
    if (seen.has(value)) errors.push(field.duplicate(`${path}[${index}]`, value));
    seen.add(value);
  }
  if (values.some((value, index) => (values[index - 1] ?? value) > value))
    errors.push(field.invalid(path, values, "must be ordered"));
}

const MAX_INDEX_TEXT = 64 * 1024;

function checkSuccessPolicy(errors: FieldError[], at: string, spec: JobSpec): void {
  if (spec.completionMode !== "Indexed")
    return void errors.push(field.invalid(at, spec.successPolicy, "requires indexed completion mode"));
  const rules = spec.successPolicy?.rules ?? [];
  if (rules.length === 0)
    errors.push(
      field.required(`${at}.rules`, "at least one rules must be specified when the successPolicy is specified"),
    );
  if (rules.length > MAX_RULES) errors.push(field.tooMany(`${at}.rules`, rules.length, MAX_RULES));
  for (const [index, rule] of rules.entries())
    checkSuccessRule(errors, `${at}.rules[${index}]`, rule, spec.completions ?? 0);
}

function checkSuccessRule(
  errors: FieldError[],
  at: string,
  { succeededCount, succeededIndexes }: Read<SuccessPolicyRule>,
  completions: number,
): void {
  if (succeededCount === undefined && succeededIndexes === undefined)
    errors.push(field.required(at, "at least one of succeededCount or succeededIndexes must be specified"));
  let total = 0;
  if (succeededIndexes !== undefined) {
    if (Buffer.byteLength(succeededIndexes) > MAX_INDEX_TEXT)
      errors.push(field.tooLong(`${at}.succeededIndexes`, MAX_INDEX_TEXT));
    const parsed = indexProblem(succeededIndexes, completions);
    if (typeof parsed === "string")
      errors.push(
        field.invalid(`${at}.succeededIndexes`, succeededIndexes, `error parsing succeededIndexes: ${parsed}`),
      );
    else total = parsed;
  }
  if (succeededCount === undefined) return;
  const path = `${at}.succeededCount`;
  errors.push(...checkNotNegative(path, succeededCount));
  if (succeededCount > completions)
    errors.push(
      field.invalid(
        path,
        succeededCount,
        `must be less than or equal to ${completions} (the number of specified completions)`,
      ),
    );
  if (succeededIndexes !== undefined && succeededCount > total)
    errors.push(
      field.invalid(
        path,
        succeededCount,
        `must be less than or equal to ${total} (the number of indexes in the specified succeededIndexes field)`,
      ),
    );
}

function checkReplacement(errors: FieldError[], at: string, { podReplacementPolicy, podFailurePolicy }: JobSpec): void {
  if (podReplacementPolicy === undefined) return;
  const supported = podFailurePolicy ? ["Failed"] : ["Failed", "TerminatingOrFailed"];
  if (!supported.includes(podReplacementPolicy)) errors.push(field.notSupported(at, podReplacementPolicy, supported));
}

/**
 * Job pods terminate, so restartPolicy Always is not allowed. Always is the default of templates, so it counts as
 * unset.
 */
function checkRestartPolicy(errors: FieldError[], at: string, { template, podFailurePolicy }: JobSpec): void {
  const policy = template?.spec?.restartPolicy;
  if (!policy || policy === "Always") errors.push(field.required(at, 'valid values: "OnFailure", "Never"'));
  else if (policy !== "OnFailure" && policy !== "Never")
    errors.push(field.notSupported(at, policy, ["OnFailure", "Never"]));
  else if (podFailurePolicy && policy !== "Never")
    errors.push(field.invalid(at, policy, 'only "Never" is supported when podFailurePolicy is specified'));
}

const MANY_AT_ONCE = 10_000;

export function jobSpecWarnings(at: string, spec: JobSpec): string[] {
  const { completionMode, completions = 0, parallelism = 0 } = spec;
  const warnings: string[] = [];
  if (completionMode === "Indexed" && completions > MANY_COMPLETIONS && parallelism > MANY_AT_ONCE) {
    warnings.push(
      `${at}: In Indexed Jobs with a number of completions higher than 10^5 and a parallelism higher than ` +
        "10^4, Kubernetes might not be able to track completedIndexes when a big number of indexes fail",
    );
  }
  return [...warnings, ...templateWarnings(`${at}.template`, spec.template ?? {})];
}
