/**
 * ManifestWorks that are complete and have a `ttlSecondsAfterFinished`: they are deleted after that time, with their
 * objects.
 *
 * Reads: ManifestWork.
 * Writes: deletes ManifestWorks, except those of a ManifestWorkReplicaSet, which manages its own.
 */
import { ManifestWork, REPLICA_SET_LABEL } from "@flotilla/ocm";
import type { Clock, DeepReadonly } from "@flotilla/base";
import type { Client, ObjectKey } from "@flotilla/client";
import { findCondition } from "@flotilla/apimachinery";
import { defineController, done, unlessChanged } from "@flotilla/controller-runtime";
import type { Controller } from "@flotilla/controller-runtime";

export function createWorkTtlController({ client, clock }: { client: Client; clock: Clock }): Controller<ObjectKey> {
  return defineController({
    name: "ocm-work-ttl",
    for: ManifestWork,
    writes: [ManifestWork],

    async reconcile(work, { key, log, signal }) {
      const leftMs = timeLeftMs(work, clock.now());
      if (leftMs === undefined) return done;
      if (leftMs > 0) return { requeueAfterMs: leftMs };
      const { uid, resourceVersion } = work.metadata;
      await unlessChanged(
        client.delete(ManifestWork, key, {
          preconditions: { uid: uid || undefined, resourceVersion: resourceVersion || undefined },
          signal,
        }),
      );
      log.info("finished work deleted", { work: `${key.namespace}/${key.name}` });
      return done;
    },
  });
}

/** Undefined for a work that is not deleted. */
function timeLeftMs({ metadata, spec, status }: DeepReadonly<ManifestWork>, nowMs: number): number | undefined {
  const ttlSeconds = spec.deleteOption?.ttlSecondsAfterFinished;
  if (metadata.deletionTimestamp || ttlSeconds === undefined || metadata.labels?.[REPLICA_SET_LABEL] !== undefined)
    return undefined;
  const complete = findCondition(status?.conditions, "Complete");
  if (complete?.status !== "True") return undefined;
  return Math.max(0, Date.parse(complete.lastTransitionTime) + ttlSeconds * 1000 - nowMs);
}
