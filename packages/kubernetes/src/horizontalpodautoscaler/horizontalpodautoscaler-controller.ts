/**
 * HorizontalPodAutoscaler: scales a workload so that the usage of its pods stays near a target.
 *
 * Reads: HorizontalPodAutoscaler, Pod, the scale of the target, pod usage.
 * Writes: the scale of the target, HorizontalPodAutoscaler status. Runs every fifteen seconds; a correct status is not
 * written.
 */
import { HorizontalPodAutoscaler } from "./horizontalpodautoscaler-kind.ts";
import { Pod } from "../pod/pod-kind.ts";
import { matchesLabels, parseLabelSelector } from "@flotilla/apimachinery";
import { equalJson } from "@flotilla/base";
import type { ObjectKey } from "@flotilla/client";
import { defineController, unlessChanged } from "@flotilla/controller-runtime";
import type { Controller } from "@flotilla/controller-runtime";
import type { WorkloadDependencies } from "../workloads/dependencies.ts";
import type { ReadonlyPod } from "../pod/pod-state.ts";
import { createAutoscalerLoop } from "./autoscaler-loop.ts";
import { planScaling } from "./plan-scaling.ts";

const SYNC_MS = 15_000;

export function createAutoscalerController(deps: WorkloadDependencies): Controller<ObjectKey> {
  const { client, informers, clock, usage } = deps;
  const pods = informers.of(Pod);
  const loop = createAutoscalerLoop({
    client,
    clock,
    events: deps.events?.("horizontal-pod-autoscaler"),
    controllerName: "HPA controller",
    intervalMs: SYNC_MS,
  });

  return defineController({
    name: "autoscaler",
    for: HorizontalPodAutoscaler,
    writes: [HorizontalPodAutoscaler],

    async reconcile(autoscaler, { key, signal }) {
      const { cluster } = key;
      const outcome = await loop.evaluate(
        autoscaler,
        key,
        (moment) => planScaling({ ...moment, autoscaler, cluster, podsOf: (selector) => podsOf(key, selector), usage }),
        signal,
      );
      if ("leftMs" in outcome) return { requeueAfterMs: outcome.leftMs };
      const { status } = outcome;
      if (!equalJson(status, autoscaler.status))
        await unlessChanged(
          client.updateStatus(HorizontalPodAutoscaler, cluster, { ...autoscaler, status }, { signal }),
        );
      return { requeueAfterMs: SYNC_MS };
    },
    forget: loop.forget,
  });

  function podsOf({ cluster, namespace = "" }: ObjectKey, selector: string): ReadonlyPod[] {
    const parsed = parseLabelSelector(selector);
    return pods.list({ cluster, namespace }).filter(({ metadata }) => matchesLabels(parsed, metadata.labels));
  }
}
