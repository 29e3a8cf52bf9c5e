/**
 * Deployment: rolls pods from one template to the next by scaling one ReplicaSet up and the others down.
 *
 * Reads: Deployment, its ReplicaSets, whether they have pods (for Recreate).
 * Writes: ReplicaSet (create, size, history), Deployment (status, and with it the revision annotation).
 * After: the ReplicaSet controller creates the pods; its status triggers the next step of the Deployment.
 */
import { DEPLOYMENT_REVISION_ANNOTATION } from "../well-known-names.ts";
import { Deployment } from "./deployment-kind.ts";
import { Pod } from "../pod/pod-kind.ts";
import { ReplicaSet } from "../replicaset/replicaset-kind.ts";
import { equalJson, omitZero } from "@flotilla/base";
import type { ObjectKey } from "@flotilla/client";
import { defineController, done, idOfKey, owned, unlessChanged, watch } from "@flotilla/controller-runtime";
import type { Controller, Result } from "@flotilla/controller-runtime";
import { STATUS_DELAY_MS } from "../workloads/dependencies.ts";
import type { WorkloadDependencies } from "../workloads/dependencies.ts";
import { orphansOf, ownedBy } from "../workloads/ownership.ts";
import { selectorOf } from "../workloads/selector.ts";
import { createStatusDelay } from "../workloads/status-delay.ts";
import { orphaned } from "../pod/orphaned-pods.ts";
import type { ReadonlyReplicaSet } from "../replicaset/plan-replicaset.ts";
import { createReplicaSetWriter } from "./replica-set-writer.ts";
import { replicasOf, revisionOf } from "./replica-sets.ts";
import type { ReadonlyDeployment } from "./replica-sets.ts";
import { planCleanup, planResizes, planRollout } from "./rollout.ts";
import type { RolloutPlan } from "./rollout.ts";
import { deploymentDeadlineInMs, planDeploymentStatus } from "./deployment-status.ts";

export function createDeploymentController(deps: WorkloadDependencies): Controller<ObjectKey> {
  const { client, informers, clock } = deps;
  const replicaSets = informers.of(ReplicaSet);
  const pods = informers.of(Pod);
  const statusDelay = createStatusDelay(clock, deps.statusDelayMs ?? STATUS_DELAY_MS);
  const writer = createReplicaSetWriter(deps);

  return defineController({
    name: "deployment",
    for: Deployment,
    watches: [
      owned(ReplicaSet),
      orphaned(informers, ReplicaSet, Deployment),
      // Recreate waits until the last old pod is removed, which no ReplicaSet reports.
      watch(Pod, ({ cluster, object, deleted }) =>
        deleted ? recreatedBy(cluster, object.metadata.ownerReferences?.[0]?.name, object.metadata.namespace) : [],
      ),
    ],
    writes: [ReplicaSet, Deployment],

    async reconcile(deployment, { key, log, signal }) {
      // The server's garbage collector deletes the ReplicaSets of a deleted Deployment.
      if (deployment.metadata.deletionTimestamp) return done;
      // Throws for a selector that does not match the template: its pods could never be found again.
      const selector = selectorOf(deployment);
      const owner = { cluster: key.cluster, uid: deployment.metadata.uid ?? "" };
      const target = { owner, signal };
      const waitMs = writer.waitMs(owner);
      if (waitMs > 0) return { requeueAfterMs: waitMs };

      const orphans = orphansOf(replicaSets, key.cluster, key.namespace, selector);
      if (orphans.length > 0) {
        await writer.adopt(deployment, orphans, target);
        log.info("ReplicaSets adopted", { replicaSets: orphans.length });
        return done;
      }
      // A terminating ReplicaSet still counts: its pods exist, and its name is taken until it is removed.
      const sets = ownedBy(replicaSets, key.cluster, owner.uid);
      const hasPods = ({ metadata }: ReadonlyReplicaSet): boolean =>
        ownedBy(pods, key.cluster, metadata.uid).some(
          ({ status }) => status?.phase !== "Succeeded" && status?.phase !== "Failed",
        );
      const plan = planRollout({ deployment, replicaSets: sets, hasPods });
      if (plan.create) {
        await writer.create(deployment, plan.create, target);
        log.info("rollout started", { replicaSet: plan.create.metadata.name, revision: String(plan.revision) });
        return done;
      }
      const resizes = planResizes(deployment, sets, plan);
      if (resizes.length > 0) {
        await writer.resize(deployment, resizes, target);
        log.info("rollout moved", { sizes: Object.fromEntries(plan.sizes) });
        return done;
      }
      return settle(deployment, plan, key, signal);
    },
    forget: (key) => statusDelay.settled(idOfKey(key)),
  });

  function recreatedBy(cluster: string, replicaSet: string | undefined, namespace: string | undefined): ObjectKey[] {
    const set = replicaSet && namespace ? replicaSets.get({ cluster, namespace, name: replicaSet }) : undefined;
    const name = set?.metadata.ownerReferences?.find(
      ({ kind, controller }) => controller && kind === Deployment.kind,
    )?.name;
    const key = name && namespace ? { cluster, namespace, name } : undefined;
    return key && informers.of(Deployment).get(key)?.spec.strategy?.type === "Recreate" ? [key] : [];
  }

  /** The rollout has nothing to do in this step: writes status and history. */
  async function settle(
    deployment: ReadonlyDeployment,
    plan: RolloutPlan,
    key: ObjectKey,
    signal: AbortSignal,
  ): Promise<Result> {
    const status = planDeploymentStatus(deployment, plan.newReplicaSet, plan.old, clock.now());
    const deadlineMs = deploymentDeadlineInMs(deployment, status, clock.now());
    const again = deadlineMs === undefined ? done : { requeueAfterMs: deadlineMs };
    const hasRevision = !plan.newReplicaSet || revisionOf(deployment) === plan.revision;
    if (!equalJson(status, deployment.status) || !hasRevision) {
      const waitMs = statusDelay.waitMs(idOfKey(key));
      if (waitMs > 0) return { requeueAfterMs: waitMs };
      // The revision is written with the status, as in upstream: a separate update would count as a new generation.
      const annotations = hasRevision
        ? deployment.metadata.annotations
        : { ...deployment.metadata.annotations, [DEPLOYMENT_REVISION_ANNOTATION]: String(plan.revision) };
      await unlessChanged(
        client.updateStatus(
          Deployment,
          key.cluster,
          { ...deployment, metadata: { ...deployment.metadata, ...omitZero({ annotations }) }, status },
          { signal },
        ),
      );
    }
    statusDelay.settled(idOfKey(key));
    const isComplete =
      (status.updatedReplicas ?? 0) === replicasOf(deployment) && (status.replicas ?? 0) === replicasOf(deployment);
    if (isComplete || deployment.spec.paused)
      await writer.remove(planCleanup(deployment, plan.old), key.cluster, signal);
    return again;
  }
}
