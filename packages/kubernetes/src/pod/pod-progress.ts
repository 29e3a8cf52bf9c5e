import { isConditionTrue } from "@flotilla/apimachinery";
import type { KubernetesObject } from "@flotilla/apimachinery";
import type { DeepReadonly } from "@flotilla/base";
import type { Progress } from "../definition/kind-definition.ts";
import { conditionsOf } from "../definition/object-conditions.ts";
import { viewOf } from "../definition/state-family.ts";

/** A pod is rolled out when it is ready or has succeeded. */
export function podProgress(pod: DeepReadonly<KubernetesObject>): Progress {
  const { phase, message } = viewOf(pod).status;
  if (phase === "Failed")
    return { isProgressing: true, failure: typeof message === "string" && message ? message : "failed" };
  return { isProgressing: phase !== "Succeeded" && !isConditionTrue(conditionsOf(pod), "Ready") };
}
