/**
 * Deployment: rolls pods from one template to the next by scaling one ReplicaSet up and the others down.
 *
 * Reads: Deployment, its ReplicaSets, whether they have pods (for Recreate).
 * Writes: ReplicaSet (create, size, history), Deployment (status, and with it the revision annotation).
 * After: the ReplicaSet controller creates the pods; its status triggers the next step of the Deployment.
 */
import { Deployment } from "./deployment-kind.ts";
import { Pod } from "../pod/pod-kind.ts";
import { ReplicaSet } from "../replicaset/replicaset-kind.ts";
import { equalJson, messageOf } from "@flotilla/base";
import type { ObjectKey } from "@flotilla/client";
import { isAlreadyExists } from "@flotilla/apimachinery";
import { defineController, done, idOfKey, keyOf, owned, unlessChanged, watch } from "@flotilla/controller-runtime";
import type { Controller, Result } from "@flotilla/controller-runtime";
import { STATUS_DELAY_MS } from "../workloads/dependencies.ts";
import type { WorkloadDependencies } from "../workloads/dependencies.ts";
import { createExpectations } from "../workloads/expectations.ts";
import type { Owner } from "../workloads/expectations.ts";
import { adopted, orphansOf, ownedBy } from "../workloads/ownership.ts";
import { selectorOf } from "../workloads/selector.ts";
import { createStatusDelay } from "../workloads/status-delay.ts";
import { writeAll } from "../workloads/write-all.ts";
import { orphaned } from "../pod/orphaned-pods.ts";
import type { ReadonlyReplicaSet } from "../replicaset/plan-replicaset.ts";
import { REVISION_ANNOTATION, newestAnnotations, replicasOf, revisionOf, scaleAnnotations } from "./replica-sets.ts";
import type { ReadonlyDeployment } from "./replica-sets.ts";
import { planCleanup, planRollout } from "./rollout.ts";
import type { RolloutPlan } from "./rollout.ts";
import { createFailedStatus, deploymentDeadlineInMs, planDeploymentStatus } from "./deployment-status.ts";

