/**
 * Computes the `PodsFound` condition of a binding: whether members have the pods that its template names. None while all
 * were found. Pure.
 */
import { findCondition, withCondition } from "@flotilla/apimachinery";
import type { ResourceBinding } from "@flotilla/karmada";
import type { DeepReadonly } from "@flotilla/base";
import type { NamedPodsProblem } from "../named-pods.ts";

/** Not a Karmada condition. */
const PODS_FOUND = "PodsFound";

export function planPodsFound(
  binding: DeepReadonly<ResourceBinding>,
  problem: NamedPodsProblem | undefined,
  now: string,
): DeepReadonly<ResourceBinding> {
  const before = binding.status?.conditions ?? [];
  if (problem === undefined && !findCondition(before, PODS_FOUND)) return binding;
  const conditions = withCondition(
    before,
    problem === undefined
      ? { type: PODS_FOUND, status: "True", reason: "AllFound", message: "Members have every pod that is named." }
      : { type: PODS_FOUND, ...problem },
    now,
  );
  return conditions === before ? binding : { ...binding, status: { ...binding.status, conditions: [...conditions] } };
}
