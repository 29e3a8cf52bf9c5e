/**
 * The release that the counters of a reported status belong to, as a field of that status. A member that has an older
 * copy of the template still counts pods of the release if only the partition is different.
 */
import type { KubernetesObject } from "@flotilla/apimachinery";
import { isObject, type DeepReadonly, type Json, type JsonObject } from "@flotilla/base";
import { countOf } from "@flotilla/kubernetes";
import { ROLLOUT_STAGE } from "./release.ts";

/** The field: a digest of the release. Only copies of a rollout that is divided have one. */
const RELEASE = "release";

/** Counters that refer to the newest template. */
export const UPDATED_COUNTERS = [
  "updatedReplicas",
  "updatedReadyReplicas",
  "updatedAvailableReplicas",
  "expectedUpdatedReplicas",
  "updatedNumberScheduled",
];

/** A member's status with the release of its copy. */
export function withRelease(copy: DeepReadonly<KubernetesObject>, status: Json | undefined): Json | undefined {
  const [digest = ""] = (copy.metadata.annotations?.[ROLLOUT_STAGE] ?? "").split("/");
  return isObject(status) && /^[0-9a-f]{16}$/.test(digest) ? { ...status, [RELEASE]: digest } : status;
}

export function countsRelease(status: unknown, release: string): boolean {
  return isObject(status) && status[RELEASE] === release;
}

/**
 * Until a member's controller has observed its copy, its counters belong to an earlier one, of another release or
 * written in the other direction (`member-stage.ts`). Then those of the last report hold.
 */
export function keepCounted<T>(status: T, last: unknown): T {
  if (!isObject(status) || isObserved(status)) return status;
  const known: JsonObject = isObject(last) ? last : {};
  const release = known[RELEASE];
  if (release === undefined) return status[RELEASE] === undefined ? status : { ...status, [RELEASE]: undefined };
  const counted = UPDATED_COUNTERS.filter((field) => known[field] !== undefined);
  return { ...status, [RELEASE]: release, ...Object.fromEntries(counted.map((field) => [field, known[field]])) };
}

function isObserved({ generation, observedGeneration }: JsonObject): boolean {
  return typeof generation !== "number" || countOf(observedGeneration) >= generation;
}
