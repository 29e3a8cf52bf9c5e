/**
 * The kubelets of all simulated nodes: bound pods start, take new images in place, and stop.
 *
 * Reads:  Pod, Node.
 * Writes: Pod status; removes pods that have stopped.
 * Before: placement sets `spec.nodeName`. A pod that starts costs one write, when it is up: what is in between (pulling,
 * creating) would be overwritten within a second. A converged pod costs none.
 */
import { Node, Pod } from "../api/index.ts";
import { equalJson } from "../base/index.ts";
import type { Clock, DeepReadonly } from "../base/index.ts";
import type { Client, ObjectKey } from "../client/index.ts";
import { isConflict, isNotFound } from "../machinery/index.ts";
import { defineController, done, idOfKey } from "../runtime/index.ts";
import type { Controller, Informers, Result } from "../runtime/index.ts";
import { outdatedContainers, settledStatus, stoppingStatus } from "./pod-status.ts";
import { createWaits } from "./waits.ts";

export interface KubeletTimes {
  /** From bound to running. */
  startMs: number;
  /** From a changed image to running again. */
  restartMs: number;
  /** From deleted to gone; never longer than the pod's own grace period. */
  stopMs: number;
}

export const DEFAULT_TIMES: KubeletTimes = { startMs: 1_000, restartMs: 1_000, stopMs: 1_000 };

export interface KubeletDependencies {
  client: Client;
  informers: Informers;
  clock: Clock;
  times?: Partial<KubeletTimes>;
}

export function createKubeletController({ client, informers, clock, times }: KubeletDependencies): Controller<ObjectKey> {
  const { startMs, restartMs, stopMs } = { ...DEFAULT_TIMES, ...times };
  const nodes = informers.of(Node);
  const waits = createWaits(clock);

  return defineController({
    name: "kubelet",
    for: Pod,
    writes: [Pod],
    // Every pod of every member passes here; a reconcile is one write, and writes share commits.
    concurrency: 32,

    async reconcile(pod, { key, signal }) {
      if (!pod.spec.nodeName) return done; // Placement has not been here yet.
      // Also when the node is gone: nobody else would let the pod go.
      if (pod.metadata.deletionTimestamp) return stop(pod, key, signal);
      const node = nodes.get({ cluster: key.cluster, name: pod.spec.nodeName });
      if (!node) return done;
      if (pod.status?.phase === "Succeeded" || pod.status?.phase === "Failed") return done;

      const outdated = outdatedContainers(pod);
      if (outdated.length > 0) {
        const isRunning = pod.status?.phase === "Running";
        const leftMs = waits.leftMs(idOfKey(key), `${pod.metadata.uid} ${outdated.join(" ")}`, isRunning ? restartMs : startMs);
        if (leftMs > 0) {
          const isReady = pod.status?.conditions?.some(({ type, status }) => type === "Ready" && status === "True");
          if (isReady) await write(pod, key, stoppingStatus(pod, outdated, clock.now()), signal);
          return { requeueAfterMs: leftMs };
        }
      }
      const hostIP = node.status?.addresses?.find(({ type }) => type === "InternalIP")?.address;
      await write(pod, key, settledStatus(pod, hostIP, clock.now()), signal);
      waits.over(idOfKey(key));
      return done;
    },
    forget: (key) => waits.over(idOfKey(key)),
  });

  async function write(pod: DeepReadonly<Pod>, { cluster }: ObjectKey, status: DeepReadonly<Pod["status"]>, signal: AbortSignal): Promise<void> {
    if (equalJson(status, pod.status)) return;
    await unlessChanged(client.updateStatus(Pod, cluster, { ...pod, ...(status && { status }) }, { signal }));
  }

  async function stop(pod: DeepReadonly<Pod>, key: ObjectKey, signal: AbortSignal): Promise<Result> {
    const { uid = "", deletionGracePeriodSeconds = 0 } = pod.metadata;
    const leftMs = waits.leftMs(idOfKey(key), `${uid} stop`, Math.min(stopMs, deletionGracePeriodSeconds * 1000));
    if (leftMs > 0) return { requeueAfterMs: leftMs };
    // With a grace period of 0 we were here before, and only finalizers hold the pod.
    if (deletionGracePeriodSeconds > 0) await unlessChanged(client.delete(Pod, key, { gracePeriodSeconds: 0, preconditions: { uid }, signal }));
    return done;
  }
}

/** A pod that changed or went meanwhile comes back as an event. */
async function unlessChanged(write: Promise<unknown>): Promise<void> {
  try {
    await write;
  } catch (error) {
    if (!isConflict(error) && !isNotFound(error)) throw error;
  }
}
