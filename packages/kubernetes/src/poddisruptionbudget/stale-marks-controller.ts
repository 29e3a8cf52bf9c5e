/**
 * Removes the DisruptionTarget condition from pods that still run two minutes later, because Jobs and users judge a
 * later end of the pod by it.
 *
 * Reads: Pod.
 * Writes: Pod (the condition DisruptionTarget).
 */
import { Pod } from "../pod/pod-kind.ts";
import { formatTime } from "@flotilla/base";
import type { ObjectKey } from "@flotilla/client";
import { defineKeyedController, done, idOfKey, keyOf, unlessChanged, watch } from "@flotilla/controller-runtime";
import type { Controller } from "@flotilla/controller-runtime";
import type { WorkloadDependencies } from "../workloads/dependencies.ts";
import { isActive, podCondition, timeMs } from "../pod/pod-state.ts";
import type { ReadonlyPod } from "../pod/pod-state.ts";

const MARK = "DisruptionTarget";
const STALE_MS = 2 * 60_000;

export function createStaleMarkController({ client, informers, clock }: WorkloadDependencies): Controller<ObjectKey> {
  const pods = informers.of(Pod);
  return defineKeyedController<ObjectKey>({
    name: "stale-disruption-marks",
    writes: [Pod],
    sources: [
      watch(Pod, ({ cluster, object, deleted }) =>
        !deleted && markedMs(object) !== undefined ? [keyOf(cluster, object)] : [],
      ),
    ],
    idOf: idOfKey,
    async reconcile(key, { signal }) {
      const pod = pods.get(key);
      const sinceMs = pod && markedMs(pod);
      if (!pod || sinceMs === undefined) return done;
      const leftMs = sinceMs + STALE_MS - clock.now();
      if (leftMs > 0) return { requeueAfterMs: leftMs };
      const unmarked = { type: MARK, status: "False", lastTransitionTime: formatTime(clock.now()) };
      const conditions =
        pod.status?.conditions?.map((condition) => (condition.type === MARK ? unmarked : condition)) ?? [];
      await unlessChanged(
        client.updateStatus(Pod, key.cluster, { ...pod, status: { ...pod.status, conditions } }, { signal }),
      );
      return done;
    },
  });
}

/**
 * Since when a running pod has the condition; a condition set by the kubelet means that it has started to end the pod.
 */
function markedMs(pod: ReadonlyPod): number | undefined {
  const mark = podCondition(pod, MARK);
  return mark?.status === "True" && mark.reason !== "TerminationByKubelet" && isActive(pod)
    ? timeMs(mark.lastTransitionTime)
    : undefined;
}
