/** What the sum of a Job needs beside the members' reports. Pure. */
import type { KubernetesObject } from "@flotilla/apimachinery";
import type { ResourceBinding, Work } from "@flotilla/karmada";
import type { DeepReadonly } from "@flotilla/base";
import type { StatusItem } from "@flotilla/kubernetes";
import { isJob, planJob } from "./plan-job.ts";
import { recordedItems } from "./job-record.ts";

/** Completions that no member has done or runs: without them, a Job would be complete before its last ones have run. */
const PENDING: StatusItem = { clusterName: "", status: {} };

export function jobItems(
  binding: DeepReadonly<ResourceBinding>,
  template: DeepReadonly<KubernetesObject>,
  works: readonly DeepReadonly<Work>[],
  now: string,
): StatusItem[] {
  if (!isJob(template)) return [];
  const { record, missing } = planJob(binding, template, works, now);
  return missing > 0 ? [...recordedItems(record), PENDING] : recordedItems(record);
}
