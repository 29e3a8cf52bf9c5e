/**
 * One question to many members. A bounded number is asked at a time, and a member that does not answer in time is left
 * out with the reason: a hanging member must not delay the answers of a thousand others.
 */
import type { Cluster } from "@flotilla/karmada";
import { findCondition } from "@flotilla/apimachinery";
import { FlotillaError, messageOf } from "@flotilla/base";
import type { Clock, DeepReadonly } from "@flotilla/base";

/** Members that are asked at the same time. */
const CONCURRENCY = 32;
const MEMBER_TIMEOUT_MS = 10_000;
/** Members that a message names. */
const MAX_NAMED = 10;

export interface Answers<T> {
  /** Ordered by the name of the member. */
  answers: { cluster: string; answer: T }[];
  /** Members without an answer, with the reason, in order. */
  missing: string[];
}

export interface AskOptions {
  clusters: readonly DeepReadonly<Cluster>[];
  clock: Clock;
  signal: AbortSignal;
  /** An error of one member that ends the whole request. */
  isFinal?(error: unknown): boolean;
}

/** Asks every ready member. An abort by the caller ends it. */
export async function askMembers<T>(
  { clusters, clock, signal, isFinal = () => false }: AskOptions,
  ask: (cluster: string, signal: AbortSignal) => Promise<T>,
): Promise<Answers<T>> {
  const all = clusters.toSorted((a, b) => (a.metadata.name < b.metadata.name ? -1 : 1));
  const found: ({ answer: T } | undefined)[] = Array.from({ length: all.length });
  const missing: string[] = [];
  let next = 0;
  const work = async (): Promise<void> => {
    for (let index; (index = next++) < all.length;) {
      const cluster = all[index];
      const name = cluster?.metadata.name ?? "";
      try {
        if (findCondition(cluster?.status?.conditions ?? [], "Ready")?.status !== "True")
          throw new FlotillaError("Member", "it is not ready");
        found[index] = { answer: await withTimeout(clock, signal, (until) => ask(name, until)) };
      } catch (error) {
        if (signal.aborted || isFinal(error)) {
          next = all.length;
          throw error;
        }
        missing.push(`${name} (${messageOf(error)})`);
      }
    }
  };
  await Promise.all(Array.from({ length: Math.min(CONCURRENCY, all.length) }, work));
  return {
    answers: all.flatMap(({ metadata: { name } }, index) => {
      const one = found[index];
      return one ? [{ cluster: name, answer: one.answer }] : [];
    }),
    missing: missing.sort(),
  };
}

async function withTimeout<T>(clock: Clock, signal: AbortSignal, run: (until: AbortSignal) => Promise<T>): Promise<T> {
  const timeout = new AbortController();
  const timer = clock.after(MEMBER_TIMEOUT_MS, () =>
    timeout.abort(new Error(`it did not answer within ${MEMBER_TIMEOUT_MS / 1000} s`)),
  );
  try {
    return await run(AbortSignal.any([signal, timeout.signal]));
  } finally {
    timer.cancel();
  }
}

export const someOf = (names: readonly string[], separator: string): string =>
  `${names.slice(0, MAX_NAMED).join(separator)}${names.length > MAX_NAMED ? ` and ${names.length - MAX_NAMED} more` : ""}`;

export const missingAnswers = (missing: readonly string[]): string => `no answer from: ${someOf(missing, ", ")}`;
