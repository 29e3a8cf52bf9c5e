/**
 * Rollout: releases a changed template of a workload step by step, on one cluster.
 *
 * Reads: Rollout, its workload and that workload's Pods, BatchRelease.
 * Writes: the status of Rollouts; their BatchReleases; the annotation of a workload that is being released.
 * Before: the webhook holds a changed workload back. After: the controller of BatchReleases updates its pods.
 */
import { controllerReference } from "@flotilla/apimachinery";
import { equalJson } from "@flotilla/base";
import type { DeepReadonly } from "@flotilla/base";
import type { ObjectKey } from "@flotilla/client";
import { defineController, done, keyOf, unlessChanged, watch } from "@flotilla/controller-runtime";
import type { Controller, Result } from "@flotilla/controller-runtime";
import { ownedBy, Pod } from "@flotilla/kubernetes";
import type { WorkloadDependencies } from "@flotilla/kubernetes";
import { BatchRelease } from "../batchrelease/batchrelease-kind.ts";
import { isTerminated, planRollout } from "./plan-rollout.ts";
import type { RolloutPlan } from "./plan-rollout.ts";
import { readWorkload, releasedKind, RELEASED_KINDS } from "../released-workload/released-workload.ts";
import { Rollout } from "./rollout-kind.ts";
import { IN_PROGRESSING, ROLLOUT_FINALIZER } from "../released-workload/rollout-names.ts";
import { workloadId } from "../released-workload/workload-id.ts";

const BY_WORKLOAD = "rollout-workload";

export function createRolloutController(deps: WorkloadDependencies): Controller<ObjectKey> {
  const { client, informers, clock } = deps;
  const rollouts = informers.of(Rollout);
  const releases = informers.of(BatchRelease);
  const pods = informers.of(Pod);
  const events = deps.events?.("rollout-controller");
  rollouts.addIndex(BY_WORKLOAD, ({ metadata, spec }, cluster) => [
    workloadId(cluster, metadata.namespace, spec.workloadRef),
  ]);

  async function carryOut(rollout: DeepReadonly<Rollout>, key: ObjectKey, signal: AbortSignal): Promise<RolloutPlan> {
    const { cluster, namespace } = key;
    const { workloadRef } = rollout.spec;
    const kind = releasedKind(workloadRef);
    const object = kind && informers.of(kind).get({ cluster, namespace, name: workloadRef.name });
    const batch = releases.get(key);
    const plan = planRollout({
      rollout,
      workload: object && readWorkload(object, ownedBy(pods, cluster, object.metadata.uid)),
      batch,
      nowMs: clock.now(),
    });
    if (kind && object && plan.releasesWorkload) {
      const patch = { metadata: { annotations: { [IN_PROGRESSING]: null } } };
      await unlessChanged(client.patch(kind, keyOf(cluster, object), patch, { type: "merge", signal }));
    }
    await writeBatch(rollout, batch, plan, key, signal);
    if (plan.event !== undefined)
      events?.record(cluster, rollout, { type: "Normal", reason: "Progressing", message: plan.event });
    if (!equalJson(plan.status, rollout.status ?? {}))
      await unlessChanged(client.updateStatus(Rollout, cluster, { ...rollout, status: plan.status }, { signal }));
    return plan;
  }

  async function writeBatch(
    rollout: DeepReadonly<Rollout>,
    batch: DeepReadonly<BatchRelease> | undefined,
    { batch: wanted }: RolloutPlan,
    key: ObjectKey,
    signal: AbortSignal,
  ): Promise<void> {
    if (wanted === undefined) return;
    if (wanted === "absent") {
      if (batch && batch.metadata.deletionTimestamp === undefined)
        await unlessChanged(client.delete(BatchRelease, key, { preconditions: { uid: batch.metadata.uid }, signal }));
      return;
    }
    const { spec, annotations } = wanted;
    if (!batch) {
      const metadata = {
        name: key.name,
        namespace: key.namespace,
        annotations,
        ownerReferences: [controllerReference(rollout)],
      };
      const release = { apiVersion: "rollouts.kruise.io/v1beta1", kind: "BatchRelease", metadata, spec };
      await client.create(BatchRelease, key.cluster, release, { signal });
    } else if (
      batch.metadata.deletionTimestamp === undefined &&
      !(equalJson(batch.spec, spec) && equalJson(batch.metadata.annotations ?? {}, annotations ?? {}))
    )
      await unlessChanged(
        client.update(
          BatchRelease,
          key.cluster,
          { ...batch, metadata: { ...batch.metadata, annotations }, spec },
          { signal },
        ),
      );
  }

  const resultOf = ({ requeueAfterMs }: RolloutPlan): Result =>
    requeueAfterMs === undefined ? done : { requeueAfterMs: Math.max(1, requeueAfterMs) };

  return defineController({
    name: "rollout-steps",
    for: Rollout,
    watches: [
      watch(BatchRelease, ({ cluster, object }) => [keyOf(cluster, object)]),
      ...RELEASED_KINDS.map((kind) =>
        watch(kind, ({ cluster, object }) =>
          rollouts
            .by(
              BY_WORKLOAD,
              workloadId(cluster, object.metadata.namespace, {
                apiVersion: object.apiVersion,
                kind: object.kind,
                name: object.metadata.name,
              }),
            )
            .map((rollout) => keyOf(cluster, rollout)),
        ),
      ),
    ],
    writes: [Rollout, BatchRelease, ...RELEASED_KINDS],
    finalizer: ROLLOUT_FINALIZER,

    reconcile: async (rollout, { key, signal }) => resultOf(await carryOut(rollout, key, signal)),
    async finalize(rollout, { key, signal }) {
      const plan = await carryOut(rollout, key, signal);
      return isTerminated(plan.status) ? done : { requeueAfterMs: 1_000 };
    },
  });
}
