/** Whether and when a failed node is retried. Pure. */
import { describeDuration, parseDurationMs } from "./workflow-durations.ts";
import type { ReadonlyNode, ReadonlyTemplate } from "./workflow-names.ts";

export type RetryVerdict = { again: true } | { fail: string } | { waitUntilMs: number; message: string };

/** Errors that are safe to retry. */
const TRANSIENT = /timeout|timed out|connection (refused|reset)|try again|too many requests|Evicted|NodeLost/i;
/** Longer than any wait; keeps powers of the factor finite. */
const MAX_WAIT_MS = 365 * 24 * 3_600_000;

/** `tries` are all attempts so far; the last one failed. */
export function nextRetry(strategy: DeepStrategy, tries: readonly ReadonlyNode[], nowMs: number): RetryVerdict {
  const last = tries.at(-1);
  const { backoff, limit } = strategy;
  const left = limit === undefined || tries.length <= Number(limit);
  if (backoff) {
    const maxMs = backoff.maxDuration === undefined ? undefined : parseDurationMs(backoff.maxDuration);
    const deadlineMs = maxMs === undefined ? undefined : timeOf(tries[0]?.startedAt) + maxMs;
    if (deadlineMs !== undefined && nowMs > deadlineMs) return { fail: "Max duration limit exceeded" };
    const factor = Number(backoff.factor ?? 0);
    const grown = (parseDurationMs(backoff.duration ?? "") ?? 0) * (factor > 0 ? factor ** (tries.length - 1) : 1);
    const waitMs = Math.min(grown, parseDurationMs(backoff.cap ?? "") ?? MAX_WAIT_MS, MAX_WAIT_MS);
    const untilMs = timeOf(last?.finishedAt) + waitMs;
    if (deadlineMs !== undefined && untilMs > deadlineMs) return { fail: "Backoff would exceed max duration limit" };
    if (nowMs < untilMs && left && isRetried(strategy, last))
      return { waitUntilMs: untilMs, message: `Backoff for ${describeDuration(waitMs)}` };
  }
  if (!isRetried(strategy, last)) return { fail: last?.message ?? "" };
  return left ? { again: true } : { fail: "No more retries left" };
}

type DeepStrategy = NonNullable<ReadonlyTemplate["retryStrategy"]>;

function isRetried({ retryPolicy }: DeepStrategy, last: ReadonlyNode | undefined): boolean {
  switch (retryPolicy) {
    case "Always":
      return true;
    case "OnError":
      return last?.phase === "Error";
    case "OnTransientError":
      return TRANSIENT.test(last?.message ?? "");
    default:
      return last?.phase === "Failed";
  }
}

const timeOf = (time: string | null | undefined): number => (time ? Date.parse(time) : 0);
