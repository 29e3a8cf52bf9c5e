/** Validation and warnings of ClusterTaintPolicy, as in Karmada's webhook. */
import type { DeepReadonly } from "@flotilla/base";
import { field } from "@flotilla/apimachinery";
import type { AnyAdmission, FieldError } from "@flotilla/apimachinery";
import type { Taint } from "@flotilla/apimachinery/facts/policy-karmada-v1alpha1.ts";
import { affinityWarnings, checkClusterAffinity } from "../selection/cluster-affinity-rules.ts";
import { karmadaAdmission } from "../webhook/webhook.ts";
import { ClusterTaintPolicy } from "./clustertaintpolicy-kind.ts";

/**
 * Taints that evict workloads need permission from administrators: Karmada's webhook has a flag for it, off by default.
 */
export interface ClusterTaintPolicyOptions {
  allowNoExecute?: boolean;
}

export function clusterTaintPolicyRules({ allowNoExecute = false }: ClusterTaintPolicyOptions = {}): AnyAdmission[] {
  return [
    karmadaAdmission(ClusterTaintPolicy, {
      name: "clustertaintpolicy.karmada.io",
      check: ({ object }) => checkTaints("spec.taints", object.spec.taints, allowNoExecute),
      warnings: ({ object }) => taintPolicyWarnings(object),
    }),
  ];
}

/** Of two equal taints, the earlier one is reported. */
function checkTaints(at: string, taints: readonly DeepReadonly<Taint>[], allowNoExecute: boolean): FieldError[] {
  const left = new Map<string, number>();
  for (const taint of taints) left.set(idOf(taint), (left.get(idOf(taint)) ?? 0) + 1);
  return taints.flatMap((taint, index) => {
    const { key, effect } = taint;
    const path = `${at}[${index}]`;
    const errors: FieldError[] = [];
    if (!allowNoExecute && effect === "NoExecute") {
      errors.push(
        field.forbidden(
          path,
          "Configuring taint with NoExecute effect is not allowed, this capability must be explicitly enabled by administrators through command-line flags",
        ),
      );
    }
    const others = (left.get(idOf(taint)) ?? 1) - 1;
    left.set(idOf(taint), others);
    if (others > 0)
      errors.push(
        field.duplicate(path, `Duplicate taint with the same key(${key}) and effect(${effect}) is not allowed`),
      );
    return errors;
  });
}

const idOf = ({ key, effect }: DeepReadonly<Taint>): string => JSON.stringify([key, effect]);

const OPERATORS = ["In", "NotIn"];
const STATUSES = ["True", "False", "Unknown"];
const EFFECTS = ["NoSchedule", "NoExecute"];

/** Karmada accepts unknown values and never acts on them. */
function taintPolicyWarnings({ spec }: DeepReadonly<ClusterTaintPolicy>): string[] {
  const { targetClusters, taints } = spec;
  const conditions = (["addOnConditions", "removeOnConditions"] as const).flatMap((list) =>
    (spec[list] ?? []).flatMap(({ operator, statusValues }, index) => {
      const at = `spec.${list}[${index}]`;
      return [
        ...(OPERATORS.includes(operator)
          ? []
          : [`${at}.operator: ${operator} is not one of ${OPERATORS.join(", ")}; the condition is never met`]),
        ...statusValues
          .filter((value) => !STATUSES.includes(value))
          .map((value) => `${at}.statusValues: ${value} is not one of ${STATUSES.join(", ")}`),
      ];
    }),
  );
  return [
    ...checkClusterAffinity("spec.targetClusters", targetClusters).map(
      ({ field, message }) => `${field}: ${message}; no cluster matches`,
    ),
    ...affinityWarnings("spec.targetClusters", targetClusters),
    ...conditions,
    ...taints.flatMap(({ effect }, index) =>
      EFFECTS.includes(effect)
        ? []
        : [`spec.taints[${index}].effect: ${effect} is not one of ${EFFECTS.join(", ")}; a Cluster rejects it`],
    ),
  ];
}
