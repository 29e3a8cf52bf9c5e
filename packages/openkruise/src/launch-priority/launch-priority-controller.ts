/**
 * Starts the containers of a pod with launch priorities, one priority after the other.
 *
 * Reads: Pod.
 * Writes: the ConfigMap `<pod>-barrier`, owned by the pod: a key for every priority that may start; Pod, once: an
 * annotation when the lowest priority was reached.
 */
import { ConfigMap, Pod, podCondition } from "@flotilla/kubernetes";
import type { ReadonlyPod, WorkloadDependencies } from "@flotilla/kubernetes";
import type { DeepReadonly } from "@flotilla/base";
import type { ObjectKey } from "@flotilla/client";
import { isNotFound } from "@flotilla/apimachinery";
import { defineKeyedController, done, idOfKey, keyOf, unlessChanged, watch } from "@flotilla/controller-runtime";
import type { Controller } from "@flotilla/controller-runtime";
import { LAUNCH_COMPLETED_ANNOTATION, barrierKey, barrierName, launchPriorityOf } from "./barrier.ts";

/** The next step of a pod. */
export interface LaunchPlan {
  /** The priority that may start, if the barrier does not contain it yet. */
  open?: number;
  /** No container is waiting any more. */
  isCompleted: boolean;
}

/** `opened` reports whether the barrier has the key of a priority. */
export function planLaunch(pod: ReadonlyPod, opened: (priority: number) => boolean): LaunchPlan {
  const waiting = waitingPriorities(pod);
  const lowest = Math.min(...waiting);
  if (waiting.length === 0 || opened(lowest)) return { isCompleted: true };
  const next = Math.max(...waiting);
  return { open: !opened(next) ? next : undefined, isCompleted: next === lowest };
}

function waitingPriorities({ spec, status }: ReadonlyPod): number[] {
  const ready = new Set(status?.containerStatuses?.filter((item) => item.ready).map(({ name }) => name));
  return spec.containers.flatMap((container) => (ready.has(container.name) ? [] : (launchPriorityOf(container) ?? [])));
}

/** Called for every change of every pod; nearly all of them have no barrier. */
function needsReconcile(pod: ReadonlyPod): boolean {
  if (!pod.spec.containers.some((container) => launchPriorityOf(container) !== undefined)) return false;
  if (pod.metadata.annotations?.[LAUNCH_COMPLETED_ANNOTATION] === "true" || pod.metadata.deletionTimestamp)
    return false;
  return podCondition(pod, "ContainersReady")?.status !== "True" && waitingPriorities(pod).length > 0;
}

export function createLaunchPriorityController({
  client,
  informers,
}: Pick<WorkloadDependencies, "client" | "informers">): Controller<ObjectKey> {
  const pods = informers.of(Pod);
  return defineKeyedController<ObjectKey>({
    name: "container-launch-priority",
    writes: [ConfigMap, Pod],
    // Few pods have priorities: the others never reach the queue, and barriers are read on demand.
    sources: [
      watch(Pod, ({ cluster, object, deleted }) =>
        !deleted && needsReconcile(object) ? [keyOf(cluster, object)] : [],
      ),
    ],
    idOf: idOfKey,

    async reconcile(key, { signal }) {
      const pod = pods.get(key);
      if (!pod || !needsReconcile(pod)) return done;
      const barrierAt = { ...key, name: barrierName(key.name) };
      const barrier = await readBarrier(barrierAt, signal);
      const plan = planLaunch(pod, (priority) => barrier?.data?.[barrierKey(priority)] !== undefined);
      if (plan.open !== undefined) await open(pod, barrierAt, barrier, plan.open, signal);
      if (plan.isCompleted) {
        const annotations = { ...pod.metadata.annotations, [LAUNCH_COMPLETED_ANNOTATION]: "true" };
        await unlessChanged(
          client.update(Pod, key.cluster, { ...pod, metadata: { ...pod.metadata, annotations } }, { signal }),
        );
      }
      return done;
    },
  });

  async function readBarrier(key: ObjectKey, signal: AbortSignal): Promise<DeepReadonly<ConfigMap> | undefined> {
    try {
      return await client.get(ConfigMap, key, { signal });
    } catch (error) {
      if (isNotFound(error)) return undefined;
      throw error;
    }
  }

  async function open(
    { metadata }: ReadonlyPod,
    key: ObjectKey,
    barrier: DeepReadonly<ConfigMap> | undefined,
    priority: number,
    signal: AbortSignal,
  ): Promise<void> {
    const data = { [barrierKey(priority)]: "true" };
    if (barrier) {
      await client.patch(ConfigMap, key, { data }, { type: "merge", signal });
      return;
    }
    const ownerReferences = [{ apiVersion: "v1", kind: "Pod", name: metadata.name, uid: metadata.uid ?? "" }];
    const { name, namespace } = key;
    // The barrier of an earlier pod of this name may still be terminating; then this is retried with backoff.
    await client.create(
      ConfigMap,
      key.cluster,
      {
        apiVersion: "v1",
        kind: "ConfigMap",
        metadata: { name, namespace: namespace || undefined, ownerReferences },
        data,
      },
      { signal },
    );
  }
}
