/**
 * Writers wait while watchers are behind. Without it a server takes writes faster than a thousand watchers can read them, and
 * what they see is seconds old.
 *
 * Every watch reports what it holds for its peer. Together they may hold so much; beyond that new writes from outside wait, and
 * go on when half of it is gone. One peer that reads nothing counts for little, so it cannot stop the writers: it is cut off
 * when its own backlog is full. No writer waits longer than a bound, because a write that comes late is better than none.
 */
import type { Clock } from "../base/index.ts";

export interface BackPressure {
  /** A new watch. Call `report` with what it holds now, and `end` when it is over. */
  join(): { report(bytes: number): void; end(): void };
  /** Resolves when a write may go on; at once, when nobody is behind. */
  room(signal: AbortSignal): Promise<void> | undefined;
  /** What all watches hold, each counted up to its share. */
  readonly bytes: number;
}

export interface BackPressureOptions {
  clock: Clock;
  /** All watches together may hold this much before writers wait. */
  limitBytes?: number;
  /** One watch counts for at most this much. */
  shareBytes?: number;
  maxWaitMs?: number;
}

const LIMIT_BYTES = 8 * 1024 * 1024;
const SHARE_BYTES = 128 * 1024;
const MAX_WAIT_MS = 2000;

export function createBackPressure(options: BackPressureOptions): BackPressure {
  const { clock, limitBytes = LIMIT_BYTES, shareBytes = SHARE_BYTES, maxWaitMs = MAX_WAIT_MS } = options;
  const waiting = new Set<() => void>();
  let total = 0;

  const change = (by: number): void => {
    total += by;
    if (total > limitBytes / 2 || waiting.size === 0) return;
    for (const resume of waiting) resume();
    waiting.clear();
  };

  return {
    get bytes() {
      return total;
    },
    join() {
      let counted = 0;
      const report = (bytes: number): void => {
        const share = Math.min(bytes, shareBytes);
        if (share === counted) return;
        const by = share - counted;
        counted = share;
        change(by);
      };
      return { report, end: () => report(0) };
    },
    room(signal) {
      if (total <= limitBytes || signal.aborted) return undefined;
      return new Promise((resolve) => {
        const done = (): void => {
          timer.cancel();
          waiting.delete(done);
          signal.removeEventListener("abort", done);
          resolve();
        };
        const timer = clock.after(maxWaitMs, done);
        waiting.add(done);
        signal.addEventListener("abort", done, { once: true });
      });
    },
  };
}
