/**
 * The FleetDisruptionBudgets of a hub: how many pods a workload may have unavailable, and who draws from the number.
 *
 * Reads: FleetDisruptionBudget, the templates that it selects, their bindings and Works, Cluster.
 * Writes: the claims in the status of budgets, before what they are for happens. A claim is written with the version of the
 * budget that was read, so two processes never give the same pod away.
 */
import type { KubernetesObject } from "@flotilla/apimachinery";
import { formatTime } from "@flotilla/base";
import type { Clock, DeepReadonly } from "@flotilla/base";
import type { Client } from "@flotilla/client";
import { unlessChanged } from "@flotilla/controller-runtime";
import type { Lister } from "@flotilla/controller-runtime";
import type { ResourceBinding, Work, Cluster } from "@flotilla/karmada";
import { takesDown } from "../propagation/dispatch/release-copies.ts";
import { compileLabelSelector } from "../propagation/policies/label-selector.ts";
import type { Templates } from "../propagation/templates/templates.ts";
import { FleetDisruptionBudget } from "./kinds/fleet-disruption-budget.ts";
import { observeMembers } from "./observe-members.ts";
import { planBudget } from "./plan/plan-budget.ts";
import type { BudgetPlan, WorkloadPods } from "./plan/plan-budget.ts";

type Template = DeepReadonly<KubernetesObject>;
type Budget = DeepReadonly<FleetDisruptionBudget>;

export interface BudgetLedger {
  /** The pods that the template may have unavailable in all; undefined without a budget. The tightest budget applies. */
  allowanceOf(template: Template, holder: string): { pods: number; name: string } | undefined;
  /** Records what a holder draws, before it does; false if a budget changed meanwhile or has no room. */
  claim(template: Template, holder: string, pods: number, signal: AbortSignal): Promise<boolean>;
  /** The state of one budget. */
  planOf(budget: Budget): Promise<BudgetPlan>;
}

export interface BudgetLedgerDependencies {
  hub: string;
  client: Client;
  budgets: Lister<FleetDisruptionBudget>;
  bindings: Lister<ResourceBinding>;
  clusters: Lister<Cluster>;
  templates: Pick<Templates, "get" | "find">;
  worksOf(binding: DeepReadonly<ResourceBinding>): readonly DeepReadonly<Work>[];
  clock: Clock;
}

export function createBudgetLedger(deps: BudgetLedgerDependencies): BudgetLedger {
  const { hub, client, budgets, bindings, clusters, templates, worksOf, clock } = deps;

  const budgetsOf = ({ metadata }: Template): Budget[] =>
    budgets
      .list({ cluster: hub, namespace: metadata.namespace })
      .filter(({ spec }) => compileLabelSelector(spec.selector)(metadata.labels));

  /** The selected workloads, with the pods that are known to be available. */
  function workloadsOf(budget: Budget): WorkloadPods[] {
    const selects = compileLabelSelector(budget.spec.selector);
    return bindings.list({ cluster: hub, namespace: budget.metadata.namespace }).flatMap((binding): WorkloadPods[] => {
      const { apiVersion, kind, name, namespace = "" } = binding.spec.resource;
      const group = apiVersion.includes("/") ? (apiVersion.split("/")[0] ?? "") : "";
      const template = templates.find({ group, kind, namespace, name });
      if (!template || !selects(template.metadata.labels)) return [];
      const updates = { hasPartition: true, takesDown: takesDown(template) };
      if (updates.takesDown === "none") return [];
      const members = observeMembers({
        binding,
        template,
        works: worksOf(binding),
        clusterOf: (member) => clusters.get({ cluster: hub, name: member }),
        entries: [],
        updates,
      });
      return [
        {
          name: `${kind} ${name}`,
          expected: members.reduce((sum, { size }) => sum + size, 0),
          // A member that does not answer may have lost its pods.
          available: members.reduce(
            (sum, { isReachable, available, size }) => sum + (isReachable ? Math.min(available, size) : 0),
            0,
          ),
        },
      ];
    });
  }

  const nameOf = ({ kind, metadata }: Template): string => `${kind} ${metadata.name}`;

  return {
    allowanceOf(template, holder) {
      let tightest: { pods: number; name: string } | undefined;
      for (const budget of budgetsOf(template)) {
        const { allowance } = planBudget(budget, workloadsOf(budget), {
          holder,
          workload: nameOf(template),
          nowMs: clock.now(),
        });
        if (!tightest || allowance < tightest.pods) tightest = { pods: allowance, name: budget.metadata.name };
      }
      return tightest;
    },
    async claim(template, holder, pods, signal) {
      for (const budget of budgetsOf(template)) {
        const nowMs = clock.now();
        const claims = (budget.status?.claims ?? []).filter(
          (claim) => claim.holder !== holder && (claim.expires === undefined || Date.parse(claim.expires) > nowMs),
        );
        const before = budget.status?.claims?.find((claim) => claim.holder === holder);
        if ((before?.pods ?? 0) === pods) continue;
        const plan = planBudget(budget, workloadsOf(budget), { holder, workload: nameOf(template), nowMs });
        // A new workload has no pod yet, whatever the budget allows.
        if (pods > (before?.pods ?? 0) && pods > Math.max(plan.allowance, plan.missing)) return false;
        const next = {
          ...budget,
          status: {
            ...plan.status,
            claims: pods > 0 ? [...claims, { holder, pods, since: before?.since ?? formatTime(nowMs) }] : claims,
          },
        } as Budget;
        if (!(await unlessChanged(client.updateStatus(FleetDisruptionBudget, hub, next, { signal })))) return false;
      }
      return true;
    },
    planOf: async (budget) => planBudget(budget, workloadsOf(budget), { nowMs: clock.now() }),
  };
}
