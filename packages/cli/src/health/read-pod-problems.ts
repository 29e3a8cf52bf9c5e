/** Why pods on a member do not run: from their status and, where that does not show it, from the events about them. */
import type { JsonObject } from "@flotilla/base";
import type { Asking } from "../members/ask.ts";
import { readEvents } from "../members/events.ts";
import type { Place } from "../members/members-places.ts";
import { findPodProblems, isUnexplained } from "./pod-problems.ts";
import type { PodProblem } from "./pod-problems.ts";
import { isForbidden } from "@flotilla/apimachinery";

export interface PodReport {
  problems: PodProblem[];
  /** What could not be read beside the pods. */
  unseen?: string | undefined;
}

/** The pods are of one namespace. */
export async function readPodProblems(
  asking: Asking,
  place: Place,
  namespace: string | undefined,
  pods: readonly JsonObject[],
  isOutdated?: (pod: JsonObject) => boolean,
): Promise<PodReport> {
  const problems = findPodProblems(pods, [], isOutdated);
  if (!problems.some(isUnexplained)) return { problems };
  try {
    const events = await readEvents(asking, place, { kind: "Pod", namespace, type: "Warning" });
    const warnings = events.map(({ object, reason, message, at }) => ({
      pod: object.replace(/^pod\//, ""),
      reason,
      message,
      atMs: Date.parse(at),
    }));
    return { problems: findPodProblems(pods, warnings, isOutdated) };
  } catch (error) {
    // A user who may not read events still gets everything else.
    if (isForbidden(error)) return { problems, unseen: unseenEvents(place) };
    throw error;
  }
}

export const unseenEvents = ({ name }: Place): string => `the events on ${name}: you are not allowed to list them`;
