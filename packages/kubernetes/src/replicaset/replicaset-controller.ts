/**
 * ReplicaSet, and ReplicationController, which is the same under an older name: maintains the desired number of pods of
 * one template.
 *
 * Reads: ReplicaSet or ReplicationController, its pods, the pods of its siblings (to choose deletions).
 * Writes: Pod (create, delete, adopt, release), its own status.
 * Before: the Deployment controller sets `spec.replicas`. After: placement binds the pods, the kubelet runs them.
 */
import { Pod } from "../pod/pod-kind.ts";
import { ReplicaSet } from "./replicaset-kind.ts";
import { controllerOf } from "@flotilla/apimachinery";
import type { Kind, KubernetesObject } from "@flotilla/apimachinery";
import { equalJson } from "@flotilla/base";
import type { DeepReadonly } from "@flotilla/base";
import type { ObjectKey } from "@flotilla/client";
import { defineController, done, idOfKey, owned, unlessChanged } from "@flotilla/controller-runtime";
import type { Controller, Result } from "@flotilla/controller-runtime";
import { STATUS_DELAY_MS } from "../workloads/dependencies.ts";
import type { WorkloadDependencies } from "../workloads/dependencies.ts";
import { createExpectations } from "../workloads/expectations.ts";
import { orphansOf, ownedBy } from "../workloads/ownership.ts";
import { selectorOf } from "../workloads/selector.ts";
import { createStatusDelay } from "../workloads/status-delay.ts";
import { generatedPod } from "../pod/pod-from-template.ts";
import { orphanedPods } from "../pod/orphaned-pods.ts";
import { isActive, nextAvailableInMs } from "../pod/pod-state.ts";
import type { ReadonlyPod } from "../pod/pod-state.ts";
import { createPodWriter, failureMessage } from "../pod/pod-writer.ts";
import type { PodOwner } from "../pod/pod-writer.ts";
import { planReplicaSetStatus, planReplicas } from "./plan-replicaset.ts";
import type { ReadonlyReplicaSet, ReplicasPlan } from "./plan-replicaset.ts";
import { createUrgent } from "./urgent-replicasets.ts";

/** The differences between the two kinds. */
interface ReplicasKind<T extends KubernetesObject> {
  name: string;
  kind: Kind<T>;
  /** The source component of events. */
  component: string;
  asReplicaSet(object: DeepReadonly<T>): ReadonlyReplicaSet;
  countsTerminating: boolean;
}

export function createReplicaSetController(deps: WorkloadDependencies): Controller<ObjectKey> {
  return createReplicasController(deps, {
    name: "replicaset",
    kind: ReplicaSet,
    component: "replicaset-controller",
    asReplicaSet: (object) => object,
    countsTerminating: true,
  });
}

