/**
 * Carries out the verdict on a pod, and emits its events.
 *
 * Writes: Pod: `spec.nodeName` and the topology labels, in one write; the condition PodScheduled=False and
 * `status.nominatedNodeName`; deletes preemption victims. PersistentVolumeClaim: the node to bind it for.
 */
import { PersistentVolumeClaim, Pod, REGION_LABEL, ZONE_LABEL, SELECTED_NODE_ANNOTATION } from "@flotilla/kubernetes";
import type { Clock, DeepReadonly } from "@flotilla/base";
import type { Client } from "@flotilla/client";
import { unlessChanged } from "@flotilla/controller-runtime";
import type { EventRecorder } from "@flotilla/controller-runtime";
import { disrupt } from "../pod-writes.ts";
import type { Bind } from "./binding.ts";
import type { Preemption } from "./preemption.ts";
import { planRefusedStatus } from "./refused-status.ts";
import type { ClusterViews } from "./views.ts";

type ReadonlyPod = DeepReadonly<Pod>;

export interface PlacementWriterDependencies {
  client: Client;
  clock: Clock;
  views: ClusterViews;
  /** Writes a pod's node. */
  bind: Bind;
  events?: EventRecorder | undefined;
}

/** Why a pod fits on no node, and which pods make room for it. */
interface Refusal {
  unschedulable: string;
  preemption?: Preemption | undefined;
}

export interface PlacementWriter {
  bind(pod: ReadonlyPod, cluster: string, nodeName: string, signal: AbortSignal): Promise<void>;
  /** Names the node for which the claims are bound. */
  requestVolumes(
    claims: readonly DeepReadonly<PersistentVolumeClaim>[],
    cluster: string,
    nodeName: string,
    signal: AbortSignal,
  ): Promise<void>;
  refuse(pod: ReadonlyPod, cluster: string, refusal: Refusal, signal: AbortSignal): Promise<void>;
}

/** Node labels that are copied to its pods. */
const TOPOLOGY = [ZONE_LABEL, REGION_LABEL];

export function createPlacementWriter(deps: PlacementWriterDependencies): PlacementWriter {
  const { client, clock, views, events } = deps;

  async function preempt(
    pod: ReadonlyPod,
    cluster: string,
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
  }

  return {
    async bind(pod, cluster, nodeName, signal) {
      const where = views.of(cluster).nodes.get(nodeName)?.node.metadata.labels ?? {};
      const labels = { ...pod.metadata.labels };
      for (const key of TOPOLOGY) if (where[key] !== undefined) labels[key] = where[key];
      const bound = { ...pod, metadata: { ...pod.metadata, labels }, spec: { ...pod.spec, nodeName } };
      // Counted before the write, because other pods are placed while it is in flight.
      views.assume(cluster, bound, nodeName);
      try {
        if (!(await deps.bind(cluster, bound, signal))) views.release(cluster, pod);
      } catch (error) {
        views.release(cluster, pod);
        throw error;
      }
    },

    async requestVolumes(claims, cluster, nodeName, signal) {
      for (const claim of claims) {
        const { metadata } = claim;
        if (metadata.annotations?.[SELECTED_NODE_ANNOTATION] === nodeName) continue;
        await unlessChanged(
          client.update(
            PersistentVolumeClaim,
            cluster,
            {
              ...claim,
              metadata: { ...metadata, annotations: { ...metadata.annotations, [SELECTED_NODE_ANNOTATION]: nodeName } },
            },
            { signal },
          ),
        );
      }
    },

    async refuse(pod, cluster, { unschedulable: message, preemption }, signal) {
      await preempt(pod, cluster, preemption, signal);
      const status = planRefusedStatus(pod, message, preemption?.node, clock.now());
      if (!status) return;
      const written = await unlessChanged(client.updateStatus(Pod, cluster, { ...pod, status }, { signal }));
      if (written) events?.record(cluster, pod, { type: "Warning", reason: "FailedScheduling", message });
    },
  };
}
