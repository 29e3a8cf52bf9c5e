/** PodDisruptionBudget: how many pods of a set may be away at once because somebody chose so. */
import type { DeepReadonly } from "../../base/index.ts";
import { labelKeyProblems, type FieldError } from "../../machinery/index.ts";
import type { AnyAdmission } from "../admission.ts";
import { ageColumn, column, nameColumn } from "../columns.ts";
import { builtInAdmission, builtInKind } from "../define.ts";
import type { Condition, LabelSelector } from "../facts/meta-v1.ts";
import type { PodDisruptionBudget as PodDisruptionBudgetFacts } from "../facts/policy-v1.ts";
import { checkIntOrPercent, checkNotNegative, checkSelector, checkText, missing, notOneOf, tooLong, twice, wrong } from "../field-errors.ts";
import type { Kind } from "../kind.ts";

export type PodDisruptionBudget = PodDisruptionBudgetFacts;
type Spec = NonNullable<DeepReadonly<PodDisruptionBudget>["spec"]>;

export const PodDisruptionBudget: Kind<PodDisruptionBudget> = builtInKind<PodDisruptionBudget>({
  group: "policy",
  version: "v1",
  kind: "PodDisruptionBudget",
  plural: "poddisruptionbudgets",
  shortNames: ["pdb"],
  scope: "Namespaced",
  facts: "policy-v1",
  columns: [
    nameColumn,
    column<PodDisruptionBudget>("Min Available", ({ spec }) => String(spec?.minAvailable ?? "N/A")),
    column<PodDisruptionBudget>("Max Unavailable", ({ spec }) => String(spec?.maxUnavailable ?? "N/A")),
    column<PodDisruptionBudget>("Allowed Disruptions", ({ status }) => status?.disruptionsAllowed ?? 0, { type: "integer" }),
    ageColumn,
  ],
  subresources: { status: true },
  hasGeneration: true,
  traits: { plainFinalizers: true, names: "path", metadataChecks: {}, requiresVersion: true },
});

const POLICIES = ["AlwaysAllow", "IfHealthyBudget"];

/** The spec as the real server's own type, which has no JSON names. */
function shown({ minAvailable, selector, maxUnavailable, unhealthyPodEvictionPolicy }: Spec): unknown {
  return { MinAvailable: minAvailable ?? null, Selector: selector ?? null, MaxUnavailable: maxUnavailable ?? null, UnhealthyPodEvictionPolicy: unhealthyPodEvictionPolicy ?? null };
}

function checkSpec(spec: Spec, stored: DeepReadonly<LabelSelector> | undefined): FieldError[] {
  const { minAvailable, maxUnavailable, selector, unhealthyPodEvictionPolicy: policy } = spec;
  // What was stored with bad values may be kept.
  const lenient = checkSelector("", stored).length > 0;
  return [
    ...(minAvailable !== undefined && maxUnavailable !== undefined ? [wrong("spec", shown(spec), "minAvailable and maxUnavailable cannot be both set")] : []),
    ...checkIntOrPercent("spec.minAvailable", minAvailable, 100),
    ...checkIntOrPercent("spec.maxUnavailable", maxUnavailable, 100),
    ...checkSelector("spec.selector", selector, lenient),
    ...(policy !== undefined && !POLICIES.includes(policy) ? [notOneOf("spec.unhealthyPodEvictionPolicy", policy, POLICIES)] : []),
  ];
}

const MAX_REASON = 1024;
const MAX_MESSAGE = 32 * 1024;
const REASON = /^[A-Za-z](?:[A-Za-z0-9_,:]*[A-Za-z0-9_])?$/;
const REASON_RULE =
  "a condition reason must start with alphabetic character, optionally followed by a string of alphanumeric characters or '_,:', and must end with an alphanumeric character or '_' (e.g. 'my_name',  or 'MY_NAME',  or 'MyName',  or 'ReasonA,ReasonB',  or 'ReasonA:ReasonB', regex used for validation is '[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?')";

function checkCondition(at: string, condition: DeepReadonly<Partial<Condition>>): FieldError[] {
  const { type = "", observedGeneration = 0, lastTransitionTime, reason = "", message = "" } = condition;
  const status: string = condition.status ?? "";
  const statuses = ["False", "True", "Unknown"];
  return [
    ...checkText(`${at}.type`, type, labelKeyProblems),
    ...(statuses.includes(status) ? [] : [notOneOf(`${at}.status`, status, statuses)]),
    ...(observedGeneration < 0 ? [wrong(`${at}.observedGeneration`, observedGeneration, "must be greater than or equal to zero")] : []),
    ...(lastTransitionTime ? [] : [missing(`${at}.lastTransitionTime`)]),
    ...(reason === "" ? [missing(`${at}.reason`)] : REASON.test(reason) ? [] : [wrong(`${at}.reason`, reason, REASON_RULE)]),
    ...(Buffer.byteLength(reason) > MAX_REASON ? [tooLong(`${at}.reason`, MAX_REASON)] : []),
    ...(Buffer.byteLength(message) > MAX_MESSAGE ? [tooLong(`${at}.message`, MAX_MESSAGE)] : []),
  ];
}

function checkStatus({ conditions = [], ...counts }: NonNullable<DeepReadonly<PodDisruptionBudget>["status"]>): FieldError[] {
  const seen = new Set<string>();
  const errors = conditions.flatMap((condition, index) => {
    const again = seen.has(condition.type);
    seen.add(condition.type);
    return [...(again ? [twice(`status.conditions[${index}].type`, condition.type)] : []), ...checkCondition(`status.conditions[${index}]`, condition)];
  });
  for (const field of ["disruptionsAllowed", "currentHealthy", "desiredHealthy", "expectedPods"] as const) errors.push(...checkNotNegative(`status.${field}`, counts[field]));
  return errors;
}

export const admissions: AnyAdmission[] = [
  builtInAdmission(PodDisruptionBudget, "policy-v1", {
    validate: ({ object, oldObject }) => checkSpec(object.spec ?? {}, oldObject?.spec?.selector),
    validateStatus: ({ object }) => checkStatus(object.status ?? {}),
  }),
];