/** The controller of a kind that runs replicas of one template. */
export function createReplicasController<T extends KubernetesObject>(
  deps: WorkloadDependencies,
  given: ReplicasKind<T>,
): Controller<ObjectKey> {
  const { name, kind, component, asReplicaSet, countsTerminating } = given;
  const { client, informers, clock, random } = deps;
  const pods = informers.of(Pod);
  const replicaSets = informers.of(ReplicaSet);
  const expectations = createExpectations(pods, clock);
  const statusDelay = createStatusDelay(clock, deps.statusDelayMs ?? STATUS_DELAY_MS);
  const urgent = createUrgent(kind);
  const writer = createPodWriter({ client, expectations, events: deps.events?.(component) });

  return defineController({
    name,
    for: kind,
    watches: [...urgent.watches, owned(Pod), orphanedPods(informers, kind)],
    writes: [Pod, kind],

    async reconcile(object, { key, log, signal }) {
      // The server's garbage collector deletes the pods of a deleted set.
      if (object.metadata.deletionTimestamp) return done;
      const owner = { cluster: key.cluster, uid: object.metadata.uid ?? "" };
      const waitMs = expectations.waitMs(owner);
      if (waitMs > 0) return { requeueAfterMs: waitMs };
      const leftMs = urgent.has(key) ? 0 : statusDelay.leftMs(idOfKey(key));
      if (leftMs > 0) return { requeueAfterMs: leftMs };
      urgent.over(key);

      const replicaSet = asReplicaSet(object);
      const podOwner = { cluster: key.cluster, object };
      const orphans = orphansOf(pods, key.cluster, key.namespace, selectorOf(replicaSet)).filter(isActive);
      if (orphans.length > 0) {
        await writer.adopt(podOwner, orphans, signal);
        log.info("pods adopted", { pods: orphans.length });
        return done; // Adopted pods trigger the next reconcile.
      }
      const ours = ownedBy(pods, key.cluster, owner.uid);
      // Siblings matter only if there are too many pods.
      const siblings = ours.length > (replicaSet.spec.replicas ?? 1) ? siblingPods(key.cluster, replicaSet) : [];
      const plan = planReplicas(replicaSet, ours, siblings);
      if (plan.create + plan.remove.length + plan.release.length > 0) {
        await carryOut(object, plan, podOwner, signal);
        log.info("replicas changed", {
          created: plan.create,
          deleted: plan.remove.length,
          released: plan.release.length,
        });
        return done; // Changes of the pods trigger the next reconcile.
      }
      return settle(object, plan, key, signal);
    },
    forget(key) {
      statusDelay.settled(idOfKey(key));
      urgent.over(key);
    },
  });

  function siblingPods(cluster: string, replicaSet: ReadonlyReplicaSet): ReadonlyPod[] {
    const owner = controllerOf(replicaSet);
    if (!owner) return [];
    return ownedBy(replicaSets, cluster, owner.uid)
      .filter(({ metadata }) => metadata.uid !== replicaSet.metadata.uid)
      .flatMap(({ metadata }) => ownedBy(pods, cluster, metadata.uid));
  }

  async function carryOut(
    object: DeepReadonly<T>,
    plan: ReplicasPlan,
    podOwner: PodOwner,
    signal: AbortSignal,
  ): Promise<void> {
    const { template } = asReplicaSet(object).spec;
    try {
      await writer.create(
        podOwner,
        Array.from({ length: plan.create }, () => generatedPod(object, template, random)),
        signal,
      );
      await writer.remove(podOwner, plan.remove, signal);
    } catch (error) {
      const reason = plan.create > 0 ? "FailedCreate" : "FailedDelete";
      const status = planReplicaSetStatus(
        asReplicaSet(object),
        plan.active,
        clock.now(),
        { reason, message: failureMessage(error) },
        terminatingOf(plan),
      );
      if (!equalJson(status, statusOf(object)))
        await unlessChanged(client.updateStatus(kind, podOwner.cluster, { ...object, status }, { signal }));
      throw error;
    }
    await writer.release(podOwner, plan.release, signal);
  }

  async function settle(
    object: DeepReadonly<T>,
    plan: ReplicasPlan,
    key: ObjectKey,
    signal: AbortSignal,
  ): Promise<Result> {
    const replicaSet = asReplicaSet(object);
    const status = planReplicaSetStatus(replicaSet, plan.active, clock.now(), undefined, terminatingOf(plan));
    const availableInMs = nextAvailableInMs(plan.active, replicaSet.spec.minReadySeconds ?? 0, clock.now());
    const again = availableInMs === undefined ? done : { requeueAfterMs: availableInMs };
    if (equalJson(status, statusOf(object))) {
      statusDelay.settled(idOfKey(key));
      return again;
    }
    const waitMs = statusDelay.waitMs(idOfKey(key));
    if (waitMs > 0) return { requeueAfterMs: waitMs };
    await unlessChanged(client.updateStatus(kind, key.cluster, { ...object, status }, { signal }));
    statusDelay.settled(idOfKey(key));
    return again;
  }

  function terminatingOf({ terminating }: ReplicasPlan): number | undefined {
    return countsTerminating ? terminating : undefined;
  }

  function statusOf(object: DeepReadonly<T>): unknown {
    return asReplicaSet(object).status;
  }
}
