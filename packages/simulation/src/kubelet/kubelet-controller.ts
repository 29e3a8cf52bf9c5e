/**
 * The kubelets of all simulated nodes: bound pods start, run, end, take new images in place, and stop.
 *
 * Reads: Pod, Node; ConfigMap and Secret once a container's variables reference one.
 * Writes: Pod status; deletes stopped pods.
 * Before: placement sets `spec.nodeName`. A starting pod costs one write, when it is running: intermediate states
 * (pulling, creating) would be overwritten within a second. A converged pod costs no write and has no timer.
 */
import { Node, Pod } from "@flotilla/kubernetes";
import { defined, formatTime } from "@flotilla/base";
import type { DeepReadonly } from "@flotilla/base";
import type { ObjectKey } from "@flotilla/client";
import { defineKeyedController, done, idOfKey, keyOf, unlessChanged, watch } from "@flotilla/controller-runtime";
import type { Controller, Informers, Result } from "@flotilla/controller-runtime";
import { START_SECONDS, secondsOf } from "../annotations.ts";
import { planProblemEvents } from "../annotation-problems.ts";
import { isLost } from "../nodes/lifecycle-controller.ts";
import { isOver } from "../placement/views.ts";
import { createWaits } from "../simulated-waits.ts";
import { endedStatus, outdatedContainers, planPodStatus, stoppingStatus } from "./pod-status.ts";
import { createPodStatusWriter } from "./pod-status-writer.ts";
import type { PodStatusWriterDependencies } from "./pod-status-writer.ts";
import { environmentOf } from "./pod-environment.ts";
import type { EnvironmentDependencies } from "./pod-environment.ts";
import { whyRejected } from "./admit.ts";

type ReadonlyPod = DeepReadonly<Pod>;
type ReadonlyNode = DeepReadonly<Node>;

export interface KubeletTimes {
  /** From bound to running. */
  startMs: number;
  /** From a changed image to running again. */
  restartMs: number;
  /** From deletion to removal; at most the pod's own grace period. */
  stopMs: number;
}

const DEFAULT_TIMES: KubeletTimes = { startMs: 1_000, restartMs: 1_000, stopMs: 1_000 };

export interface KubeletDependencies extends EnvironmentDependencies, PodStatusWriterDependencies {
  informers: Informers;
  times?: Partial<KubeletTimes> | undefined;
}

/** The first pod that references a ConfigMap or a Secret starts the list of that kind, which takes a moment. */
const LISTING_MS = 20;
/**
 * A resize that waits for room is retried at this interval, because a pod that leaves the node does not trigger the
 * waiting one.
 */
const RESIZE_RETRY_MS = 30_000;

