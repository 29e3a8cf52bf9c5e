/** Why pods on a member do not run: from their status and, where that does not show it, from the events about them. */
import type { JsonObject } from "@flotilla/base";
import type { Asking } from "../members/ask.ts";
import { readEvents } from "../members/events.ts";
import { isForbidden } from "../members/members-places.ts";
import type { Place } from "../members/members-places.ts";
import { findPodTroubles, isUnexplained } from "./pod-troubles.ts";
import type { PodTrouble } from "./pod-troubles.ts";

export interface PodReport {
  troubles: PodTrouble[];
  /** What could not be read beside the pods. */
  unseen?: string | undefined;
}

/** The pods are of one namespace. */
export async function readPodTroubles(
  asking: Asking,
  place: Place,
  namespace: string | undefined,
  pods: readonly JsonObject[],
): Promise<PodReport> {
  const troubles = findPodTroubles(pods);
  if (!troubles.some(isUnexplained)) return { troubles };
  try {
    const events = await readEvents(asking, place, { kind: "Pod", namespace, type: "Warning" });
    const warnings = events.map(({ object, reason, message, at }) => ({
      pod: object.replace(/^pod\//, ""),
      reason,
      message,
      atMs: Date.parse(at),
    }));
    return { troubles: findPodTroubles(pods, warnings) };
  } catch (error) {
    // A user who may not read events still gets everything else.
    if (isForbidden(error)) return { troubles, unseen: unseenEvents(place) };
    throw error;
  }
}

export const unseenEvents = ({ name }: Place): string => `the events on ${name}: you are not allowed to list them`;
