/**
 * Pods that still have the finalizer of a Job that no longer counts them: the Job was deleted, has finished, or
 * released them. Without this controller they could never be deleted.
 *
 * Reads: Pod, Job.
 * Writes: Pod (its finalizers).
 */
import { Job } from "./job-kind.ts";
import { Pod } from "../pod/pod-kind.ts";
import { controllerOf, parseApiVersion } from "@flotilla/apimachinery";
import type { ObjectKey } from "@flotilla/client";
import { defineKeyedController, done, idOfKey, keyOf, unlessChanged, watch } from "@flotilla/controller-runtime";
import type { Controller } from "@flotilla/controller-runtime";
import type { WorkloadDependencies } from "../workloads/dependencies.ts";
import { ownedBy } from "../workloads/ownership.ts";
import type { ReadonlyPod } from "../pod/pod-state.ts";
import { isManagedElsewhere, withoutFinalizer } from "./job-controller.ts";
import { isFinished } from "./plan-job.ts";
import { isTracked } from "./job-pods.ts";

export function createJobOrphanController({ client, informers }: WorkloadDependencies): Controller<ObjectKey> {
  const pods = informers.of(Pod);
  const jobs = informers.of(Job);
  return defineKeyedController<ObjectKey>({
    name: "job-orphans",
    writes: [Pod],
    sources: [
      watch(Pod, ({ cluster, object, deleted }) =>
        !deleted && isTracked(object) && !isCounted(cluster, object) ? [keyOf(cluster, object)] : [],
      ),
      watch(Job, ({ cluster, object, deleted }) =>
        deleted || isFinished(object)
          ? ownedBy(pods, cluster, object.metadata.uid)
              .filter(isTracked)
              .map((pod) => keyOf(cluster, pod))
          : [],
      ),
    ],
    idOf: idOfKey,
    async reconcile(key, { signal }) {
      const pod = pods.get(key);
      if (pod && isTracked(pod) && !isCounted(key.cluster, pod))
        await unlessChanged(client.update(Pod, key.cluster, withoutFinalizer(pod), { signal }));
      return done;
    },
  });

  /** Whether a Job, managed here or elsewhere, still has to count the pod. */
  function isCounted(cluster: string, { metadata }: ReadonlyPod): boolean {
    const owner = controllerOf({ apiVersion: "v1", kind: Pod.kind, metadata });
    if (!owner) return false;
    if (owner.kind !== Job.kind || parseApiVersion(owner.apiVersion).group !== Job.group) return true;
    const job = jobs.get({ cluster, name: owner.name, namespace: metadata.namespace || undefined });
    return job?.metadata.uid === owner.uid && (isManagedElsewhere(job) || !isFinished(job));
  }
}
