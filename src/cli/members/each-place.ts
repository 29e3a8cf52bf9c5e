/** Asks many clusters side by side. One that does not answer is told with its reason and holds up nobody. */
import { FlotillaError, messageOf } from "../../base/index.ts";
import { ApiError } from "../../machinery/index.ts";
import { HUB } from "./places.ts";
import type { Place } from "./places.ts";

/** So many clusters are asked at the same time. */
const CONCURRENCY = 16;
const MAX_REASON_CHARACTERS = 400;

export interface Failure {
  place: Place;
  reason: string;
  /** It pulls, and the hub has no way to it: nothing that could be mended here. */
  isOutOfReach?: boolean;
  /** It should answer, and does not. */
  isAway?: boolean;
}

export interface Gathered<T> {
  /** In the order of the places. */
  answers: { place: Place; answer: T }[];
  failures: Failure[];
}

/** Ends early only when the signal is aborted. */
export async function askEach<T>(
  places: readonly Place[],
  signal: AbortSignal,
  ask: (place: Place) => Promise<T>,
): Promise<Gathered<T>> {
  const outcomes: ({ answer: T } | Omit<Failure, "place"> | undefined)[] = Array.from({ length: places.length });
  let next = 0;
  const work = async (): Promise<void> => {
    for (let index; (index = next++) < places.length;) {
      const place = places[index];
      if (!place) return;
      try {
        outcomes[index] = { answer: await ask(place) };
      } catch (error) {
        signal.throwIfAborted();
        outcomes[index] = {
          reason: reasonOf(place, error),
          isOutOfReach: isOutOfReach(place, error),
          isAway: !isRefusal(error) && !isOutOfReach(place, error),
        };
      }
    }
  };
  await Promise.all(Array.from({ length: Math.min(CONCURRENCY, places.length) }, work));
  const gathered: Gathered<T> = { answers: [], failures: [] };
  places.forEach((place, index) => {
    const outcome = outcomes[index];
    if (outcome && "answer" in outcome) gathered.answers.push({ place, answer: outcome.answer });
    else if (outcome) gathered.failures.push({ place, ...outcome });
  });
  return gathered;
}

/** Why a cluster gave no answer, in one line. A member that pulls may be one that the hub has no way to. */
export function reasonOf(place: Place, error: unknown): string {
  const text = messageOf(error).replaceAll(/\s+/g, " ").slice(0, MAX_REASON_CHARACTERS);
  if (isRefusal(error)) return text;
  if (isOutOfReach(place, error)) return `it pulls, and the hub has no way to it: ${text}; use its own kubeconfig`;
  // Silence has no words of its own; what the hub last heard may explain it.
  const isSilent = error instanceof FlotillaError && error.code === "NoAnswer";
  return isSilent && place.unready !== undefined ? `${text} (the hub says: ${place.unready})` : text;
}

/** A refusal of its own API server came from the member; everything else came from the way to it. */
const isRefusal = (error: unknown): boolean =>
  error instanceof ApiError && error.status.code >= 400 && error.status.code < 500;

const isOutOfReach = ({ mode }: Place, error: unknown): boolean => mode === "pull" && !isRefusal(error);

/** `member2: no answer within 10 s`, and where to look when it should have answered. */
export const failureLine = ({ place, reason, isAway = false }: Failure): string =>
  `${place.name}: ${reason}${isAway ? whereToLook(place.name) : ""}`;

export const whereToLook = (cluster: string): string =>
  cluster === HUB ? "" : `; 'flotilla doctor --clusters ${cluster}' says more`;