export function createDeploymentController(deps: WorkloadDependencies): Controller<ObjectKey> {
  const { client, informers, clock } = deps;
  const replicaSets = informers.of(ReplicaSet);
  const pods = informers.of(Pod);
  const expectations = createExpectations(replicaSets, clock);
  const statusDelay = createStatusDelay(clock, deps.statusDelayMs ?? STATUS_DELAY_MS);
  const events = deps.events?.("deployment-controller");

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
      const waitMs = expectations.waitMs(owner);
      if (waitMs > 0) return { requeueAfterMs: waitMs };

      const orphans = orphansOf(replicaSets, key.cluster, key.namespace, selector);
      if (orphans.length > 0) {
        await writeAll("ReplicaSet adoptions", orphans, async (set) => {
          const taken = await unlessChanged(
            client.update(ReplicaSet, key.cluster, adopted(set, deployment), { signal }),
          );
          if (taken) expectations.wrote(owner, taken);
        });
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
        await create(deployment, plan.create, owner, signal);
        log.info("rollout started", { replicaSet: plan.create.metadata.name, revision: String(plan.revision) });
        return done;
      }
      const changes = sets.flatMap((set) => resized(deployment, set, plan));
      if (changes.length > 0) {
        await writeAll("ReplicaSet updates", changes, async (set) => {
          const written = await unlessChanged(client.update(ReplicaSet, key.cluster, set, { signal }));
          if (!written) return;
          expectations.wrote(owner, written);
          recordScaleEvent(
            key.cluster,
            deployment,
            set.metadata.name,
            replicasOf(sets.find(({ metadata }) => metadata.uid === set.metadata.uid) ?? set),
            replicasOf(set),
          );
        });
        log.info("rollout moved", { sizes: Object.fromEntries(plan.sizes) });
        return done;
      }
      return settle(deployment, plan, key, signal);
    },
    forget: (key) => statusDelay.settled(idOfKey(key)),
  });

  function recordScaleEvent(
    cluster: string,
    deployment: ReadonlyDeployment,
    replicaSet: string,
    from: number,
    to: number,
  ): void {
    if (from === to) return;
    events?.record(cluster, deployment, {
      type: "Normal",
      reason: "ScalingReplicaSet",
      message: `Scaled ${from < to ? "up" : "down"} replica set ${replicaSet} from ${from} to ${to}`,
    });
  }

  function recreatedBy(cluster: string, replicaSet: string | undefined, namespace: string | undefined): ObjectKey[] {
    const set = replicaSet && namespace ? replicaSets.get({ cluster, namespace, name: replicaSet }) : undefined;
    const name = set?.metadata.ownerReferences?.find(
      ({ kind, controller }) => controller && kind === Deployment.kind,
    )?.name;
    const key = name && namespace ? { cluster, namespace, name } : undefined;
    return key && informers.of(Deployment).get(key)?.spec.strategy?.type === "Recreate" ? [key] : [];
  }

  async function create(
    deployment: ReadonlyDeployment,
    set: ReadonlyReplicaSet,
    owner: Owner,
    signal: AbortSignal,
  ): Promise<void> {
    try {
      expectations.wrote(owner, await client.create(ReplicaSet, owner.cluster, set, { signal }));
      recordScaleEvent(owner.cluster, deployment, set.metadata.name, 0, replicasOf(set));
    } catch (error) {
      if (!isAlreadyExists(error)) {
        const message = `Failed to create new replica set "${set.metadata.name}": ${messageOf(error)}`;
        events?.record(owner.cluster, deployment, { type: "Warning", reason: "ReplicaSetCreateError", message });
        await unlessChanged(
          client.updateStatus(
            Deployment,
            owner.cluster,
            { ...deployment, status: createFailedStatus(deployment, message, clock.now()) },
            { signal },
          ),
        );
        throw error;
      }
      // A hash collision with another template, or a ReplicaSet of another owner: the next attempt uses another name.
      const collisionCount = (deployment.status?.collisionCount ?? 0) + 1;
      await unlessChanged(
        client.updateStatus(
          Deployment,
          owner.cluster,
          { ...deployment, status: { ...deployment.status, collisionCount } },
          { signal },
        ),
      );
    }
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
        : { ...deployment.metadata.annotations, [REVISION_ANNOTATION]: String(plan.revision) };
      await unlessChanged(
        client.updateStatus(
          Deployment,
          key.cluster,
          { ...deployment, metadata: { ...deployment.metadata, ...(annotations && { annotations }) }, status },
          { signal },
        ),
      );
    }
    statusDelay.settled(idOfKey(key));
    const isComplete =
      (status.updatedReplicas ?? 0) === replicasOf(deployment) && (status.replicas ?? 0) === replicasOf(deployment);
    if (isComplete || deployment.spec.paused) {
      await writeAll("ReplicaSet deletions", planCleanup(deployment, plan.old), async (set) => {
        await unlessChanged(
          client.delete(ReplicaSet, keyOf(key.cluster, set), {
            preconditions: { uid: set.metadata.uid ?? "" },
            signal,
          }),
        );
      });
    }
    return again;
  }
}

/** The ReplicaSet with the planned size, or undefined if it is correct. */
function resized(deployment: ReadonlyDeployment, set: ReadonlyReplicaSet, plan: RolloutPlan): ReadonlyReplicaSet[] {
  const size = plan.sizes.get(set.metadata.name) ?? replicasOf(set);
  const isNew = set === plan.newReplicaSet;
  const annotations = isNew
    ? newestAnnotations(deployment, set.metadata.annotations ?? {}, plan.revision)
    : { ...set.metadata.annotations };
  if (size > 0) Object.assign(annotations, scaleAnnotations(deployment, plan.maxReplicas));
  const minReadySeconds = isNew ? (deployment.spec.minReadySeconds ?? 0) : (set.spec.minReadySeconds ?? 0);
  const isRight =
    size === replicasOf(set) &&
    minReadySeconds === (set.spec.minReadySeconds ?? 0) &&
    equalJson(annotations, set.metadata.annotations ?? {});
  if (isRight) return [];
  return [
    {
      ...set,
      metadata: { ...set.metadata, annotations },
      spec: {
        ...set.spec,
        replicas: size,
        ...((set.spec.minReadySeconds ?? 0) !== minReadySeconds && { minReadySeconds }),
      },
    },
  ];
}
