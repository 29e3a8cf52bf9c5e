/**
 * BatchRelease: updates a workload batch by batch.
 *
 * Reads: BatchRelease, its workload, the pods of the workload.
 * Writes: the status of BatchReleases; the partition and the control annotation of the workload; labels of its pods.
 * Before: the controller of Rollouts creates it and says how far it may go.
 */
import { controllerOf } from "@flotilla/apimachinery";
import { equalJson } from "@flotilla/base";
import type { DeepReadonly } from "@flotilla/base";
import type { ObjectKey } from "@flotilla/client";
import { defineController, done, keyOf, unlessChanged, watch } from "@flotilla/controller-runtime";
import type { Controller } from "@flotilla/controller-runtime";
import { ownedBy, Pod, writeAll } from "@flotilla/kubernetes";
import type { WorkloadDependencies } from "@flotilla/kubernetes";
import { readWorkload, releasedKind, RELEASED_KINDS } from "../released-workload/released-workload.ts";
import { ROLLOUT_BATCH_ID, ROLLOUT_ID } from "../released-workload/rollout-names.ts";
import { workloadId } from "../released-workload/workload-id.ts";
import { BatchRelease } from "./batchrelease-kind.ts";
import { planBatch } from "./plan-batch.ts";

const BY_WORKLOAD = "batch-release-workload";
const FINALIZER = "rollouts.kruise.io/batch-release-finalizer";
/** A workload whose newest spec is not observed yet. */
const WAIT_MS = 1_000;

export function createBatchReleaseController(deps: WorkloadDependencies): Controller<ObjectKey> {
  const { client, informers, clock } = deps;
  const releases = informers.of(BatchRelease);
  const pods = informers.of(Pod);
  releases.addIndex(BY_WORKLOAD, ({ metadata, spec }, cluster) =>
    spec.workloadRef ? [workloadId(cluster, metadata.namespace, spec.workloadRef)] : [],
  );
  const releasesOf = (
    cluster: string,
    namespace: string | undefined,
    ref: Parameters<typeof workloadId>[2],
  ): ObjectKey[] =>
    releases.by(BY_WORKLOAD, workloadId(cluster, namespace, ref)).map((release) => keyOf(cluster, release));

  async function carryOut(release: DeepReadonly<BatchRelease>, key: ObjectKey, signal: AbortSignal): Promise<boolean> {
    const { cluster, namespace } = key;
    const { workloadRef } = release.spec;
    const kind = workloadRef && releasedKind(workloadRef);
    const object = kind && workloadRef && informers.of(kind).get({ cluster, namespace, name: workloadRef.name });
    const own = object ? ownedBy(pods, cluster, object.metadata.uid) : [];
    const plan = planBatch({
      release,
      workload: object && readWorkload(object, own),
      pods: own,
      nowMs: clock.now(),
    });
    if (kind && object && plan.patch)
      await unlessChanged(client.patch(kind, keyOf(cluster, object), plan.patch, { type: "merge", signal }));
    await writeAll("pod labels", [...plan.labels], async ({ pod, batch }) => {
      const labels = { [ROLLOUT_ID]: release.spec.releasePlan.rolloutID ?? "", [ROLLOUT_BATCH_ID]: String(batch) };
      await unlessChanged(client.patch(Pod, keyOf(cluster, pod), { metadata: { labels } }, { type: "merge", signal }));
    });
    if (!equalJson(plan.status, release.status ?? {}))
      await unlessChanged(client.updateStatus(BatchRelease, cluster, { ...release, status: plan.status }, { signal }));
    return plan.status.phase === "Completed";
  }

  return defineController({
    name: "batchrelease",
    for: BatchRelease,
    watches: [
      watch(Pod, ({ cluster, object }) => {
        const owner = controllerOf(object);
        return owner ? releasesOf(cluster, object.metadata.namespace, owner) : [];
      }),
      ...RELEASED_KINDS.map((kind) =>
        watch(kind, ({ cluster, object }) =>
          releasesOf(cluster, object.metadata.namespace, {
            apiVersion: object.apiVersion,
            kind: object.kind,
            name: object.metadata.name,
          }),
        ),
      ),
    ],
    writes: [BatchRelease, Pod, ...RELEASED_KINDS],
    finalizer: FINALIZER,

    async reconcile(release, { key, signal }) {
      await carryOut(release, key, signal);
      return done;
    },
    async finalize(release, { key, signal }) {
      return (await carryOut(release, key, signal)) ? done : { requeueAfterMs: WAIT_MS };
    },
  });
}
