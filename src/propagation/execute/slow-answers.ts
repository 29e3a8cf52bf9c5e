/**
 * A member that hangs takes a request and says nothing, for as long as it takes to give the request up. Whoever waits
 * for its Work should hear of that sooner: so a delivery that has been under way for longer than a moment is told,
 * once.
 */
import type { Clock, Timer } from "../../base/index.ts";
import type { Passage } from "../../delivery/index.ts";

/** Longer than a member takes that is merely busy, shorter than anybody who watches a release wants to wonder. */
export const SLOW_MS = 5_000;

/** The same passage, which tells when it has been taken and not left for a while. */
export function watchPassage(passage: Passage, clock: Clock, tell: () => void): Passage {
  let timer: Timer | undefined;
  return {
    enter() {
      passage.enter();
      timer ??= clock.after(SLOW_MS, tell);
    },
    leave(unreachable) {
      timer?.cancel();
      passage.leave(unreachable);
    },
  };
}
