/**
 * PodUnavailableBudget: maintains the number of pods that may still become unavailable.
 *
 * Reads: PodUnavailableBudget, its pods, the workloads that they belong to.
 * Writes: PodUnavailableBudget status; Pod, once: the annotation with its budget, if the pod is older than the budget.
 * The admission beside this file decrements `unavailableAllowed`; this controller restores it when pods are available
 * again.
 */
import { createStatusDelay, Pod, STATUS_DELAY_MS, writeAll } from "@flotilla/kubernetes";
import type { ReadonlyPod } from "@flotilla/kubernetes";
import { PodUnavailableBudget } from "./podunavailablebudget-kind.ts";
import type { Kind } from "@flotilla/apimachinery";
import { TerminalError, equalJson, messageOf } from "@flotilla/base";
import type { ObjectKey } from "@flotilla/client";
import { defineController, done, idOfKey, keyOf, unlessChanged, watch } from "@flotilla/controller-runtime";
import type { Controller } from "@flotilla/controller-runtime";
import { budgetsOfPod, budgetsOfScaled } from "./budget-watches.ts";
import type { Replicated } from "./budget-watches.ts";
import { RELATED_BUDGET_ANNOTATION } from "./budget-pod-state.ts";
import type { ReadonlyBudget } from "./budget-pod-state.ts";
import { readScope } from "./read-scope.ts";
import type { Scope } from "./budget-scope.ts";
import { planBudgetStatus } from "./podunavailablebudget-status.ts";
import { SCALED_KINDS, createWorkloads } from "./workloads.ts";
import { DEFAULT_GATES } from "../api/feature-gates.ts";
import type { KruiseDependencies } from "../api/kruise-definition.ts";

export function createBudgetController(deps: KruiseDependencies): Controller<ObjectKey> {
  const { client, informers, clock, gates = DEFAULT_GATES } = deps;
  const pods = informers.of(Pod);
  const budgets = informers.of(PodUnavailableBudget);
  const workloads = createWorkloads(deps);
  const delay = createStatusDelay(clock, deps.statusDelayMs ?? STATUS_DELAY_MS);
  const events = deps.events?.("podunavailablebudget-controller");

  return defineController({
    name: "podunavailablebudget",
    for: PodUnavailableBudget,
    watches: [
      watch(Pod, (event) => budgetsOfPod(event, gates)),
      ...SCALED_KINDS.map((kind) => kind as unknown as Kind<Replicated>).map((kind) =>
        watch(kind, (event) => budgetsOfScaled(kind, event, budgets)),
      ),
    ],
    writes: [PodUnavailableBudget, Pod],

    async reconcile(budget, { key, signal }) {
      if (budget.metadata.deletionTimestamp) return done;
      // A budget before its first count allows nothing, so it is counted without delay.
      const isCounted = budget.status?.observedGeneration === budget.metadata.generation;
      const left = isCounted ? delay.leftMs(idOfKey(key)) : 0;
      if (left > 0) return { requeueAfterMs: left };
      const scope = await readScope({ pods, workloads }, budget, key, signal);
      if (scope.pods.length === 0)
        events?.record(key.cluster, budget, { type: "Normal", reason: "NoPods", message: "No matching pods found" });
      await nameBudget(budget, scope.pods, key.cluster, signal);
      const { status, notDeleted, againInMs } = planStatus(budget, scope, key);
      const again = againInMs === undefined ? done : { requeueAfterMs: againInMs };
      if (equalJson(status, withoutEmptyMaps(budget.status))) {
        delay.settled(idOfKey(key));
        return again;
      }
      const leftMs = isCounted ? delay.waitMs(idOfKey(key)) : 0;
      if (leftMs > 0) return { requeueAfterMs: leftMs };
      for (const pod of notDeleted)
        events?.record(key.cluster, pod, {
          type: "Warning",
          reason: "NotDeleted",
          message: `Pod was expected by PUB ${key.namespace}/${key.name} to be deleted but it wasn't`,
        });
      await unlessChanged(client.updateStatus(PodUnavailableBudget, key.cluster, { ...budget, status }, { signal }));
      delay.settled(idOfKey(key));
      return again;
    },
    forget: (key) => delay.settled(idOfKey(key)),
  });

  function planStatus(
    budget: ReadonlyBudget,
    scope: Scope,
    { cluster }: ObjectKey,
  ): ReturnType<typeof planBudgetStatus> {
    try {
      return planBudgetStatus({ budget, ...scope, gates, nowMs: clock.now() });
    } catch (error) {
      if (error instanceof TerminalError)
        events?.record(cluster, budget, {
          type: "Warning",
          reason: "CalculateExpectedPodCountFailed",
          message: `Failed to calculate the number of expected pods: ${messageOf(error)}`,
        });
      throw error;
    }
  }

  /** New pods are annotated with their budget on creation; older ones here. */
  async function nameBudget(
    { metadata }: ReadonlyBudget,
    protectedPods: readonly ReadonlyPod[],
    cluster: string,
    signal: AbortSignal,
  ): Promise<void> {
    const unnamed = protectedPods.filter((pod) => !pod.metadata.annotations?.[RELATED_BUDGET_ANNOTATION]);
    const patch = { metadata: { annotations: { [RELATED_BUDGET_ANNOTATION]: metadata.name } } };
    await writeAll("pod annotations", unnamed, async (pod) => {
      await unlessChanged(client.patch(Pod, keyOf(cluster, pod), patch, { type: "merge", signal }));
    });
  }
}

/** Upstream writes empty maps after entries come and go. */
function withoutEmptyMaps(status: ReadonlyBudget["status"]): ReadonlyBudget["status"] {
  if (!status) return status;
  const { disruptedPods, unavailablePods, ...rest } = status;
  const isFilled = (map: Readonly<Record<string, string>> | undefined): boolean =>
    map !== undefined && Object.keys(map).length > 0;
  return {
    ...rest,
    disruptedPods: isFilled(disruptedPods) ? disruptedPods : undefined,
    unavailablePods: isFilled(unavailablePods) ? unavailablePods : undefined,
  };
}
