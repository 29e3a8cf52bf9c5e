/**
 * Placement: gives every pod of a simulated member a node, as kube-scheduler would.
 *
 * Reads: Pod, Node, PersistentVolumeClaim, PersistentVolume, StorageClass, Namespace, PodDisruptionBudget.
 * Writes: Pod: `spec.nodeName` and the labels that say where that is, in one write. When nothing fits: the condition
 * PodScheduled=False and `status.nominatedNodeName`, and victims of preemption are deleted. PersistentVolumeClaim: the
 * node for which one is to be bound.
 * After: the kubelet of the node starts the pod, and tells with its first status that the pod was scheduled.
 */
import { Namespace, Node, PersistentVolumeClaim, Pod, PodDisruptionBudget } from "../../api/index.ts";
import { formatTime } from "../../base/index.ts";
import type { Clock, DeepReadonly } from "../../base/index.ts";
import type { Client, ObjectKey } from "../../client/index.ts";
import {
  defineKeyedController,
  done,
  idOfKey,
  informerSource,
  keyOf,
  unlessChanged,
  watch,
} from "../../runtime/index.ts";
import type { Controller, EventRecorder, Informers, ObjectEvent, Result } from "../../runtime/index.ts";
import { disrupt } from "../writes.ts";
import type { VolumeReads } from "../volumes/reads.ts";
import type { Bind } from "./binding.ts";
import { planPlacement } from "./plan.ts";
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
  /** How a pod is told its node. */
  bind: Bind;
  events?: EventRecorder | undefined;
}

const DEFAULT_SCHEDULER = "default-scheduler";
/** Labels of a node that its pods get, too. */
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

  /** Pods that use a claim which changed; none of them may be placed before it is bound. */
  const consumers = ({ cluster, object: { metadata } }: ObjectEvent<PersistentVolumeClaim>): ObjectKey[] =>
    volumes
      .podsUsing(cluster, metadata.namespace ?? "", metadata.name)
      .flatMap((pod) => (isUnplaced(pod) ? [keyOf(cluster, pod)] : []));

  return defineKeyedController<ObjectKey>({
    name: "placement",
    sources: [
      // Pods change often after they were placed; only those that wait for a node are worth a look.
      watch(Pod, noticePod),
      { source: waiting.source },
      { source: informerSource(informers.of(PersistentVolumeClaim), consumers) },
      // These have nothing to enqueue themselves: they wake pods that wait.
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
      // Placed by us, and the informer has not heard of it.
      if (view.placeOf(pod.metadata.uid ?? "")) return done;
      // A member without nodes stores and runs nothing; nobody would read the condition of each pod.
      if (view.nodes.size === 0) return wait(pod, key);

      const needs = volumeNeeds(pod, volumes.reader(key.cluster, pod));
      const verdict = planPlacement(view, podView(pod), {
        volumes: needs,
        namespaces: () =>
          new Map(namespaces.list({ cluster: key.cluster }).map(({ metadata }) => [metadata.name, metadata.labels])),
        budgets: () => budgets.list({ cluster: key.cluster }),
      });
      if (!("node" in verdict)) {
        // Before the write: what changes while it is under way may help already.
        wait(pod, key);
        await refuse(pod, key, verdict.unschedulable, verdict.preemption, signal);
        return done;
      }
      if (needs.unbound.length > 0) {
        wait(pod, key);
        await askForVolumes(needs.unbound, key, verdict.node, signal);
        return done; // The claims' own changes bring the pod back.
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
      wantsCompany: affinity?.podAffinity !== undefined || topologySpreadConstraints !== undefined,
    });
    return done;
  }

  function wake(cluster: string, what: "room" | "company"): [] {
    waiting.wake(cluster, what);
    return [];
  }

  function noticePod({ cluster, object, old, deleted }: ObjectEvent<Pod>): ObjectKey[] {
    // Also one that goes while it waits: it waits no more.
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
    // Counted before the write, because others are placed while it is under way.
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

/** Waits for a node, and for nobody else: not for another scheduler, and not for a gate. */
export function isUnplaced({ spec, status, metadata }: ReadonlyPod): boolean {
  if (spec.nodeName || metadata.deletionTimestamp || spec.schedulingGates?.length) return false;
  return (
    (spec.schedulerName ?? DEFAULT_SCHEDULER) === DEFAULT_SCHEDULER &&
    status?.phase !== "Succeeded" &&
    status?.phase !== "Failed"
  );
}
