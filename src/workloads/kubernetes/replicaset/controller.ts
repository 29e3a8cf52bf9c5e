/**
 * ReplicaSet: keeps as many pods of one template as its spec asks for.
 *
 * Reads:  ReplicaSet, its pods, the pods of its siblings (for whom to delete).
 * Writes: Pod (create, delete, adopt, release), ReplicaSet status.
 * Before: the Deployment controller sets `spec.replicas`. After: placement binds the pods, the kubelet runs them.
 */
import { Pod, ReplicaSet, controllerOf, controllerReference } from "../../../api/index.ts";
import { equalJson, messageOf, randomSuffix } from "../../../base/index.ts";
import type { DeepReadonly } from "../../../base/index.ts";
import type { ObjectKey } from "../../../client/index.ts";
import { defineController, done, idOfKey, keyOf, owned } from "../../../runtime/index.ts";
import type { Controller } from "../../../runtime/index.ts";
import { STATUS_DELAY_MS } from "../../dependencies.ts";
import type { WorkloadDependencies } from "../../dependencies.ts";
import { createExpectations } from "../../expectations.ts";
import type { Owner } from "../../expectations.ts";
import { unlessChanged } from "../../optimistic.ts";
import { adopted, orphansOf, ownedBy } from "../../ownership.ts";
import { selectorOf } from "../../selector.ts";
import { createStatusDelay } from "../../status-delay.ts";
import { writeAll } from "../../write-all.ts";
import { isActive, nextAvailableInMs } from "../pod.ts";
import type { ReadonlyPod } from "../pod.ts";
import { planReplicaSetStatus, planReplicas } from "./plan.ts";
import type { ReadonlyReplicaSet, ReplicasPlan } from "./plan.ts";

export function createReplicaSetController(deps: WorkloadDependencies): Controller<ObjectKey> {
  const { client, informers, clock, random } = deps;
  const pods = informers.of(Pod);
  const replicaSets = informers.of(ReplicaSet);
  const expectations = createExpectations(pods, clock);
  const statusDelay = createStatusDelay(clock, deps.statusDelayMs ?? STATUS_DELAY_MS);

  return defineController({
    name: "replicaset",
    for: ReplicaSet,
    watches: [owned(Pod)],
    writes: [Pod, ReplicaSet],

    async reconcile(replicaSet, { key, log, signal }) {
      // The server's garbage collection removes the pods of a ReplicaSet that goes.
      if (replicaSet.metadata.deletionTimestamp) return done;
      const owner = { cluster: key.cluster, uid: replicaSet.metadata.uid ?? "" };
      const waitMs = expectations.waitMs(owner);
      if (waitMs > 0) return { requeueAfterMs: waitMs };

      const orphans = orphansOf(pods, key.cluster, key.namespace, selectorOf(replicaSet)).filter(isActive);
      if (orphans.length > 0) {
        await writeAll("pod adoptions", orphans, async (pod) => {
          const taken = await unlessChanged(client.update(Pod, key.cluster, adopted(pod, replicaSet), { signal }));
          if (taken) expectations.wrote(owner, taken);
        });
        log.info("pods adopted", { pods: orphans.length });
        return done; // They come back as pods of this ReplicaSet.
      }
      const plan = planReplicas(replicaSet, ownedBy(pods, key.cluster, owner.uid), siblingPods(key.cluster, replicaSet));
      if (plan.create + plan.remove.length + plan.release.length > 0) {
        await carryOut(replicaSet, plan, owner, key, signal);
        log.info("replicas changed", { created: plan.create, deleted: plan.remove.length, released: plan.release.length });
        return done; // The pods' own changes bring this ReplicaSet back.
      }
      return writeStatus(replicaSet, plan.active, key, signal);
    },
    forget: (key) => statusDelay.settled(idOfKey(key)),
  });

  function siblingPods(cluster: string, replicaSet: ReadonlyReplicaSet): ReadonlyPod[] {
    const owner = controllerOf(replicaSet);
    if (!owner) return [];
    return ownedBy(replicaSets, cluster, owner.uid)
      .filter(({ metadata }) => metadata.uid !== replicaSet.metadata.uid)
      .flatMap(({ metadata }) => ownedBy(pods, cluster, metadata.uid));
  }

  async function carryOut(replicaSet: ReadonlyReplicaSet, plan: ReplicasPlan, owner: Owner, key: ObjectKey, signal: AbortSignal): Promise<void> {
    const { cluster } = key;
    try {
      await writeAll("pod creations", Array.from({ length: plan.create }, () => makePod(replicaSet, randomSuffix(random))), async (pod) => {
        expectations.wrote(owner, await client.create(Pod, cluster, pod, { signal }));
      });
    } catch (error) {
      const status = planReplicaSetStatus(replicaSet, plan.active, clock.now(), { reason: "FailedCreate", message: messageOf(error) });
      if (!equalJson(status, replicaSet.status)) await unlessChanged(client.updateStatus(ReplicaSet, cluster, { ...replicaSet, status }, { signal }));
      throw error;
    }
    await writeAll("pod deletions", plan.remove, async (pod) => {
      await unlessChanged(client.delete(Pod, keyOf(cluster, pod), { preconditions: { uid: pod.metadata.uid ?? "" }, signal }));
      expectations.deleted(owner, pod);
    });
    await writeAll("pod releases", plan.release, async (pod) => {
      const ownerReferences = pod.metadata.ownerReferences?.filter(({ uid }) => uid !== owner.uid) ?? [];
      const released = await unlessChanged(client.update(Pod, cluster, { ...pod, metadata: { ...pod.metadata, ownerReferences } }, { signal }));
      if (released) expectations.wrote(owner, released);
    });
  }

  async function writeStatus(replicaSet: ReadonlyReplicaSet, active: readonly ReadonlyPod[], key: ObjectKey, signal: AbortSignal): Promise<{ requeueAfterMs?: number }> {
    const status = planReplicaSetStatus(replicaSet, active, clock.now());
    const availableInMs = nextAvailableInMs(active, replicaSet.spec.minReadySeconds ?? 0, clock.now());
    const again = availableInMs === undefined ? done : { requeueAfterMs: availableInMs };
    if (equalJson(status, replicaSet.status)) {
      statusDelay.settled(idOfKey(key));
      return again;
    }
    const waitMs = statusDelay.waitMs(idOfKey(key));
    if (waitMs > 0) return { requeueAfterMs: waitMs };
    await unlessChanged(client.updateStatus(ReplicaSet, key.cluster, { ...replicaSet, status }, { signal }));
    statusDelay.settled(idOfKey(key));
    return again;
  }
}

function makePod(replicaSet: ReadonlyReplicaSet, suffix: string): DeepReadonly<Pod> {
  const { name, namespace } = replicaSet.metadata;
  const { metadata, spec } = replicaSet.spec.template ?? {};
  return {
    apiVersion: "v1",
    kind: "Pod",
    metadata: {
      name: `${name}-${suffix}`,
      generateName: `${name}-`,
      ...(namespace && { namespace }),
      ...(metadata?.labels && { labels: metadata.labels }),
      ...(metadata?.annotations && { annotations: metadata.annotations }),
      ...(metadata?.finalizers && { finalizers: metadata.finalizers }),
      ownerReferences: [controllerReference(replicaSet)],
    },
    spec: spec ?? { containers: [] },
  };
}
