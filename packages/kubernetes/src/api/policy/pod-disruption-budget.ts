/** PodDisruptionBudget: limits how many pods of a set may be down at once through voluntary disruptions. */
import type { DeepReadonly } from "@flotilla/base";
import { field, type FieldError } from "@flotilla/apimachinery";
import type { AnyAdmission } from "@flotilla/apimachinery";
import { ageColumn, column, nameColumn } from "@flotilla/apimachinery";
import { checkConditions } from "@flotilla/apimachinery";
import { builtInAdmission, builtInKind } from "@flotilla/apimachinery";
import type { LabelSelector } from "@flotilla/apimachinery/facts/meta-v1.ts";
import type { PodDisruptionBudget as PodDisruptionBudgetFacts } from "@flotilla/apimachinery/facts/policy-v1.ts";
import { checkIntOrPercent, checkNotNegative, checkSelector } from "@flotilla/apimachinery";
import type { Kind } from "@flotilla/apimachinery";

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
    column<PodDisruptionBudget>("Allowed Disruptions", ({ status }) => status?.disruptionsAllowed ?? 0, {
      type: "integer",
    }),
    ageColumn,
  ],
  subresources: { status: true },
  hasGeneration: true,
  traits: { plainFinalizers: true, names: "path", metadataChecks: {}, requiresVersion: true },
});

const POLICIES = ["AlwaysAllow", "IfHealthyBudget"];

/** The spec as the real server's Go type, which has no JSON names. */
function shown({ minAvailable, selector, maxUnavailable, unhealthyPodEvictionPolicy }: Spec): unknown {
  return {
    MinAvailable: minAvailable ?? null,
    Selector: selector ?? null,
    MaxUnavailable: maxUnavailable ?? null,
    UnhealthyPodEvictionPolicy: unhealthyPodEvictionPolicy ?? null,
  };
}

function checkSpec(spec: Spec, stored: DeepReadonly<LabelSelector> | undefined): FieldError[] {
  const { minAvailable, maxUnavailable, selector, unhealthyPodEvictionPolicy: policy } = spec;
  // Invalid stored values may be kept.
  const lenient = checkSelector("", stored).length > 0;
  return [
    ...(minAvailable !== undefined && maxUnavailable !== undefined
      ? [field.invalid("spec", shown(spec), "minAvailable and maxUnavailable cannot be both set")]
      : []),
    ...checkIntOrPercent("spec.minAvailable", minAvailable, 100),
    ...checkIntOrPercent("spec.maxUnavailable", maxUnavailable, 100),
    ...checkSelector("spec.selector", selector, lenient),
    ...(policy !== undefined && !POLICIES.includes(policy)
      ? [field.notSupported("spec.unhealthyPodEvictionPolicy", policy, POLICIES)]
      : []),
  ];
}

function checkStatus({
  conditions = [],
  ...counts
}: NonNullable<DeepReadonly<PodDisruptionBudget>["status"]>): FieldError[] {
  const errors = checkConditions("status.conditions", conditions);
  for (const path of ["disruptionsAllowed", "currentHealthy", "desiredHealthy", "expectedPods"] as const)
    errors.push(...checkNotNegative(`status.${path}`, counts[path]));
  return errors;
}

export const admissions: AnyAdmission[] = [
  builtInAdmission(PodDisruptionBudget, "policy-v1", {
    validate: ({ object, oldObject }) => checkSpec(object.spec ?? {}, oldObject?.spec?.selector),
    validateStatus: ({ object }) => checkStatus(object.status ?? {}),
  }),
];
