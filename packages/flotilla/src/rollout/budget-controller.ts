/**
 * Budget reports what a FleetDisruptionBudget allows, and removes claims that have ended.
 *
 * Reads: FleetDisruptionBudget, FleetRollout, bindings and Works of the workloads that it selects.
 * Writes: the status of FleetDisruptionBudgets.
 */
import { equalJson } from "@flotilla/base";
import type { Client, ObjectKey } from "@flotilla/client";
import { defineController, done, keyOf, unlessChanged, watch } from "@flotilla/controller-runtime";
import type { Controller, Lister } from "@flotilla/controller-runtime";
import { ResourceBinding } from "@flotilla/karmada";
import type { BudgetLedger } from "./budget-ledger.ts";
import { FleetDisruptionBudget } from "./kinds/fleet-disruption-budget.ts";
import type { FleetRollout } from "./kinds/fleet-rollout.ts";

const AGAIN_MS = 10_000;
const OF_ROLLOUTS = "FleetRollout ";

interface BudgetDependencies {
  hub: string;
  client: Client;
  budgets: Lister<FleetDisruptionBudget>;
  rollouts: Lister<FleetRollout>;
  ledger: BudgetLedger;
}

export function createBudgetController(deps: BudgetDependencies): Controller<ObjectKey> {
  const { hub, client, budgets, rollouts, ledger } = deps;
  const ofNamespace = (namespace: string | undefined): ObjectKey[] =>
    budgets.list({ cluster: hub, namespace }).map((budget) => keyOf(hub, budget));
  return defineController({
    name: "disruption-budget",
    for: FleetDisruptionBudget,
    watches: [
      watch(ResourceBinding, ({ object, old }) =>
        old &&
        equalJson((old.status?.aggregatedStatus ?? []) as never, (object.status?.aggregatedStatus ?? []) as never)
          ? []
          : ofNamespace(object.metadata.namespace),
      ),
    ],
    writes: [FleetDisruptionBudget],

    async reconcile(budget, { key, signal }) {
      const { status } = await ledger.planOf(budget);
      const namespace = key.namespace ?? "";
      // A release that was deleted, or has ended, draws no more.
      const claims = (status.claims ?? []).filter(({ holder }) => {
        if (!holder.startsWith(OF_ROLLOUTS)) return true;
        const rollout = rollouts.get({ cluster: hub, namespace, name: holder.slice(OF_ROLLOUTS.length) });
        return rollout !== undefined && rollout.status?.phase !== "Superseded";
      });
      const next = { ...status, claims };
      if (!equalJson(next as never, (budget.status ?? null) as never))
        await unlessChanged(client.updateStatus(FleetDisruptionBudget, hub, { ...budget, status: next }, { signal }));
      return claims.some(({ expires }) => expires !== undefined) ? { requeueAfterMs: AGAIN_MS } : done;
    },
  });
}
