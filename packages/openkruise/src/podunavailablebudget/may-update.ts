/**
 * Checks and charges the budget of a pod before a controller updates it in place: the controller delays the update
 * instead of running into a rejection. The budget then knows the pod's update and allows it.
 */
import { PodUnavailableBudget } from "./podunavailablebudget-kind.ts";
import type { KruiseDependencies } from "../api/kruise-definition.ts";
import { checkBudget, isUnprotected } from "./check-budget.ts";
import { RELATED_BUDGET_ANNOTATION } from "./budget-pod-state.ts";
import { unlessChanged } from "@flotilla/controller-runtime";
import { DEFAULT_GATES } from "../api/feature-gates.ts";

/** Undefined if the gate is off: then budgets ignore updates. */
export function createMayUpdatePod({
  client,
  informers,
  clock,
  gates = DEFAULT_GATES,
}: KruiseDependencies): KruiseDependencies["mayUpdatePod"] {
  if (!gates.isOn("PodUnavailableBudgetUpdateGate")) return undefined;
  const budgets = informers.of(PodUnavailableBudget);
  return async (cluster, pod) => {
    const name = pod.metadata.annotations?.[RELATED_BUDGET_ANNOTATION];
    if (!name || isUnprotected(pod, gates)) return true;
    const { namespace } = pod.metadata;
    const budget = budgets.get({ cluster, name, namespace: namespace || undefined });
    if (!budget) return true;
    const verdict = checkBudget(budget, pod, "UPDATE", gates, clock.now());
    if (!verdict.allowed || !verdict.status) return verdict.allowed;
    // Another client charged it in the meantime: the caller retries soon with the remaining budget.
    return (
      (await unlessChanged(
        client.updateStatus(PodUnavailableBudget, cluster, { ...budget, status: verdict.status }),
      )) !== undefined
    );
  };
}
