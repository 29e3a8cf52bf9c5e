/**
 * What the members that a Job has left had finished, as an annotation of its binding: a Work holds its member's numbers
 * only as long as it exists. Dispatch writes the record before it deletes such a Work; aggregate adds it to the sum.
 */
import type { ResourceBinding } from "@flotilla/karmada";
import { isObject, type DeepReadonly } from "@flotilla/base";
import type { StatusItem } from "@flotilla/kubernetes";
import { JOB_RECORD } from "../../flotilla-names.ts";

export interface JobRecordEntry {
  readonly cluster: string;
  /** The completions that succeeded there. */
  readonly succeeded: number;
  /** When they were recorded. */
  readonly at: string;
  /** The UID of the Work whose numbers these are, as long as that Work exists: it must not count twice. */
  readonly work?: string;
}

export type JobRecord = readonly JobRecordEntry[];

/** A record that a user overwrote counts as empty. */
export function parseJobRecord({ metadata }: DeepReadonly<Pick<ResourceBinding, "metadata">>): JobRecord {
  const text = metadata.annotations?.[JOB_RECORD];
  if (text === undefined) return [];
  try {
    const entries: unknown = JSON.parse(text);
    return Array.isArray(entries) ? entries.filter(isEntry) : [];
  } catch (error) {
    if (error instanceof SyntaxError) return [];
    throw error;
  }
}

function isEntry(value: unknown): value is JobRecordEntry {
  return (
    isObject(value) &&
    typeof value["cluster"] === "string" &&
    Number.isSafeInteger(value["succeeded"]) &&
    Number(value["succeeded"]) > 0 &&
    typeof value["at"] === "string"
  );
}

/** One entry per cluster whose Work is gone, so that a Job that moves often keeps a short record. */
export function formatJobRecord(record: JobRecord, existing: ReadonlySet<string>): string {
  const entries: JobRecordEntry[] = [];
  for (const entry of record) {
    const isHeld = entry.work !== undefined && existing.has(entry.work);
    const same = isHeld
      ? -1
      : entries.findIndex(({ cluster, work }) => work === undefined && cluster === entry.cluster);
    const { work: _gone, ...bare } = entry;
    if (same < 0) entries.push(isHeld ? entry : bare);
    else entries[same] = { ...bare, succeeded: bare.succeeded + (entries[same]?.succeeded ?? 0) };
  }
  return JSON.stringify(entries);
}

/** The record as reports: each is a share that is complete. */
export function recordedItems(record: JobRecord): StatusItem[] {
  return record.map(({ cluster, succeeded, at }) => ({
    clusterName: cluster,
    status: {
      succeeded,
      startTime: at,
      completionTime: at,
      conditions: ["Complete", "SuccessCriteriaMet"].map((type) => ({ type, status: "True", lastTransitionTime: at })),
    },
  }));
}
