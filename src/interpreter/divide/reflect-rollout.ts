/**
 * What a member says about its part of a rollout, counted in pods of the release. A copy that goes backward
 * (`member-stage.ts`) counts the other pods as updated on its member; here they are turned round, so that members add
 * up whichever way each goes.
 */
import { isObject, type DeepReadonly, type Json, type JsonObject } from "../../base/index.ts";
import { countOf } from "../replica-status.ts";
import { parseStage, stageTextOf } from "./member-stage.ts";
import type { Partitioned } from "./partitioned.ts";

/** Counters of the updated pods, and those of all pods that they are a part of. */
const PARTS: readonly (readonly [updated: string, all: string])[] = [
  ["updatedReplicas", "replicas"],
  ["updatedReadyReplicas", "readyReplicas"],
  ["updatedAvailableReplicas", "availableReplicas"],
];

export function reflectRollout(cloneSet: DeepReadonly<Partitioned>, status: Json | undefined): Json | undefined {
  const text = stageTextOf(cloneSet);
  const stage = parseStage(text);
  if (!isObject(status) || !stage || text === undefined) return status;
  return { ...(stage.isBackward ? turnedRound(status, cloneSet.spec?.replicas ?? 1) : status), rolloutStage: text };
}

function turnedRound(status: JsonObject, replicas: number): JsonObject {
  const { updateRevision, ...others } = status;
  const turned: JsonObject = { ...others };
  for (const [updated, all] of PARTS)
    if (status[updated] !== undefined || status[all] !== undefined)
      turned[updated] = Math.max(0, countOf(status[all]) - countOf(status[updated]));
  turned["expectedUpdatedReplicas"] = Math.max(0, replicas - countOf(status["expectedUpdatedReplicas"]));
  // The member's update revision is the one that the fleet comes from. That of the release is told by members that go
  // forward.
  if (updateRevision !== undefined) turned["currentRevision"] = updateRevision;
  return turned;
}
