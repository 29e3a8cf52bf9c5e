/**
 * Detects members that were sent the previous template and do not keep the pods of the release that the copy's partition
 * names, because a webhook or a controller there changes the partition. A second attempt would fail alike, so the rollout
 * waits until the template, the partition, the share or the member's report changes.
 */
import type { KubernetesObject } from "@flotilla/apimachinery";
import { isObject, type DeepReadonly, type JsonObject } from "@flotilla/base";
import type { Share } from "@flotilla/kubernetes";
import { countOf } from "@flotilla/kubernetes";
import { parseStage, stageTextOf } from "./member-stage.ts";

export interface FailedRollback {
  readonly cluster: string;
  /** Pods of the release that the copy asks for, and the number that the member's controller works towards. */
  readonly asked: number;
  readonly expected: number;
}

/** Undefined while the member does what its copy asks for, or has not reported on it. */
export function failedRollback({ cluster, copy, observed }: Share): FailedRollback | undefined {
  const text = copy && stageTextOf(copy);
  const stage = parseStage(text);
  const status: JsonObject = isObject(observed) ? observed : {};
  const isAnswered =
    status["rolloutStage"] === text && countOf(status["observedGeneration"]) >= countOf(status["generation"]);
  if (!stage?.isBackward || !isAnswered) return undefined;
  const pods = countOf(status["replicas"]);
  const isReported = typeof status["expectedUpdatedReplicas"] === "number";
  // Releases of OpenKruise that do not report what they work towards are judged by their pods, once all exist.
  if (!isReported && pods < stage.replicas) return undefined;
  const expected = countOf(status[isReported ? "expectedUpdatedReplicas" : "updatedReplicas"]);
  const asked = stage.step?.keeps ?? stage.updated;
  // A member that an autoscaler made smaller cannot keep more pods than it has.
  return expected > asked || expected < Math.min(asked, pods) ? { cluster, asked, expected } : undefined;
}

/** `copies` is the result of `divide` for the shares: a copy that differs from the last one is another attempt. */
export function failedRollbacks(
  copies: ReadonlyMap<string, DeepReadonly<KubernetesObject>>,
  shares: readonly Share[],
): FailedRollback[] {
  return shares.flatMap((share) => {
    const next = copies.get(share.cluster);
    const isSame = next && share.copy && stageTextOf(next) === stageTextOf(share.copy);
    return (isSame && failedRollback(share)) || [];
  });
}
