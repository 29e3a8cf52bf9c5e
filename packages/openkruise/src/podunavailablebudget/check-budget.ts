/**
 * Whether a budget allows the deletion, eviction or update of a pod, and the cost. Pure: returns the verdict, and the
 * charged status.
 */
import { PROTECT_OPERATIONS_ANNOTATION } from "./podunavailablebudget-versions.ts";
import type { PodUnavailableBudgetStatus } from "@flotilla/apimachinery/facts/policy-kruise-v1alpha1.ts";
import type { PubOperation } from "./podunavailablebudget-types.ts";
import { formatTime } from "@flotilla/base";
import type { DeepReadonly } from "@flotilla/base";
import { labelSelectorOf, matchesLabels } from "@flotilla/apimachinery";
import type { ReadonlyPod } from "@flotilla/kubernetes";
import { isAvailable } from "./budget-pod-state.ts";
import type { ReadonlyBudget } from "./budget-pod-state.ts";
import type { FeatureGates } from "../api/feature-gates.ts";

const NO_PROTECTION_ANNOTATION = "pub.kruise.io/no-protect";
/** A larger number of granted and still existing pods means that the controller does not run. */
const MAX_GRANTED_PODS = 2000;

type Status = DeepReadonly<PodUnavailableBudgetStatus>;

/** Whether the pod is exempt from every budget: it is unavailable, or its owner disabled protection. */
export function isUnprotected(pod: ReadonlyPod, gates: FeatureGates): boolean {
  return pod.metadata.annotations?.[NO_PROTECTION_ANNOTATION] === "true" || !isAvailable(pod, gates);
}

export type Verdict =
  /** Costs nothing. */
  | { allowed: true; status?: undefined }
  /** Costs one; this is the resulting status. */
  | { allowed: true; status: Status }
  | { allowed: false; reason: string };

/** The pod must belong to the budget. */
export function checkBudget(
  budget: ReadonlyBudget,
  pod: ReadonlyPod,
  operation: PubOperation,
  gates: FeatureGates,
  nowMs: number,
): Verdict {
  const { name } = pod.metadata;
  // Before the first count nothing is protected.
  const status = budget.status ?? { unavailableAllowed: 0, currentAvailable: 0, desiredAvailable: 0, totalReplicas: 0 };
  const { disruptedPods = {}, unavailablePods = {}, unavailableAllowed, desiredAvailable } = status;
  const { ignoredPodSelector } = budget.spec ?? {};
  if (desiredAvailable === 0 || !protects(budget, operation, gates)) return { allowed: true };
  if (ignoredPodSelector && matchesLabels(labelSelectorOf(ignoredPodSelector), pod.metadata.labels))
    return { allowed: true };
  if (Object.hasOwn(disruptedPods, name) || Object.hasOwn(unavailablePods, name)) return { allowed: true };
  const refused = (why: string): Verdict => ({
    allowed: false,
    reason: `podunavailablebudget.policy.kruise.io ${JSON.stringify(budget.metadata.name)} is forbidden: ${why}`,
  });
  if (unavailableAllowed <= 0) return refused("pub unavailable allowed is negative");
  if (Object.keys(disruptedPods).length + Object.keys(unavailablePods).length > MAX_GRANTED_PODS)
    return refused(
      "DisruptedPods and UnavailablePods map too big - too many unavailable not confirmed by PUB controller",
    );
  const granted = { [name]: formatTime(nowMs) };
  const records =
    operation === "UPDATE"
      ? { unavailablePods: { ...unavailablePods, ...granted } }
      : { disruptedPods: { ...disruptedPods, ...granted } };
  return { allowed: true, status: { ...status, ...records, unavailableAllowed: unavailableAllowed - 1 } };
}

function protects({ metadata, spec }: ReadonlyBudget, operation: PubOperation, gates: FeatureGates): boolean {
  const noted = metadata.annotations?.[PROTECT_OPERATIONS_ANNOTATION];
  const operations: readonly string[] =
    spec?.protectOperations ?? (noted ? noted.split(",") : ["DELETE", "UPDATE", "EVICT"]);
  // Without in-place resizing every resize is an update.
  const isUpdate = operation === "RESIZE" && !gates.isOn("InPlacePodVerticalScaling") && operations.includes("UPDATE");
  return isUpdate || operations.includes(operation);
}

/**
 * Refunds the charge for a pod whose write did not happen. Undefined if nothing is left of it: the budget was
 * recounted, or is another one of that name.
 */
export function withoutGrant(status: Status | undefined, pod: string): Status | undefined {
  const { disruptedPods = {}, unavailablePods = {} } = status ?? {};
  if (!status || (!Object.hasOwn(disruptedPods, pod) && !Object.hasOwn(unavailablePods, pod))) return undefined;
  const without = (map: Readonly<Record<string, string>>): Record<string, string> =>
    Object.fromEntries(Object.entries(map).filter(([name]) => name !== pod));
  return {
    ...status,
    disruptedPods: without(disruptedPods),
    unavailablePods: without(unavailablePods),
    unavailableAllowed: status.unavailableAllowed + 1,
  };
}
