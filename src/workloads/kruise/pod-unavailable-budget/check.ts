/**
 * Whether a budget lets a pod be deleted, evicted or changed, and what it costs. Pure: the verdict, and the status with
 * the cost taken off it.
 */
import type { PodUnavailableBudgetStatus, PubOperation } from "../../../api/index.ts";
import { formatTime } from "../../../base/index.ts";
import type { DeepReadonly } from "../../../base/index.ts";
import { labelSelectorOf, matchesLabels } from "../../../machinery/index.ts";
import type { ReadonlyPod } from "../../kubernetes/pod.ts";
import type { FeatureGates } from "../feature-gates.ts";
import { isAvailable } from "./pod-state.ts";
import type { ReadonlyBudget } from "./pod-state.ts";

const NO_PROTECTION_ANNOTATION = "pub.kruise.io/no-protect";
/** What v1alpha1 has instead of a field; only texts that the field cannot hold are left there. */
const OPERATIONS_ANNOTATION = "kruise.io/pub-protect-operations";
/** More pods than this were granted and not gone: nobody is looking. */
const MAX_GRANTED_PODS = 2000;

type Status = DeepReadonly<PodUnavailableBudgetStatus>;

/** Whether the pod needs no budget at all, whichever it has: it does not serve, or its owner gave up protection. */
export function isUnprotected(pod: ReadonlyPod, gates: FeatureGates): boolean {
  return pod.metadata.annotations?.[NO_PROTECTION_ANNOTATION] === "true" || !isAvailable(pod, gates);
}

export type Verdict =
  /** It costs nothing. */
  | { allowed: true; status?: undefined }
  /** It costs one; this is the status after it. */
  | { allowed: true; status: Status }
  | { allowed: false; reason: string };

/** The pod is one that the budget is asked about. */
export function checkBudget(
  budget: ReadonlyBudget,
  pod: ReadonlyPod,
  operation: PubOperation,
  gates: FeatureGates,
  nowMs: number,
): Verdict {
  const { name } = pod.metadata;
  // Nobody has counted yet, and what is not counted is not protected.
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
  const noted = metadata.annotations?.[OPERATIONS_ANNOTATION];
  const operations: readonly string[] =
    spec?.protectOperations ?? (noted ? noted.split(",") : ["DELETE", "UPDATE", "EVICT"]);
  // Without in-place resizing every resize is an update.
  const isUpdate = operation === "RESIZE" && !gates.isOn("InPlacePodVerticalScaling") && operations.includes("UPDATE");
  return isUpdate || operations.includes(operation);
}

/**
 * What was taken for a pod is given back: the write that it was taken for did not happen. Undefined when nothing of it
 * is left: the budget was counted anew, or is another one of that name.
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
