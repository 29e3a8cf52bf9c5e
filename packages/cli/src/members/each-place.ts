/**
 * Queries many clusters in parallel. A cluster that does not respond is reported with the reason and does not delay the
 * others.
 */
import { ApiError, HUB } from "@flotilla/apimachinery";
import { FlotillaError, messageOf, UsageError } from "@flotilla/base";
import type { Place } from "./members-places.ts";

/** The number of clusters queried at the same time. */
const CONCURRENCY = 16;
const MAX_REASON_CHARACTERS = 400;

export interface Failure {
  place: Place;
  reason: string;
  /** A pull-mode member that the hub cannot reach: nothing to fix here. */
  isOutOfReach?: boolean;
  /** It should respond, and does not. */
  isAway?: boolean;
}

export interface Gathered<T, P extends Place = Place> {
  /** In the order of the places. */
  answers: { place: P; answer: T }[];
  failures: Failure[];
}

/** Stops early only when the signal is aborted. */
export async function askEach<T, P extends Place = Place>(
  places: readonly P[],
  signal: AbortSignal,
  ask: (place: P) => Promise<T>,
): Promise<Gathered<T, P>> {
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
        // About the command line, not about the place.
        if (error instanceof UsageError) throw error;
        outcomes[index] = {
          reason: reasonOf(place, error),
          isOutOfReach: isOutOfReach(place, error),
          isAway: !isRefusal(error) && !isOutOfReach(place, error),
        };
      }
    }
  };
  await Promise.all(Array.from({ length: Math.min(CONCURRENCY, places.length) }, work));
  const gathered: Gathered<T, P> = { answers: [], failures: [] };
  places.forEach((place, index) => {
    const outcome = outcomes[index];
    if (outcome && "answer" in outcome) gathered.answers.push({ place, answer: outcome.answer });
    else if (outcome) gathered.failures.push({ place, ...outcome });
  });
  return gathered;
}

/** Why a cluster did not respond, in one line. The hub may be unable to reach a pull-mode member. */
export function reasonOf(place: Place, error: unknown): string {
  const text = messageOf(error).replaceAll(/\s+/g, " ").slice(0, MAX_REASON_CHARACTERS);
  if (isRefusal(error)) return text;
  if (isOutOfReach(place, error))
    return (
      "the hub cannot reach this member, because it uses pull mode " +
      `(${text.replace(/^Internal error occurred: /, "")}); use its own kubeconfig, for example 'kubectl ` +
      "--kubeconfig FILE get pods'"
    );
  // A timeout has no message of its own; the last condition on the hub may explain it.
  const isSilent = error instanceof FlotillaError && error.code === "NoAnswer";
  return isSilent && place.unready !== undefined ? `${text} (the hub reports: ${place.unready})` : text;
}

/** A rejection by its API server came from the member; every other error is about the connection to it. */
const isRefusal = (error: unknown): boolean =>
  error instanceof ApiError && error.status.code >= 400 && error.status.code < 500;

const isOutOfReach = ({ mode }: Place, error: unknown): boolean => mode === "pull" && !isRefusal(error);

/** `member2: no response within 10 s`, and what to run next if it should have responded. */
export const failureLine = ({ place, reason, isAway = false }: Failure): string =>
  `${place.name}: ${reason}${isAway ? whereToLook(place.name) : ""}`;

export const whereToLook = (cluster: string): string =>
  cluster === HUB ? "" : `; run 'flotilla doctor --clusters ${cluster}' for details`;
