/**
 * Placement: assigns every pod of a simulated member to a node, as kube-scheduler does.
 *
 * Reads: Pod, Node, PersistentVolumeClaim, PersistentVolume, StorageClass, Namespace, PodDisruptionBudget.
 * Writes: Pod: `spec.nodeName` and the topology labels, in one write. If nothing fits: the condition PodScheduled=False
 * and `status.nominatedNodeName`, and deletes preemption victims. PersistentVolumeClaim: the node to bind it for.
 * After: the node's kubelet starts the pod, and sets PodScheduled with its first status.
 */
import { Namespace, Node, PersistentVolumeClaim, Pod, PodDisruptionBudget } from "@flotilla/kubernetes";
import type { DeepReadonly } from "@flotilla/base";
import type { ObjectKey } from "@flotilla/client";
import { defineKeyedController, done, idOfKey, informerSource, keyOf, watch } from "@flotilla/controller-runtime";
import type { Controller, Informers, ObjectEvent, Result } from "@flotilla/controller-runtime";
import type { VolumeReads } from "./volume-reads.ts";
import { planNode } from "./plan-node.ts";
import { createPlacementWriter } from "./placement-writer.ts";
import type { PlacementWriterDependencies } from "./placement-writer.ts";
import { podView } from "./pod-view.ts";
import { isOver } from "./views.ts";
import { volumeNeeds } from "./volume-needs.ts";
import { createWaiting } from "./waiting.ts";

type ReadonlyPod = DeepReadonly<Pod>;

export interface PlacementDependencies extends PlacementWriterDependencies {
  informers: Informers;
  volumes: VolumeReads;
}

const DEFAULT_SCHEDULER = "default-scheduler";
export function createPlacementController(deps: PlacementDependencies): Controller<ObjectKey> {
  const { informers, clock, views, volumes } = deps;
  const pods = informers.of(Pod);
  const namespaces = informers.of(Namespace);
  const budgets = informers.of(PodDisruptionBudget);
  const waiting = createWaiting(clock);
  const writer = createPlacementWriter(deps);

  /** Pods that use a changed claim; they are not placed before it is bound. */
  const consumers = ({ cluster, object: { metadata } }: ObjectEvent<PersistentVolumeClaim>): ObjectKey[] =>
    volumes
      .podsUsing(cluster, metadata.namespace ?? "", metadata.name)
      .flatMap((pod) => (isUnplaced(pod) ? [keyOf(cluster, pod)] : []));

  return defineKeyedController<ObjectKey>({
    name: "placement",
    sources: [
      // Pods change often after placement; only those without a node need a reconcile.
      watch(Pod, noticePod),
      { source: waiting.source },
      { source: informerSource(informers.of(PersistentVolumeClaim), consumers) },
      // These changes enqueue nothing themselves: they wake waiting pods.
      { source: informerSource(informers.of(Node), ({ cluster, deleted }) => (deleted ? [] : wake(cluster, "room"))) },
      {
        source: informerSource(volumes.volumes, ({ cluster, object }) =>
          object.status?.phase === "Available" ? wake(cluster, "room") : [],
        ),
      },
    ],
    writes: [Pod, PersistentVolumeClaim],
    // A reconcile is one write, and writes share commits; see `MAX_PARALLEL` of the workloads.
    concurrency: 128,
    idOf: idOfKey,

    async reconcile(key, { signal }) {
      const pod = pods.get(key);
      if (!pod || !isUnplaced(pod)) {
        waiting.remove(key);
        return done;
      }
      const view = views.of(key.cluster);
      // Already placed by this controller; the informer lags behind.
      if (view.placeOf(pod.metadata.uid ?? "")) return done;
      // A member without nodes stores and runs nothing, so a condition on each pod would be wasted.
      if (view.nodes.size === 0) return wait(pod, key);

      const needs = volumeNeeds(pod, volumes.reader(key.cluster, pod));
      const verdict = planNode(view, podView(pod), {
        volumes: needs,
        namespaces: () =>
          new Map(namespaces.list({ cluster: key.cluster }).map(({ metadata }) => [metadata.name, metadata.labels])),
        budgets: () => budgets.list({ cluster: key.cluster }),
      });
      if (!("node" in verdict)) {
        // Before the write: a change while the write is in flight may already help.
        wait(pod, key);
        await writer.refuse(pod, key.cluster, verdict, signal);
        return done;
      }
      if (needs.unbound.length > 0) {
        wait(pod, key);
        await writer.requestVolumes(needs.unbound, key.cluster, verdict.node, signal);
        return done; // Changes of the claims trigger the next reconcile.
      }
      waiting.remove(key);
      await writer.bind(pod, key.cluster, verdict.node, signal);
      return done;
    },
  });

  function wait({ spec: { priority = 0, affinity, topologySpreadConstraints } }: ReadonlyPod, key: ObjectKey): Result {
    waiting.add({
      key,
      priority,
      hasPodAffinity: affinity?.podAffinity !== undefined || topologySpreadConstraints !== undefined,
    });
    return done;
  }

  function wake(cluster: string, what: "room" | "company"): [] {
    waiting.wake(cluster, what);
    return [];
  }

  function noticePod({ cluster, object, old, deleted }: ObjectEvent<Pod>): ObjectKey[] {
    // Includes pods that are deleted while they wait, to remove them from the queue.
    if (!object.spec.nodeName) return isUnplaced(object) || deleted || old ? [keyOf(cluster, object)] : [];
    const had = old?.spec.nodeName !== undefined && !isOver(old);
    const has = !deleted && !isOver(object);
    if (had && !has) return wake(cluster, "room");
    return has && (!had || old?.metadata.labels !== object.metadata.labels) ? wake(cluster, "company") : [];
  }
}

/** True for a pod that waits only for a node: not for another scheduler or a scheduling gate. */
function isUnplaced({ spec, status, metadata }: ReadonlyPod): boolean {
  if (spec.nodeName || metadata.deletionTimestamp || spec.schedulingGates?.length) return false;
  return (
    (spec.schedulerName ?? DEFAULT_SCHEDULER) === DEFAULT_SCHEDULER &&
    status?.phase !== "Succeeded" &&
    status?.phase !== "Failed"
  );
}