export function createKubeletController(deps: KubeletDependencies): Controller<ObjectKey> {
  const { client, informers, clock, views, config, events } = deps;
  const { startMs, restartMs, stopMs } = { ...DEFAULT_TIMES, ...defined(deps.times) };
  const pods = informers.of(Pod);
  const nodes = informers.of(Node);
  const waits = createWaits(clock);
  const writer = createPodStatusWriter(deps);
  /**
   * Pods as this controller wrote them, with everything running and nothing due: the event of our own write needs no
   * second reconcile.
   */
  const settled = new WeakSet<ReadonlyPod>();

  return defineKeyedController<ObjectKey>({
    name: "kubelet",
    sources: [
      // Pods without a node have no kubelet yet.
      watch(Pod, ({ cluster, object, old, deleted }) => {
        if (!deleted) reportProblems(cluster, object, old);
        return object.spec.nodeName || deleted ? [keyOf(cluster, object)] : [];
      }),
      { source: config.source },
      // A kubelet that starts or returns reconciles its pods.
      watch(Node, ({ cluster, object, old, deleted }) => {
        if (old) for (const event of planProblemEvents(object, old, "Node")) events?.record(cluster, object, event);
        return deleted || !old || isLost(old) !== isLost(object)
          ? Array.from(views.of(cluster).podsOn(object.metadata.name), ({ pod }) => keyOf(cluster, pod))
          : [];
      }),
    ],
    writes: [Pod],
    // Every pod of every member passes through this controller; a reconcile is one write, and writes share commits.
    concurrency: 128,
    idOf: idOfKey,

    async reconcile(key, { signal }) {
      const pod = pods.get(key);
      if (!pod) waits.over(idOfKey(key));
      if (!pod?.spec.nodeName || settled.has(pod)) return done;
      const node = nodes.get({ cluster: key.cluster, name: pod.spec.nodeName });
      if (node && isLost(node)) return done;
      // Also if the node is deleted: no other controller would remove the pod.
      if (pod.metadata.deletionTimestamp) return stop(pod, key, signal);
      if (!node || isOver(pod)) return done;
      return run(pod, node, key, signal);
    },
  });

  async function run(pod: ReadonlyPod, node: ReadonlyNode, key: ObjectKey, signal: AbortSignal): Promise<Result> {
    const { cluster } = key;
    if (!config.isKnown(pod)) return { requeueAfterMs: LISTING_MS };
    const around = environmentOf(deps, pod, node, cluster);
    const rejected = pod.status?.startTime === undefined ? whyRejected(pod, views.of(cluster)) : undefined;
    if (rejected) {
      const startTime = formatTime(clock.now());
      await writer.write(pod, cluster, { status: { ...pod.status, phase: "Failed", ...rejected, startTime } }, signal);
      return done;
    }
    const outdated = outdatedContainers(pod, around);
    const leftMs = outdated.length > 0 ? startsInMs(pod, outdated, idOfKey(key)) : 0;
    if (leftMs > 0) {
      const isReady = pod.status?.conditions?.some(({ type, status }) => type === "Ready" && status === "True");
      if (isReady) await writer.write(pod, cluster, { status: stoppingStatus(pod, outdated, clock.now()) }, signal);
      return { requeueAfterMs: leftMs };
    }
    const { status, dueMs } = planPodStatus(pod, around);
    const current = await writer.write(pod, cluster, { status, mountProblem: around.mountProblem }, signal);
    // The pod changed in the meantime: the event triggers another reconcile, and pending waits remain.
    if (!current) return done;
    waits.over(idOfKey(key));
    const isDeferred = status.conditions?.some(
      ({ type, reason }) => type === "PodResizePending" && reason === "Deferred",
    );
    if (dueMs !== undefined) return { requeueAfterMs: Math.max(0, dueMs - clock.now()) };
    if (isDeferred) return { requeueAfterMs: RESIZE_RETRY_MS };
    if (isUp(status)) settled.add(current);
    return done;
  }

  /**
   * Reports problems when they appear: with a new pod, or with a change. A starting process finds running pods that
   * were reported before.
   */
  function reportProblems(cluster: string, pod: ReadonlyPod, old: ReadonlyPod | undefined): void {
    if (!events || (!old && pod.status?.startTime !== undefined)) return;
    for (const event of planProblemEvents(pod, old, "Pod")) events.record(cluster, pod, event);
  }

  /** Remaining time until containers with changes run again. */
  function startsInMs(pod: ReadonlyPod, containers: readonly string[], id: string): number {
    const takesMs = Math.max(
      (secondsOf(pod, START_SECONDS) ?? 0) * 1000,
      pod.status?.phase === "Running" ? restartMs : startMs,
    );
    return takesMs === 0 ? 0 : waits.leftMs(id, `${pod.metadata.uid} ${containers.join(" ")}`, takesMs);
  }

  async function stop(pod: ReadonlyPod, key: ObjectKey, signal: AbortSignal): Promise<Result> {
    const { uid = "", deletionGracePeriodSeconds = 0, finalizers } = pod.metadata;
    const leftMs = waits.leftMs(idOfKey(key), `${uid} stop`, Math.min(stopMs, deletionGracePeriodSeconds * 1000));
    if (leftMs > 0) return { requeueAfterMs: leftMs };
    // Shows the owner of the finalizer that nothing runs in the pod any more.
    if (finalizers?.length && !isOver(pod)) {
      await writer.write(pod, key.cluster, { status: endedStatus(pod, clock.now(), { exitCode: 0 }) }, signal);
      if (deletionGracePeriodSeconds > 0) return { requeueAfterMs: 0 };
    }
    // A grace period of 0 means that this step already ran, and only finalizers block the pod.
    if (deletionGracePeriodSeconds > 0)
      await unlessChanged(client.delete(Pod, key, { gracePeriodSeconds: 0, preconditions: { uid }, signal }));
    return done;
  }
}

/** True if no missing reference can delay the pod any more. */
const isUp = ({ conditions }: DeepReadonly<NonNullable<Pod["status"]>>): boolean =>
  conditions?.every(({ type, status }) => type !== "ContainersReady" || status === "True") ?? false;
