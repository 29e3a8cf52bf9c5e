/**
 * How fast the watches of one server are read. A server that sends events without end would otherwise take all of the
 * process's time: each event is small, and each is within the limits. What is not read stays at the server.
 */
import type { Clock } from "@flotilla/base";

/** An event costs as much as decoding this many bytes, however short it is. */
const EVENT_BYTES = 2048;
/** Some seconds' worth may be read at once: events come in bursts. */
const BURST_SECONDS = 4;

export interface WatchPace {
  /** Resolves when more may be read; undefined when that is now. */
  read(bytes: number, events: number, signal: AbortSignal): Promise<void> | undefined;
}

export function createWatchPace(bytesPerSecond: number, clock: Clock): WatchPace {
  const burst = bytesPerSecond * BURST_SECONDS;
  let room = burst;
  let filledMs = clock.now();
  return {
    read(bytes, events, signal) {
      if (bytesPerSecond === Number.POSITIVE_INFINITY) return undefined;
      const nowMs = clock.now();
      room = Math.min(burst, room + ((nowMs - filledMs) / 1000) * bytesPerSecond) - bytes - events * EVENT_BYTES;
      filledMs = nowMs;
      if (room >= 0 || signal.aborted) return undefined;
      return new Promise((resolve) => {
        const done = (): void => {
          timer.cancel();
          signal.removeEventListener("abort", done);
          resolve();
        };
        const timer = clock.after((-room / bytesPerSecond) * 1000, done);
        signal.addEventListener("abort", done, { once: true });
      });
    },
  };
}
