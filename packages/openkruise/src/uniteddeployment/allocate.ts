/**
 * Allocates replicas to subsets. Four modes, depending on the UnitedDeployment: given shares; lower and upper limits in
 * the order of the subsets; the same but avoiding unschedulable subsets; and the same with pending pods kept as
 * reserved while others run in their place. Pure.
 */
import { subsetReplicas } from "./subset-rules.ts";
import { compareText } from "@flotilla/base";
import { isAdaptive, reserves, subsetsOf } from "./uniteddeployment-names.ts";
import type { ReadonlyUnitedDeployment } from "./uniteddeployment-names.ts";
import { SCHEDULABLE } from "./subset.ts";
import type { Schedulability, SubsetSize } from "./subset.ts";

/** By subset name. */
export type Numbers = ReadonlyMap<string, number>;
/** `problem` explains why replicas cannot be allocated. */
export type Allocation = { replicas: Numbers } | { problem: string };
export type SizedSubset = SubsetSize & { schedulability?: Schedulability };

/** The largest int32: no upper limit. */
const NO_LIMIT = 2_147_483_647;

export function allocateReplicas(
  deployment: ReadonlyUnitedDeployment,
  existing: ReadonlyMap<string, SizedSubset>,
): Allocation {
  const subsets = subsetsOf(deployment);
  if (
    !isAdaptive(deployment) &&
    subsets.every(({ minReplicas, maxReplicas }) => minReplicas === undefined && maxReplicas === undefined)
  )
    return allocateShares(deployment, existing);
  const total = deployment.spec.replicas ?? 0;
  const limits = limitsOf(deployment, total);
  if ("problem" in limits) return limits;
  if (reserves(deployment)) return { replicas: allocateWithReserve(total, limits.limits, existing) };
  return {
    replicas: allocateWithin(
      total,
      isAdaptive(deployment) ? limits.limits.map((limit) => adapted(limit, existing.get(limit.name))) : limits.limits,
    ),
  };
}

/** How many pods of each subset keep their old revision; at most the size of the subset. */
export function allocatePartitions(deployment: ReadonlyUnitedDeployment, replicas: Numbers): Numbers {
  const { type, manualUpdate } = deployment.spec.updateStrategy ?? {};
  const wanted = type === "Manual" ? (manualUpdate?.partitions ?? {}) : {};
  return new Map(
    subsetsOf(deployment).map(({ name }) => [
      name,
      Math.min(Object.hasOwn(wanted, name) ? (wanted[name] ?? 0) : 0, replicas.get(name) ?? NO_LIMIT),
    ]),
  );
}

/** Given shares are kept; the rest is split evenly, and the remainder is added to the largest. */
function allocateShares(deployment: ReadonlyUnitedDeployment, existing: ReadonlyMap<string, SizedSubset>): Allocation {
  const total = deployment.spec.replicas;
  const replicas = new Map<string, number>();
  for (const { name, replicas: share } of subsetsOf(deployment)) {
    const read = share === undefined ? undefined : subsetReplicas(total, share);
    if (read && "value" in read) replicas.set(name, read.value);
  }
  const open = subsetsOf(deployment).filter(({ name }) => !replicas.has(name));
  const given = sum(replicas.values());
  if (total === undefined && open.length > 0)
    return { problem: "all subsets must be specified when UnitedDeployment replica is unspecified" };
  if (total !== undefined && given > total)
    return { problem: `specified subsets' replica (${given}) is greater than UnitedDeployment replica (${total})` };
  if (total !== undefined && given < total && open.length === 0)
    return { problem: `specified subsets' replica (${given}) is less than UnitedDeployment replica (${total})` };

  const rest = (total ?? 0) - given;
  const largestFirst = open
    .map(({ name }) => ({ name, size: existing.get(name)?.specReplicas ?? 0 }))
    .toSorted((a, b) => b.size - a.size || compareText(b.name, a.name));
  for (const [place, { name }] of largestFirst.entries())
    replicas.set(name, Math.floor(rest / open.length) + (place < rest % open.length ? 1 : 0));
  return { replicas };
}

interface Limit {
  name: string;
  min: number;
  max: number;
}

function limitsOf(deployment: ReadonlyUnitedDeployment, total: number): { limits: Limit[] } | { problem: string } {
  const limits: Limit[] = [];
  for (const [index, { name, minReplicas, maxReplicas }] of subsetsOf(deployment).entries()) {
    const read = (share: string | number | undefined, absent: number): number => {
      const result = share === undefined ? { value: absent } : subsetReplicas(total, share);
      // The webhook rejects invalid values; upstream counts them as 0.
      return "value" in result ? result.value : 0;
    };
    const [min, max] = [read(minReplicas, 0), read(maxReplicas, NO_LIMIT)];
    if (min > max)
      return { problem: `subset[${index}].maxReplicas(${max}) must be more than or equal to minReplicas(${min})` };
    limits.push({ name, min, max });
  }
  return { limits };
}

/** An unschedulable subset keeps its ready replicas and gets no more; any other keeps at least its ready ones. */
function adapted({ name, min, max }: Limit, subset: SizedSubset | undefined): Limit {
  const ready = subset?.readyReplicas ?? 0;
  if (subset?.schedulability?.unschedulable) return { name, min: Math.max(ready, min), max: Math.min(ready, max) };
  return { name, min: ready > min ? Math.min(ready, max) : min, max };
}

/** First the lower limits in order, then up to the upper limits in order. */
function allocateWithin(total: number, limits: readonly Limit[]): Numbers {
  const replicas = new Map<string, number>();
  let rest = total;
  const give = (name: string, count: number): void => {
    const given = Math.max(0, Math.min(count, rest));
    replicas.set(name, (replicas.get(name) ?? 0) + given);
    rest -= given;
  };
  for (const { name, min } of limits) give(name, min);
  for (const { name, min, max } of limits) give(name, max - min);
  return replicas;
}

/** The same, but replicas beyond a subset's capacity do not count: others run elsewhere in their place. */
function allocateWithReserve(
  total: number,
  limits: readonly Limit[],
  existing: ReadonlyMap<string, SizedSubset>,
): Numbers {
  const rooms = new Map(limits.map(({ name }) => [name, roomIn(existing.get(name))]));
  const replicas = new Map(limits.map(({ name }) => [name, 0]));
  let rest = total;
  const raise = (name: string, to: number): void => {
    const given = replicas.get(name) ?? 0;
    const added = Math.min(to - given, rest);
    const room = (rooms.get(name) ?? 0) - added;
    replicas.set(name, given + added);
    rooms.set(name, room);
    rest -= room < 0 ? Math.max(0, added + room) : added;
  };
  for (const { name, min } of limits) if (rest > 0) raise(name, min);
  for (const { name, max } of limits) {
    const subset = existing.get(name);
    if (rest > 0) raise(name, subset?.schedulability?.unschedulable ? subset.specReplicas : max);
  }
  return replicas;
}

function roomIn(subset: SizedSubset | undefined): number {
  const { unschedulable, markedAsUnschedulable, reservedPods } = subset?.schedulability ?? SCHEDULABLE;
  return subset && (unschedulable || markedAsUnschedulable) ? subset.specReplicas - reservedPods : NO_LIMIT;
}

const sum = (numbers: Iterable<number>): number => [...numbers].reduce((total, number) => total + number, 0);
