/**
 * What is found about the subsets of a UnitedDeployment, and the replicas and the partition that each gets. Pure.
 *
 * The findings come first, because they label pods; then the replicas are allocated.
 */
import { allocatePartitions, allocateReplicas } from "./allocate.ts";
import type { Numbers } from "./allocate.ts";
import { isAdaptive, reserves, schedulingTimeoutMs } from "./uniteddeployment-names.ts";
import type { ReadonlyUnitedDeployment } from "./uniteddeployment-names.ts";
import type { ExistingSubset } from "./provision.ts";
import { afterAllocation, findReserved, findSchedulability } from "./schedulable.ts";
import type { Finding, SubsetStatus } from "./schedulable.ts";
import { SCHEDULABLE } from "./subset.ts";
import type { Schedulability } from "./subset.ts";
import { EMPTY_STATUS, initialSubsetStatuses, withUpdated } from "./uniteddeployment-status.ts";
import type { RevisionNames } from "./uniteddeployment-status.ts";

/** Requeues just after a deadline: at the exact time it has not passed yet. */
const JUST_AFTER_MS = 1;
/** A minimum for the requeue interval: with a timeout of 0 it would requeue without pause while a pod is not ready. */
const SOONEST_MS = 1_000;

export interface FoundSubsets {
  /** With the current conditions. */
  deployment: ReadonlyUnitedDeployment;
  subsets: ReadonlyMap<string, ExistingSubset & { schedulability: Schedulability }>;
  /** Only of adaptive deployments. */
  findings: ReadonlyMap<string, Finding>;
  subsetStatuses: ReadonlyMap<string, SubsetStatus>;
}

export interface SubsetPlan extends FoundSubsets {
  replicas: Numbers;
  partitions: Numbers;
}

export function findSubsets(
  deployment: ReadonlyUnitedDeployment,
  existing: ReadonlyMap<string, ExistingSubset>,
  { current, updated }: RevisionNames,
  nowMs: number,
): FoundSubsets {
  const conditions = withUpdated(deployment.status?.conditions ?? [], current === updated, updated, nowMs);
  const dated = { ...deployment, status: { ...(deployment.status ?? EMPTY_STATUS), conditions } };
  const subsetStatuses = initialSubsetStatuses(deployment, nowMs);
  const findings = new Map<string, Finding>();
  if (isAdaptive(deployment)) {
    const find = reserves(deployment) ? findReserved : findSchedulability;
    for (const [name, subset] of existing) {
      const before = subsetStatuses.get(name);
      if (before) findings.set(name, find(dated, subset, before, nowMs));
    }
  }
  const subsets = new Map(
    [...existing].map(([name, subset]) => [
      name,
      { ...subset, schedulability: findings.get(name)?.schedulability ?? SCHEDULABLE },
    ]),
  );
  return { deployment: dated, subsets, findings, subsetStatuses };
}

/** `problem` explains why replicas cannot be allocated. */
export function planSubsets(found: FoundSubsets, nowMs: number): SubsetPlan | { problem: string } {
  const { deployment, subsets, findings } = found;
  const allocation = allocateReplicas(deployment, subsets);
  if ("problem" in allocation) return allocation;
  const { replicas } = allocation;
  const subsetStatuses = new Map(found.subsetStatuses);
  for (const [name, finding] of findings) {
    const subset = subsets.get(name);
    if (!subset) continue;
    const status = reserves(deployment)
      ? afterAllocation(finding, subset, replicas.get(name) ?? 0, nowMs)
      : finding.status;
    subsetStatuses.set(name, status);
  }
  return { ...found, subsetStatuses, replicas, partitions: allocatePartitions(deployment, replicas) };
}

/**
 * The time until the next reconcile; undefined if an event will trigger it. Pending pods change no workload, so an
 * adaptive deployment needs a timed requeue.
 */
export function planRequeueMs(
  { deployment, findings, subsets }: FoundSubsets,
  { createsSubsets }: { createsSubsets: boolean },
): number | undefined {
  if (!isAdaptive(deployment)) return undefined;
  const isWaiting =
    createsSubsets ||
    subsets
      .values()
      .some(({ specReplicas, replicas, readyReplicas }) => readyReplicas < Math.max(specReplicas, replicas));
  const waits = [...findings.values()]
    .flatMap(({ againInMs, relabel }) => [againInMs, relabel.length > 0 ? schedulingTimeoutMs(deployment) : undefined])
    .filter((wait) => wait !== undefined);
  if (isWaiting) waits.push(schedulingTimeoutMs(deployment));
  return waits.length > 0 ? Math.max(SOONEST_MS, Math.min(...waits)) + JUST_AFTER_MS : undefined;
}
