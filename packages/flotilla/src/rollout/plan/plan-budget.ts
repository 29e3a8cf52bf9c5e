/** Plans a FleetDisruptionBudget: how many pods may be unavailable, and how many of them are still free. Pure. */
import { scaledValue } from "@flotilla/apimachinery";
import type { DeepReadonly } from "@flotilla/base";
import type { FleetDisruptionBudget } from "../kinds/fleet-disruption-budget.ts";

export interface WorkloadPods {
  readonly name: string;
  readonly expected: number;
  /** Known to be available; pods of members that cannot be observed are not. */
  readonly available: number;
}

export interface BudgetPlan {
  readonly status: NonNullable<FleetDisruptionBudget["status"]>;
  /** The pods that the workload of the holder may have unavailable in all, its own unavailable ones included. */
  readonly allowance: number;
  /** The pods of the workload that are unavailable now: nothing makes them so, and recording them is always allowed. */
  readonly missing: number;
}

export function planBudget(
  { metadata, spec, status: before }: DeepReadonly<FleetDisruptionBudget>,
  workloads: readonly WorkloadPods[],
  { holder, workload, nowMs }: { holder?: string; workload?: string; nowMs: number },
): BudgetPlan {
  const expected = workloads.reduce((sum, each) => sum + each.expected, 0);
  const available = workloads.reduce((sum, each) => sum + each.available, 0);
  const limit =
    spec.maxUnavailable === undefined
      ? Math.max(0, expected - scaledValue(spec.minAvailable ?? expected, expected, { roundUp: true }))
      : Math.max(0, scaledValue(spec.maxUnavailable, expected, { roundUp: true }));
  const claims = (before?.claims ?? []).filter(({ expires }) => expires === undefined || Date.parse(expires) > nowMs);
  const others = claims.filter((claim) => claim.holder !== holder).reduce((sum, { pods }) => sum + pods, 0);
  const missing = workloads
    .filter(({ name }) => name !== workload)
    .reduce((sum, each) => sum + each.expected - each.available, 0);
  // What others claimed may be what is missing already, or may come on top: the larger number counts.
  const allowance = Math.max(0, limit - Math.max(others, missing));
  const own = workloads.find(({ name }) => name === workload);
  const claimed = claims.reduce((sum, { pods }) => sum + pods, 0);
  return {
    status: {
      observedGeneration: metadata.generation,
      expected,
      available,
      limit,
      allowed: Math.max(0, limit - Math.max(claimed, expected - available)),
      claims: claims.map((claim) => ({ ...claim })),
    },
    allowance,
    missing: own ? Math.max(0, own.expected - own.available) : 0,
  };
}
