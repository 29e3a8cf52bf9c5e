/**
 * Placement: assigns every pod of a simulated member to a node, as kube-scheduler does.
 *
 * Reads: Pod, Node, PersistentVolumeClaim, PersistentVolume, StorageClass, Namespace, PodDisruptionBudget.
 * Writes: Pod: `spec.nodeName` and the topology labels, in one write. If nothing fits: the condition PodScheduled=False
 * and `status.nominatedNodeName`, and deletes preemption victims. PersistentVolumeClaim: the node to bind it for.
 * After: the node's kubelet starts the pod, and sets PodScheduled with its first status.
 */
import { Namespace, Node, PersistentVolumeClaim, Pod, PodDisruptionBudget } from "@flotilla/kubernetes";
import { formatTime } from "@flotilla/base";
import type { Clock, DeepReadonly } from "@flotilla/base";
import type { Client, ObjectKey } from "@flotilla/client";
import {
  defineKeyedController,
  done,
  idOfKey,
  informerSource,
  keyOf,
  unlessChanged,
  watch,
} from "@flotilla/controller-runtime";
import type { Controller, EventRecorder, Informers, ObjectEvent, Result } from "@flotilla/controller-runtime";
import { disrupt } from "../writes.ts";
import type { VolumeReads } from "./volume-reads.ts";
import type { Bind } from "./binding.ts";
import { planPlacement } from "./plan-placement.ts";
import type { Preemption } from "./preemption.ts";
import { podView } from "./pod-view.ts";
import { isOver } from "./views.ts";
import type { ClusterViews } from "./views.ts";
import { SELECTED_NODE, volumeNeeds } from "./volume-needs.ts";
import { createWaiting } from "./waiting.ts";

type ReadonlyPod = DeepReadonly<Pod>;

export interface PlacementDependencies {
  client: Client;
  informers: Informers;
  clock: Clock;
  views: ClusterViews;
  volumes: VolumeReads;
  /** Writes a pod's node. */
  bind: Bind;
  events?: EventRecorder | undefined;
}

const DEFAULT_SCHEDULER = "default-scheduler";
/** Node labels that are copied to its pods. */
const TOPOLOGY = ["topology.kubernetes.io/zone", "topology.kubernetes.io/region"];

export function createPlacementController({
  client,
  informers,
  clock,
  views,
  volumes,
  bind: bindTo,
  events,
}: PlacementDependencies): Controller<ObjectKey> {
  const pods = informers.of(Pod);
  const namespaces = informers.of(Namespace);
  const budgets = informers.of(PodDisruptionBudget);
  const waiting = createWaiting(clock);

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
      const verdict = planPlacement(view, podView(pod), {
        volumes: needs,
        namespaces: () =>
          new Map(namespaces.list({ cluster: key.cluster }).map(({ metadata }) => [metadata.name, metadata.labels])),
        budgets: () => budgets.list({ cluster: key.cluster }),
      });
      if (!("node" in verdict)) {
        // Before the write: a change while the write is in flight may already help.
        wait(pod, key);
        await refuse(pod, key, verdict.unschedulable, verdict.preemption, signal);
        return done;
      }
      if (needs.unbound.length > 0) {
        wait(pod, key);
        await askForVolumes(needs.unbound, key, verdict.node, signal);
        return done; // Changes of the claims trigger the next reconcile.
      }
      waiting.remove(key);
      await bind(pod, key, verdict.node, signal);
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

  async function bind(pod: ReadonlyPod, { cluster }: ObjectKey, nodeName: string, signal: AbortSignal): Promise<void> {
    const where = views.of(cluster).nodes.get(nodeName)?.node.metadata.labels ?? {};
    const labels = { ...pod.metadata.labels };
    for (const key of TOPOLOGY) if (where[key] !== undefined) labels[key] = where[key];
    const bound = { ...pod, metadata: { ...pod.metadata, labels }, spec: { ...pod.spec, nodeName } };
    // Counted before the write, because other pods are placed while it is in flight.
    views.assume(cluster, bound, nodeName);
    try {
      if (!(await bindTo(cluster, bound, signal))) views.release(cluster, pod);
    } catch (error) {
      views.release(cluster, pod);
      throw error;
    }
  }

  async function askForVolumes(
    claims: readonly DeepReadonly<PersistentVolumeClaim>[],
    { cluster }: ObjectKey,
    node: string,
    signal: AbortSignal,
  ): Promise<void> {
    for (const claim of claims) {
      const { metadata } = claim;
      if (metadata.annotations?.[SELECTED_NODE] === node) continue;
      await unlessChanged(
        client.update(
          PersistentVolumeClaim,
          cluster,
          { ...claim, metadata: { ...metadata, annotations: { ...metadata.annotations, [SELECTED_NODE]: node } } },
          { signal },
        ),
      );
    }
  }

  async function refuse(
    pod: ReadonlyPod,
    { cluster }: ObjectKey,
    message: string,
    preemption: Preemption | undefined,
    signal: AbortSignal,
  ): Promise<void> {
    for (const victim of preemption?.victims ?? []) {
      const gone = await disrupt(
        { client, clock },
        cluster,
        victim.pod,
        {
          reason: "PreemptionByScheduler",
          message: "default-scheduler: preempting to accommodate a higher priority pod",
        },
        signal,
      );
      if (gone)
        events?.record(cluster, victim.pod, {
          type: "Normal",
          reason: "Preempted",
          message: `Preempted by pod ${pod.metadata.uid} on node ${preemption?.node}`,
        });
    }
    const conditions = pod.status?.conditions ?? [];
    const before = conditions.find(({ type }) => type === "PodScheduled");
    const nominatedNodeName = preemption?.node ?? pod.status?.nominatedNodeName;
    if (before?.status === "False" && before.message === message && nominatedNodeName === pod.status?.nominatedNodeName)
      return;
    const lastTransitionTime =
      before?.status === "False" && before.lastTransitionTime ? before.lastTransitionTime : formatTime(clock.now());
    const refused = { type: "PodScheduled", status: "False", reason: "Unschedulable", message, lastTransitionTime };
    const status = {
      ...pod.status,
      conditions: [...conditions.filter(({ type }) => type !== "PodScheduled"), refused],
      ...(nominatedNodeName && { nominatedNodeName }),
    };
    const written = await unlessChanged(client.updateStatus(Pod, cluster, { ...pod, status }, { signal }));
    if (written) events?.record(cluster, pod, { type: "Warning", reason: "FailedScheduling", message });
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
