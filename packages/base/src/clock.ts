/**
 * Time is injected through `Clock`, so that a whole fleet can run in a simulation.
 *
 * `systemClock` is the machine's clock; `createFakeClock` stands still until a test advances it.
 */
export interface Clock {
  /** Milliseconds since the epoch. */
  now(): number;
  /** Calls `run` once after `delayMs`. */
  after(delayMs: number, run: () => void): Timer;
}

export interface Timer {
  cancel(): void;
}

/** Resolves after `delayMs`, or rejects with the signal's reason when it is aborted first. */
export function sleep(clock: Clock, delayMs: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted) return reject(signal.reason as Error);
    const stop = (): void => {
      timer.cancel();
      reject(signal?.reason as Error);
    };
    const timer = clock.after(delayMs, () => {
      signal?.removeEventListener("abort", stop);
      resolve();
    });
    signal?.addEventListener("abort", stop, { once: true });
  });
}

/** Calls `run` every `intervalMs` until it is cancelled. */
export function every(clock: Clock, intervalMs: number, run: () => void): Timer {
  const next = (): Timer =>
    clock.after(intervalMs, () => {
      timer = next();
      run();
    });
  let timer = next();
  return { cancel: () => timer.cancel() };
}

/** The last formatted second: a busy server formats the same one thousands of times. */
let formatted = { second: Number.NaN, text: "" };

/** RFC 3339 in UTC with whole seconds, as `metav1.Time` is written. */
export function formatTime(ms: number): string {
  const second = Math.floor(ms / 1000);
  if (formatted.second !== second) formatted = { second, text: `${new Date(ms).toISOString().slice(0, 19)}Z` };
  return formatted.text;
}

/** As `metav1.MicroTime` is written. */
export function formatMicroTime(ms: number): string {
  return new Date(ms).toISOString().replace("Z", "000Z");
}

/** Node fires timers beyond 2^31 - 1 ms immediately; a longer wait takes several timers. */
const LONGEST_TIMER_MS = 2 ** 31 - 1;

export const systemClock: Clock = {
  now: () => Date.now(),
  after(delayMs, run) {
    let timer: NodeJS.Timeout;
    const wait = (leftMs: number): void => {
      timer =
        leftMs > LONGEST_TIMER_MS
          ? setTimeout(() => wait(leftMs - LONGEST_TIMER_MS), LONGEST_TIMER_MS)
          : setTimeout(run, leftMs);
    };
    wait(delayMs);
    return { cancel: () => clearTimeout(timer) };
  },
};

/** Milliseconds on a clock that is never corrected and continues while the process is stopped. */
export const elapsedMs = (): number => performance.now();

export interface FakeClock extends Clock {
  /**
   * Advances time and fires due timers, in order. Work that a timer starts is not awaited; see `settle` of the test
   * manager.
   */
  advance(byMs: number): void;
  /** When the next timer is due, or undefined when none is set. */
  nextDue(): number | undefined;
}

export function createFakeClock(startMs: number = Date.UTC(2024, 4, 1, 12)): FakeClock {
  let now = startMs;
  let sequence = 0;
  const timers = new Map<number, { due: number; run: () => void }>();
  const next = (): [number, { due: number; run: () => void }] | undefined => {
    let first: [number, { due: number; run: () => void }] | undefined;
    for (const entry of timers) if (!first || entry[1].due < first[1].due) first = entry;
    return first;
  };
  return {
    now: () => now,
    after(delayMs, run) {
      const id = sequence++;
      timers.set(id, { due: now + Math.max(0, delayMs), run });
      return { cancel: () => void timers.delete(id) };
    },
    advance(byMs) {
      const target = now + byMs;
      for (let entry = next(); entry && entry[1].due <= target; entry = next()) {
        timers.delete(entry[0]);
        now = Math.max(now, entry[1].due);
        entry[1].run();
      }
      now = target;
    },
    nextDue: () => next()?.[1].due,
  };
}
