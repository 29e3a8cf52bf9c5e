import { findCondition, isConditionTrue } from "@flotilla/apimachinery";
import type { KubernetesObject } from "@flotilla/apimachinery";
import type { DeepReadonly } from "@flotilla/base";
import type { Progress } from "../definition/kind-definition.ts";
import { conditionsOf } from "../definition/object-conditions.ts";
import { viewOf } from "../definition/state-family.ts";

/** A failed Job has not completed its run; a suspended one is not expected to. */
export function jobProgress(job: DeepReadonly<KubernetesObject>): Progress {
  const conditions = conditionsOf(job);
  const failed = findCondition(conditions, "Failed");
  if (failed?.status === "True") return { isProgressing: true, failure: failed.message || failed.reason || "failed" };
  const isSuspended = viewOf(job).spec["suspend"] === true;
  return { isProgressing: !isSuspended && !isConditionTrue(conditions, "Complete") };
}
