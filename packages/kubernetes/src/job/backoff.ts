/** The backoff of a Job before it replaces a failed pod: doubled after every consecutive failure. */
import { failuresBefore, finishedMs } from "./job-pods.ts";
import type { ReadonlyPod } from "../pod/pod-state.ts";

const FIRST_BACKOFF_MS = 10_000;
const MAX_BACKOFF_MS = 10 * 60_000;

/** Failures since the last success. Kept in memory: after a restart a Job starts over, as upstream's does. */
export interface Backoff {
  failures: number;
  lastFailureMs: number;
}
export const NO_BACKOFF: Backoff = { failures: 0, lastFailureMs: 0 };

/** The record after these newly finished pods. */
export function nextBackoff(
  before: Backoff,
  succeeded: readonly ReadonlyPod[],
  failed: readonly ReadonlyPod[],
): Backoff {
  const failures = failed.map(finishedMs);
  if (succeeded.length === 0)
    return failures.length === 0
      ? before
      : { failures: before.failures + failures.length, lastFailureMs: Math.max(...failures) };
  const lastSuccessMs = Math.max(...succeeded.map(finishedMs));
  const later = failures.filter((time) => time > lastSuccessMs);
  return later.length === 0 ? NO_BACKOFF : { failures: later.length, lastFailureMs: Math.max(...later) };
}

/** Milliseconds to wait; 0 if a pod may be created. */
export function backoffLeftMs({ failures, lastFailureMs }: Backoff, nowMs: number): number {
  if (failures === 0) return 0;
  const backoffMs = Math.min(MAX_BACKOFF_MS, FIRST_BACKOFF_MS * 2 ** Math.min(failures - 1, 16));
  return Math.max(0, backoffMs - (nowMs - lastFailureMs));
}

/** The same for one index, whose last pod records its failures. */
export function indexBackoffLeftMs(last: ReadonlyPod | undefined, nowMs: number): number {
  if (!last) return 0;
  const { counted, ignored } = failuresBefore(last);
  return backoffLeftMs({ failures: counted + ignored + 1, lastFailureMs: finishedMs(last) }, nowMs);
}
