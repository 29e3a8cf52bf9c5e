/**
 * Deletes finished Jobs after `ttlSecondsAfterFinished`, together with their pods.
 *
 * Reads: Job.
 * Writes: Job (deletions).
 */
import { Job } from "./job-kind.ts";
import type { ObjectKey } from "@flotilla/client";
import { defineKeyedController, done, idOfKey, keyOf, unlessChanged, watch } from "@flotilla/controller-runtime";
import type { Controller } from "@flotilla/controller-runtime";
import type { WorkloadDependencies } from "../workloads/dependencies.ts";
import { conditionOf } from "./plan-job.ts";
import type { ReadonlyJob } from "./job-pods.ts";
import { timeMs } from "../pod/pod-state.ts";

export function createFinishedJobController({ client, informers, clock }: WorkloadDependencies): Controller<ObjectKey> {
  const jobs = informers.of(Job);
  return defineKeyedController<ObjectKey>({
    name: "ttl-after-finished",
    writes: [Job],
    sources: [
      watch(Job, ({ cluster, object, deleted }) =>
        !deleted && expiresAtMs(object) !== undefined ? [keyOf(cluster, object)] : [],
      ),
    ],
    idOf: idOfKey,
    async reconcile(key, { signal }) {
      const job = jobs.get(key);
      const atMs = job && expiresAtMs(job);
      if (!job || atMs === undefined) return done;
      const leftMs = atMs - clock.now();
      if (leftMs > 0) return { requeueAfterMs: leftMs };
      const { uid = "", resourceVersion = "" } = job.metadata;
      // The precondition respects a TTL that was extended in the meantime.
      await unlessChanged(
        client.delete(Job, key, { propagationPolicy: "Foreground", preconditions: { uid, resourceVersion }, signal }),
      );
      return done;
    },
  });
}

/** Undefined for a Job that stays. */
function expiresAtMs(job: ReadonlyJob): number | undefined {
  const { metadata, spec } = job;
  const finished = conditionOf(job, "Complete") ?? conditionOf(job, "Failed");
  if (spec?.ttlSecondsAfterFinished === undefined || !finished || metadata.deletionTimestamp) return undefined;
  return timeMs(finished.lastTransitionTime) + spec.ttlSecondsAfterFinished * 1000;
}
