/**
 * How long a status waits for company before it is written. Each write is a commit, an event and a reconcile behind it.
 */

/**
 * Changes of one object are gathered this long: enough to join what the stages and the members' controllers report
 * about one event, short enough that nobody waits for it.
 */
export const STATUS_WINDOW_MS = 50;

/**
 * Progress and successes wait this long for what settles them: a copy that is coming up, a schedule that is seen in
 * `spec.clusters` anyway. A pod takes about a second to start, so most workloads are reported once, when they run.
 * Failures and what has settled are never held back.
 */
export const PROGRESS_PATIENCE_MS = 1_500;
