/** Times of a release that its deadlines are counted from. Pure. */
import type { FleetRolloutStatus } from "../kinds/fleet-rollout.ts";

/**
 * Times from before the clock was set back are in the future, and a soak or a deadline counted from them would be late by
 * as much. They count from now.
 */
export function boundTimes(status: FleetRolloutStatus, { now, nowMs }: { now: string; nowMs: number }): void {
  const bound = (time: string | undefined): string | undefined =>
    time !== undefined && Date.parse(time) > nowMs ? now : time;
  for (const field of ["startedAt", "waveStartedAt", "waveDoneAt"] as const) {
    const time = bound(status[field]);
    if (time !== status[field]) status[field] = time;
  }
  for (const entry of status.clusters ?? [])
    for (const field of ["progressTime", "unreachableSince", "unhealthySince"] as const) {
      const time = bound(entry[field]);
      if (time !== entry[field]) entry[field] = time;
    }
}
