/** Merges per-member state for display: start and completion times of jobs, and names by cluster. */
import { isObject, type Json, type JsonObject, omitZero, textOf } from "@flotilla/base";
import { earliestOf, latestOf, reportedStatuses, sumOf } from "@flotilla/kubernetes";
import type { StatusItem } from "@flotilla/kubernetes";

/** Limit for lists in a status: counters have the total, and members have the rest. */
const LISTED = 100;

/** A job starts with the first member, and completes with the last. */
export function jobTimes(items: readonly StatusItem[]): JsonObject {
  const statuses = reportedStatuses(items);
  const timesIn = (field: string): string[] => statuses.map((status) => textOf(status[field]));
  const startTime = earliestOf(timesIn("startTime"));
  const ends = timesIn("completionTime");
  const isComplete = items.length > 0 && ends.length === items.length && ends.every((end) => end !== "");
  return omitZero({ startTime, completionTime: isComplete ? latestOf(ends) : undefined });
}

export function sums(items: readonly StatusItem[], counters: readonly string[]): JsonObject {
  const statuses = reportedStatuses(items);
  return Object.fromEntries(counters.map((field) => [field, sumOf(statuses, field)]));
}

/**
 * Adds the names that a member reports, as `cluster/name`, because the same name may be a different object elsewhere.
 */
export function addNames(into: string[], clusterName: string, names: Json | undefined): void {
  for (const name of Array.isArray(names) ? names : []) {
    if (into.length === LISTED) return;
    if (typeof name === "string") into.push(`${clusterName}/${name}`);
  }
}

/** Objects that members report in a list, each with the cluster prepended to one of its text fields. */
export function entriesOf(items: readonly StatusItem[], list: string, field: string): JsonObject[] {
  const entries: JsonObject[] = [];
  for (const { clusterName, status } of items) {
    const own = isObject(status) ? status[list] : undefined;
    for (const entry of Array.isArray(own) ? own.filter(isObject) : []) {
      if (entries.length === LISTED) return entries;
      entries.push({ ...entry, [field]: `${clusterName}/${textOf(entry[field])}` });
    }
  }
  return entries;
}

/** Times of pods by name, as `cluster/name`. */
export function podTimesOf(items: readonly StatusItem[], field: string): JsonObject | undefined {
  const times = items.flatMap(({ clusterName, status }) => {
    const own = isObject(status) ? status[field] : undefined;
    return isObject(own)
      ? Object.entries(own).map(([pod, time]): [string, Json] => [`${clusterName}/${pod}`, time])
      : [];
  });
  return times.length > 0 ? Object.fromEntries(times.slice(0, LISTED)) : undefined;
}
