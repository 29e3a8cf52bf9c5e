/**
 * The record of a WorkloadSpread that its webhook keeps between two reconciles: how many pods each subset misses, and
 * which are being created and deleted. Pure.
 *
 * The controller counts pods that it sees; a pod that was admitted a millisecond ago is not among them.
 */
import { formatTime } from "@flotilla/base";
import { strictShare } from "../int-or-percent.ts";
import { isOrdinal } from "./spread-targets.ts";
import type { ReadonlySpread, Status, Subset, SubsetStatus } from "./spread-targets.ts";

/** A subset without `maxReplicas` misses this many pods. */
export const NO_LIMIT = -1;

const isUnschedulable = ({ conditions }: Pick<SubsetStatus, "conditions">): boolean =>
  conditions?.some(({ type, status }) => type === "Schedulable" && status === "False") ?? false;

/** Undefined for a value that is not a number of pods. */
export function limitOf({ maxReplicas }: Subset, replicas: number): number | undefined {
  if (maxReplicas === undefined) return NO_LIMIT;
  const limit = strictShare(maxReplicas, replicas, "up");
  return limit === undefined || limit < 0 ? undefined : limit;
}

/** A subset whose only limit is none needs no record. */
const isUnlimited = ({ spec }: ReadonlySpread): boolean =>
  spec.subsets.length === 1 && spec.subsets[0]?.maxReplicas === undefined;

export interface Choice {
  /** Unset if every subset is full: the pod is created as it is. */
  subset?: string;
  /** Unset if nothing has to be recorded. */
  status?: Status;
}

/** `id` is the name of the new pod, or what identifies it until it has one. */
export interface NewPod {
  name: string;
  id: string;
  version: string;
}

export function chooseSubset(
  spread: ReadonlySpread,
  { name, id, version }: NewPod,
  replicas: number,
  nowMs: number,
): Choice {
  const [first] = spread.spec.subsets;
  if (isUnlimited(spread)) return { subset: first?.name };
  if (isOrdinal(spread)) return { subset: subsetOfOrdinal(spread, ordinalOf(name)) };
  const records = recordsOf(spread, version, replicas);
  const known = name === "" ? undefined : records.find((record) => isRecorded(record, name));
  if (known) return { subset: known.name };
  const chosen = records.find(
    (record) => !isUnschedulable(record) && (record.missingReplicas > 0 || record.missingReplicas === NO_LIMIT),
  );
  if (!chosen || chosen.missingReplicas === NO_LIMIT) return { subset: chosen?.name };
  const changed: SubsetStatus = {
    ...chosen,
    creatingPods: { ...chosen.creatingPods, [id]: formatTime(nowMs) },
    missingReplicas: chosen.missingReplicas - 1,
  };
  return { subset: chosen.name, status: withRecord(spread, version, records, changed) };
}

/**
 * The WorkloadSpread with the percentages of its subsets applied to the current replicas: the workload may have been
 * scaled a moment ago, and its pods are created before the controller has counted again.
 */
export function withCurrentLimits(spread: ReadonlySpread, version: string, replicas: number): ReadonlySpread {
  const { spec, status } = spread;
  const records = status?.versionedSubsetStatuses?.[version];
  if (!records || !spec.subsets.some(({ maxReplicas }) => typeof maxReplicas === "string")) return spread;
  const current = records.map((record) => {
    const subset = spec.subsets.find(({ name }) => name === record.name);
    const limit = typeof subset?.maxReplicas === "string" ? limitOf(subset, replicas) : undefined;
    if (limit === undefined) return record;
    const taken =
      record.replicas + Object.keys(record.creatingPods ?? {}).length - Object.keys(record.deletingPods ?? {}).length;
    return { ...record, missingReplicas: Math.max(0, limit - taken) };
  });
  const versionedSubsetStatuses = { ...status.versionedSubsetStatuses, [version]: current };
  return { ...spread, status: { ...status, versionedSubsetStatuses } };
}

/** The status after a pod of a subset is deleted or evicted; undefined if nothing has to be recorded. */
export function recordDeletion(
  spread: ReadonlySpread,
  pod: { name: string; subset: string; version: string },
  replicas: number,
  nowMs: number,
): Status | undefined {
  if (isUnlimited(spread) || isOrdinal(spread)) return undefined;
  const records = recordsOf(spread, pod.version, replicas);
  if (records.some((record) => isRecorded(record, pod.name))) return undefined;
  const record = records.find(({ name }) => name === pod.subset);
  if (!record || record.missingReplicas === NO_LIMIT) return undefined;
  return withRecord(spread, pod.version, records, {
    ...record,
    deletingPods: { ...record.deletingPods, [pod.name]: formatTime(nowMs) },
    missingReplicas: record.missingReplicas + 1,
  });
}

/** Undoes a record whose write failed. */
export function withoutRecord(
  { status }: ReadonlySpread,
  version: string,
  id: string,
  what: "creatingPods" | "deletingPods",
): Status | undefined {
  const records = status?.versionedSubsetStatuses?.[version];
  const index = records?.findIndex((record) => record[what]?.[id] !== undefined) ?? -1;
  const record = records?.[index];
  if (!records || !record) return undefined;
  const { [id]: _gone, ...rest } = record[what] ?? {};
  const missingReplicas = record.missingReplicas + (what === "creatingPods" ? 1 : -1);
  return {
    ...status,
    versionedSubsetStatuses: {
      ...status?.versionedSubsetStatuses,
      [version]: records.with(index, { ...record, [what]: rest, missingReplicas: Math.max(0, missingReplicas) }),
    },
  };
}

const isRecorded = ({ creatingPods, deletingPods }: SubsetStatus, name: string): boolean =>
  creatingPods?.[name] !== undefined || deletingPods?.[name] !== undefined;

function recordsOf({ spec, status }: ReadonlySpread, version: string, replicas: number): readonly SubsetStatus[] {
  const known = status?.versionedSubsetStatuses?.[version];
  return known?.length
    ? known
    : spec.subsets.map((subset) => ({
        name: subset.name,
        missingReplicas: limitOf(subset, replicas) ?? 0,
        replicas: 0,
      }));
}

function withRecord(
  { status }: ReadonlySpread,
  version: string,
  records: readonly SubsetStatus[],
  changed: SubsetStatus,
): Status {
  return {
    ...status,
    versionedSubsetStatuses: {
      ...status?.versionedSubsetStatuses,
      [version]: records.map((record) => (record.name === changed.name ? changed : record)),
    },
  };
}

/** The subsets of a StatefulSet follow each other: with limits of 5 and 5, ordinal 7 is in the second. */
function subsetOfOrdinal({ spec, status }: ReadonlySpread, ordinal: number): string | undefined {
  let end = 0;
  for (const { name, maxReplicas } of spec.subsets) {
    const known = status?.subsetStatuses?.find((one) => one.name === name);
    if (known && isUnschedulable(known)) continue;
    end += typeof maxReplicas === "number" ? maxReplicas : Infinity;
    if (ordinal < end) return name;
  }
  return undefined;
}

/** -1 for a pod without an ordinal, which belongs to the first subset that has any room. */
const ordinalOf = (name: string): number => Number(/-(\d+)$/.exec(name)?.[1] ?? -1);
