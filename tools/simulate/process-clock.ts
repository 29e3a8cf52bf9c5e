/** The clock of one process: it may be wrong by any amount, and its timers end with the process. */
import type { Clock } from "@flotilla/base";

export interface ProcessClock extends Clock {
  /** The wall clock jumps; timers measure elapsed time and do not. */
  jump(byMs: number): void;
  end(): void;
}

export function createProcessClock(clock: Clock, offsetMs: number): ProcessClock {
  let offset = offsetMs;
  let hasEnded = false;
  return {
    now: () => clock.now() + offset,
    after: (delayMs, run) =>
      clock.after(delayMs, () => {
        if (!hasEnded) run();
      }),
    jump: (byMs) => void (offset += byMs),
    end: () => void (hasEnded = true),
  };
}
