/**
 * Sets the gate `KruisePodReady` of pods without not-ready messages.
 *
 * Reads: Pod.
 * Writes: Pod status, once per pod, and only if its admission did not store it with the gate true.
 */
import { Pod, podCondition } from "@flotilla/kubernetes";
import type { ReadonlyPod, WorkloadDependencies } from "@flotilla/kubernetes";
import { formatTime } from "@flotilla/base";
import type { ObjectKey } from "@flotilla/client";
import { defineKeyedController, done, idOfKey, keyOf, unlessChanged, watch } from "@flotilla/controller-runtime";
import type { Controller } from "@flotilla/controller-runtime";
import { KRUISE_POD_READY, hasReadinessGate, withCondition } from "../pod/pod-ready.ts";

export function createPodReadinessController({
  client,
  informers,
  clock,
}: Pick<WorkloadDependencies, "client" | "informers" | "clock">): Controller<ObjectKey> {
  const pods = informers.of(Pod);
  return defineKeyedController<ObjectKey>({
    name: "pod-readiness",
    writes: [Pod],
    // Every pod of every member passes through this controller, so pods that need nothing never reach the queue.
    sources: [
      watch(Pod, ({ cluster, object, deleted }) => (!deleted && needsGate(object) ? [keyOf(cluster, object)] : [])),
    ],
    idOf: idOfKey,

    async reconcile(key, { signal }) {
      const pod = pods.get(key);
      if (!pod || !needsGate(pod)) return done;
      await unlessChanged(
        client.updateStatus(
          Pod,
          key.cluster,
          withCondition(pod, { type: KRUISE_POD_READY, status: "True", lastTransitionTime: formatTime(clock.now()) }),
          { signal },
        ),
      );
      return done;
    },
  });
}

function needsGate(pod: ReadonlyPod): boolean {
  return (
    hasReadinessGate(pod, KRUISE_POD_READY) && !pod.metadata.deletionTimestamp && !podCondition(pod, KRUISE_POD_READY)
  );
}
