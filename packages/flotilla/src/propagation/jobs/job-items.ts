/** What the sum of a Job needs beside the members' reports, and what it must keep. Pure. */
import type { KubernetesObject } from "@flotilla/apimachinery";
import type { ResourceBinding, Work } from "@flotilla/karmada";
import { isObject, type DeepReadonly } from "@flotilla/base";
import { countOf, type StatusItem } from "@flotilla/kubernetes";
import { isJob, isResizable, planJob } from "./plan-job.ts";
import { recordedItems } from "./job-record.ts";

/** Completions that no member has done or runs: without them, a Job would be complete before its last ones have run. */
const PENDING: StatusItem = { clusterName: "", status: {} };
const COUNTERS = ["succeeded", "failed"] as const;

/** A Work that is not being deleted reports for itself, also one that leaves and is recorded already. */
export function jobItems(
  binding: DeepReadonly<ResourceBinding>,
  template: DeepReadonly<KubernetesObject>,
  works: readonly DeepReadonly<Work>[],
  now: string,
): StatusItem[] {
  if (!isJob(template)) return [];
  const { record, missing } = planJob(binding, template, works, now);
  const reporting = new Set(
    works.filter(({ metadata }) => !metadata.deletionTimestamp).map(({ metadata }) => metadata.uid),
  );
  const recorded = recordedItems(record.filter(({ work }) => work === undefined || !reporting.has(work)));
  return missing > 0 ? [...recorded, PENDING] : recorded;
}

/**
 * The counters of a Job never decrease: an API server rejects that, except for `succeeded` of one that may be resized.
 * The sum does when a member leaves: its failed pods are not recorded, and pods that succeeded after its numbers were
 * recorded run again.
 */
export function keepCounters(
  newest: DeepReadonly<KubernetesObject>,
  summed: DeepReadonly<KubernetesObject>,
): DeepReadonly<KubernetesObject> {
  if (!isJob(newest)) return summed;
  const [before, after] = [statusIn(newest), statusIn(summed)];
  const kept = COUNTERS.filter(
    (counter) =>
      countOf(after[counter]) < countOf(before[counter]) && !(counter === "succeeded" && isResizable(newest)),
  );
  if (kept.length === 0) return summed;
  const status = { ...after, ...Object.fromEntries(kept.map((counter) => [counter, before[counter]])) };
  return { ...summed, status } as DeepReadonly<KubernetesObject>;
}

const statusIn = ({ status }: DeepReadonly<KubernetesObject & { status?: unknown }>): Record<string, unknown> =>
  isObject(status) ? status : {};
