/**
 * A hanging member accepts a request and does not answer until the request times out. Users who wait for the Work
 * should know earlier, so a delivery that takes too long is reported, once.
 */
import type { Clock, Timer } from "@flotilla/base";
import type { LaneAccess } from "./member-lanes.ts";

/** Longer than a merely busy member takes, but short for a user who watches a rollout. */
export const SLOW_MS = 5_000;

/** The same access, which calls back when it was entered and not left for a while. */
export function watchLaneAccess(access: LaneAccess, clock: Clock, report: () => void): LaneAccess {
  let timer: Timer | undefined;
  return {
    enter() {
      access.enter();
      timer ??= clock.after(SLOW_MS, report);
    },
    leave(unreachable) {
      timer?.cancel();
      access.leave(unreachable);
    },
  };
}
