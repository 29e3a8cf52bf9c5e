/**
 * PodDisruptionBudget: maintains the number of disruptions that evictions may still cause.
 *
 * Reads: PodDisruptionBudget, Pod, and the scale of the pods' controllers.
 * Writes: PodDisruptionBudget status. Evictions (in the API server) decrement `disruptionsAllowed`; this controller
 * restores it when pods are replaced.
 */
import { Pod } from "../pod/pod-kind.ts";
import { PodDisruptionBudget } from "./poddisruptionbudget-kind.ts";
import { ApiError, labelSelectorOf, matchesLabels } from "@flotilla/apimachinery";
import { FlotillaError, equalJson, messageOf } from "@flotilla/base";
import type { ObjectKey } from "@flotilla/client";
import { defineController, done, idOfKey, keyOf, unlessChanged, watch } from "@flotilla/controller-runtime";
import type { Controller, ObjectEvent } from "@flotilla/controller-runtime";
import { STATUS_DELAY_MS } from "../workloads/dependencies.ts";
import type { WorkloadDependencies } from "../workloads/dependencies.ts";
import { createStatusDelay } from "../workloads/status-delay.ts";
import { isReady } from "../pod/pod-state.ts";
import type { ReadonlyPod } from "../pod/pod-state.ts";
import { createExpectedPods, ownersOf } from "./expected-pods.ts";
import { failedStatus, needsScale, planBudget } from "./plan-disruption.ts";
import type { BudgetPlan, ReadonlyBudget } from "./plan-disruption.ts";

export function createDisruptionController(deps: WorkloadDependencies): Controller<ObjectKey> {
  const { client, informers, clock } = deps;
  const pods = informers.of(Pod);
  const budgets = informers.of(PodDisruptionBudget);
  const expectedPods = createExpectedPods(deps);
  const delay = createStatusDelay(clock, deps.statusDelayMs ?? STATUS_DELAY_MS);
  const events = deps.events?.("controllermanager");

  return defineController({
    name: "disruption",
    for: PodDisruptionBudget,
    watches: [watch(Pod, (event) => (changesBudgets(event) ? budgetsOf(event) : []))],
    writes: [PodDisruptionBudget],

    async reconcile(budget, { key, signal }) {
      if (budget.metadata.deletionTimestamp) return done;
      // A budget before its first count allows nothing, so it is counted without delay.
      const leftMs = budget.status?.observedGeneration === budget.metadata.generation ? delay.waitMs(idOfKey(key)) : 0;
      if (leftMs > 0) return { requeueAfterMs: leftMs };
      delay.settled(idOfKey(key));
      const { status, notDeleted, againInMs } = await evaluate(budget, key, signal);
      for (const pod of notDeleted)
        events?.record(key.cluster, pod, {
          type: "Warning",
          reason: "NotDeleted",
          message: `Pod was expected by PDB ${key.namespace}/${key.name} to be deleted but it wasn't`,
        });
      if (!equalJson(status, budget.status))
        await unlessChanged(client.updateStatus(PodDisruptionBudget, key.cluster, { ...budget, status }, { signal }));
      return againInMs === undefined ? done : { requeueAfterMs: againInMs };
    },
    forget: (key) => delay.settled(idOfKey(key)),
  });

  async function evaluate(budget: ReadonlyBudget, key: ObjectKey, signal: AbortSignal): Promise<BudgetPlan> {
    const report = (type: "Normal" | "Warning", reason: string, message: string): void =>
      events?.record(key.cluster, budget, { type, reason, message });
    const selected = podsOf(budget, key);
    const isNew = budget.status?.observedGeneration !== budget.metadata.generation;
    // Emitted once per generation of the budget; pods come and go without it.
    if (selected.length === 0 && isNew) report("Normal", "NoPods", "No matching pods found");
    try {
      if (!needsScale(budget)) return planBudget(budget, selected, selected.length, clock.now());
      const { owners, unmanaged } = ownersOf(selected);
      if (unmanaged > 0 && isNew) report("Warning", "UnmanagedPods", unmanagedMessage(budget));
      const expected = await expectedPods.count(owners, key, signal);
      return planBudget(budget, selected, expected, clock.now());
    } catch (error) {
      if (!(error instanceof ApiError || error instanceof FlotillaError)) throw error;
      report(
        "Warning",
        "CalculateExpectedPodCountFailed",
        `Failed to calculate the number of expected pods: ${messageOf(error)}`,
      );
      return { status: failedStatus(budget, messageOf(error), clock.now()), notDeleted: [] };
    }
  }

  function podsOf({ spec }: ReadonlyBudget, { cluster, namespace = "" }: ObjectKey): ReadonlyPod[] {
    const selector = labelSelectorOf(spec?.selector);
    return pods.list({ cluster, namespace }).filter(({ metadata }) => matchesLabels(selector, metadata.labels));
  }

  function budgetsOf({ cluster, object, old }: ObjectEvent<Pod>): ObjectKey[] {
    return budgets
      .list({ cluster, namespace: object.metadata.namespace ?? "" })
      .filter(({ spec }) => {
        const selector = labelSelectorOf(spec?.selector);
        return (
          matchesLabels(selector, object.metadata.labels) ||
          (old !== undefined && matchesLabels(selector, old.metadata.labels))
        );
      })
      .map((budget) => keyOf(cluster, budget));
  }
}

const unmanagedMessage = ({ spec }: ReadonlyBudget): string =>
  `Pods selected by this PodDisruptionBudget (selector: ${JSON.stringify(spec?.selector ?? {})}) were ` +
  "found to be unmanaged. As a result, the status of the PDB cannot be calculated correctly, which may " +
  `result in undefined behavior. To account for these pods please set ".spec.minAvailable" field of the ` +
  "PDB to an integer value.";

/** Only changes that a budget counts need a reconcile. */
function changesBudgets({ object, old, deleted }: ObjectEvent<Pod>): boolean {
  if (deleted || !old) return true;
  return (
    isReady(object) !== isReady(old) ||
    object.metadata.deletionTimestamp !== old.metadata.deletionTimestamp ||
    !equalJson(object.metadata.labels, old.metadata.labels)
  );
}
