/** How long a status is delayed to be batched. Each write is a commit, an event and a reconcile after it. */

/**
 * Changes of one object are collected this long: enough to merge what the stages and the members' controllers report
 * about one event, too short to be noticed.
 */
export const STATUS_WINDOW_MS = 50;

/**
 * Preliminary reports and successes wait this long for the result: a starting copy, or one that its member has not
 * observed yet. A pod takes about a second to start, so most workloads are reported once, when they run. Failures and
 * final states are never delayed.
 */
export const PROGRESS_DEBOUNCE_MS = 1_500;

/**
 * A schedule is visible in `spec.clusters`, so its condition waits a little longer than the first reports of the
 * members, which then need no write of their own. On a busy hub these take longer.
 */
export const SCHEDULED_TIMING = { debounceMs: PROGRESS_DEBOUNCE_MS + 250, busyMs: 2 * PROGRESS_DEBOUNCE_MS } as const;

/**
 * Progress is reported this often at most; after a pause the writer collects it for only 20 ms. A member's change passes
 * two writers, so it is on the hub within half a second.
 */
const PROGRESS_INTERVAL_MS = 200;

/** A settled state is reported at once after a pause; what follows is collected. */
export const SETTLED_TIMING = { everyMs: STATUS_WINDOW_MS } as const;

/** The timing of progress; a preliminary report is worth no write of its own. */
export function progressTiming(isPreliminary: boolean): { debounceMs: number; everyMs?: number } {
  return { debounceMs: PROGRESS_DEBOUNCE_MS, everyMs: isPreliminary ? undefined : PROGRESS_INTERVAL_MS };
}
