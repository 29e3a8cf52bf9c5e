/** Defaults and validation of PodDisruptionBudget. */
import type { DeepReadonly } from "@flotilla/base";
import {
  builtInAdmission,
  checkConditions,
  checkIntOrPercent,
  checkNotNegative,
  checkSelector,
  field,
} from "@flotilla/apimachinery";
import type { AnyAdmission, FieldError } from "@flotilla/apimachinery";
import type { LabelSelector } from "@flotilla/apimachinery/facts/meta-v1.ts";
import { PodDisruptionBudget } from "./poddisruptionbudget-kind.ts";

type Spec = NonNullable<DeepReadonly<PodDisruptionBudget>["spec"]>;

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

export const rules: AnyAdmission[] = [
  builtInAdmission(PodDisruptionBudget, "policy-v1", {
    validate: ({ object, oldObject }) => checkSpec(object.spec ?? {}, oldObject?.spec?.selector),
    validateStatus: ({ object }) => checkStatus(object.status ?? {}),
  }),
];
