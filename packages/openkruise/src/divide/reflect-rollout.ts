/**
 * Reflects a member's part of a rollout, counted in pods of the release. A backward copy (`member-stage.ts`) counts the
 * other pods as updated on its member; the counts are inverted here, so that members add up regardless of direction.
 */
import { isObject, type DeepReadonly, type Json, type JsonObject, defined } from "@flotilla/base";
import { countOf } from "@flotilla/kubernetes";
import { parseStage, stageTextOf, type MemberStage } from "./member-stage.ts";
import type { Partitioned } from "./partitioned.ts";

/** Counters of updated pods, each with the counter of all pods. */
const PARTS: readonly (readonly [updated: string, all: string])[] = [
  ["updatedReplicas", "replicas"],
  ["updatedReadyReplicas", "readyReplicas"],
  ["updatedAvailableReplicas", "availableReplicas"],
];

export function reflectRollout(cloneSet: DeepReadonly<Partitioned>, status: Json | undefined): Json | undefined {
  const text = stageTextOf(cloneSet);
  const stage = parseStage(text);
  if (!isObject(status) || !stage || text === undefined) return status;
  if (!stage.isBackward) return { ...status, rolloutStage: text };
  return {
    ...turnedRound(status, cloneSet.spec?.replicas ?? 1, stage),
    // Where pods of more than two templates run, the next copy depends on how many have this one.
    ...defined({ layerPods: stage.step ? countOf(status["updatedReplicas"]) : undefined }),
    rolloutStage: text,
  };
}

/**
 * The same for what a user's rule reflects, which need not be the member's whole status: the counters in it are those of
 * the release. Other fields are the rule's own.
 */
export function restateRollout(cloneSet: DeepReadonly<Partitioned>, status: Json | undefined): Json | undefined {
  const stage = parseStage(stageTextOf(cloneSet));
  return stage?.isBackward && isObject(status) ? turnedRound(status, cloneSet.spec?.replicas ?? 1, stage) : status;
}

function turnedRound(status: JsonObject, replicas: number, { step }: MemberStage): JsonObject {
  const { updateRevision, ...rest } = status;
  const turned: JsonObject = { ...rest };
  // A copy that only counts changes no pod: those that it does not count are the others and the release's.
  const others = step
    ? (step.others ?? countOf(status["replicas"]) - countOf(status["updatedReplicas"]) - step.keeps)
    : 0;
  for (const [updated, all] of PARTS)
    if (status[updated] !== undefined || status[all] !== undefined)
      turned[updated] = Math.max(0, countOf(status[all]) - countOf(status[updated]) - others);
  // OpenKruise omits zeros, so it is missing in a status whose other counters are not.
  if (status["expectedUpdatedReplicas"] !== undefined || status["replicas"] !== undefined) {
    const expected = countOf(status["expectedUpdatedReplicas"]);
    turned["expectedUpdatedReplicas"] = Math.max(
      0,
      step && step.others === undefined ? step.keeps - expected : replicas - expected - others,
    );
  }
  // The member's update revision is the revision that the fleet updates from. Forward members report the revision of
  // the release.
  if (updateRevision !== undefined) turned["currentRevision"] = updateRevision;
  return turned;
}
