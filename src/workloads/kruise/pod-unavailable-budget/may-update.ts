/**
 * Asks the budget of a pod before a controller updates it in place, and charges it: the controller holds the update
 * back instead of running into a refusal. The pod's own update is then known to the budget and passes.
 */
import { PodUnavailableBudget } from "../../../api/index.ts";
import type { WorkloadDependencies } from "../../dependencies.ts";
import type { ReadonlyPod } from "../../kubernetes/pod.ts";
import { DEFAULT_GATES } from "../feature-gates.ts";
import { checkBudget, isUnprotected } from "./check.ts";
import { RELATED_BUDGET_ANNOTATION } from "./pod-state.ts";
import { unlessChanged } from "../../../runtime/index.ts";

export type MayUpdatePod = (cluster: string, pod: ReadonlyPod) => Promise<boolean>;

/** Undefined when the gate is off: then budgets do not look at updates. */
export function createMayUpdatePod({
  client,
  informers,
  clock,
  gates = DEFAULT_GATES,
}: WorkloadDependencies): MayUpdatePod | undefined {
  if (!gates.isOn("PodUnavailableBudgetUpdateGate")) return undefined;
  const budgets = informers.of(PodUnavailableBudget);
  return async (cluster, pod) => {
    const name = pod.metadata.annotations?.[RELATED_BUDGET_ANNOTATION];
    if (!name || isUnprotected(pod, gates)) return true;
    const { namespace } = pod.metadata;
    const budget = budgets.get({ cluster, name, ...(namespace && { namespace }) });
    if (!budget) return true;
    const verdict = checkBudget(budget, pod, "UPDATE", gates, clock.now());
    if (!verdict.allowed || !verdict.status) return verdict.allowed;
    // Somebody else took from it meanwhile: the caller asks again soon, with what is left.
    return (
      (await unlessChanged(
        client.updateStatus(PodUnavailableBudget, cluster, { ...budget, status: verdict.status }),
      )) !== undefined
    );
  };
}
