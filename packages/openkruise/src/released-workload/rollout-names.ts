/** Labels, annotations and finalizers of kruise-rollout. */
import type { DeepReadonly, JsonObject } from "@flotilla/base";

/** On a workload and its pods: the release, where the user names it. */
export const ROLLOUT_ID = "rollouts.kruise.io/rollout-id";
/** On pods: the step that updated them, from 1. */
export const ROLLOUT_BATCH_ID = "rollouts.kruise.io/rollout-batch-id";
/** On a Rollout: a return to the stable revision follows the steps as well. */
export const ROLLBACK_IN_BATCH = "rollouts.kruise.io/rollback-in-batch";
/** On a v1alpha1 Rollout or BatchRelease: `partition` or `canary`. */
export const ROLLING_STYLE = "rollouts.kruise.io/rolling-style";
/** On a v1alpha1 Rollout: the TrafficRouting that its release triggers. */
export const TRAFFIC_ROUTING = "rollouts.kruise.io/trafficrouting";
/** On a workload: the Rollout that releases it, as JSON. */
export const IN_PROGRESSING = "rollouts.kruise.io/in-progressing";
/** On a workload: the BatchRelease that writes its partition, as JSON. */
export const CONTROL_INFO = "batchrelease.rollouts.kruise.io/control-info";
export const ROLLOUT_FINALIZER = "rollouts.kruise.io/rollout";

/** Whether an annotation of the object has a value. */
export const annotationOf = (
  { metadata }: { readonly metadata?: DeepReadonly<JsonObject> | { readonly annotations?: unknown } },
  name: string,
): string | undefined => {
  const annotations = (metadata as { annotations?: Readonly<Record<string, string>> } | undefined)?.annotations;
  const value = annotations?.[name];
  return value === undefined || value === "" ? undefined : value;
};
