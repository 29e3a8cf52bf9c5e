/**
 * Lets garbage of buffers grow before V8 collects the old generation. V8 does so whenever 64 MB of buffers were allocated,
 * whatever they belong to, and a hub allocates that much for thirty large requests: it collected continuously while clients
 * sent some, which took half of the time of the event loop. Most buffers die young and are freed without it.
 *
 * A flag of V8, which it reads each time, has it count buffers with the heap, whose limit is far above. It is reset when
 * much is held, until the next collection.
 */
import { constants, PerformanceObserver } from "node:perf_hooks";
import v8 from "node:v8";
import { every } from "@flotilla/base";
import type { Clock, Timer } from "@flotilla/base";

const INTERVAL_MS = 100;
const MAX_GARBAGE_BYTES = 160 * 1024 * 1024;

export interface BufferGarbage {
  /** Reads the size of all buffers, and returns whether V8 may leave their garbage. */
  check(bytes: number): boolean;
  /** The old generation was collected. */
  collected(): void;
}

/** Decides when garbage has to be collected. Pure but for what it remembers. */
export function createBufferGarbage(): BufferGarbage {
  /** What was in use after the last collection; buffers are freed for a moment after it. */
  let inUse: number | undefined;
  let isDue = false;
  return {
    check(bytes) {
      inUse = Math.min(inUse ?? bytes, bytes);
      isDue ||= bytes > inUse + MAX_GARBAGE_BYTES;
      return !isDue;
    },
    collected() {
      isDue = false;
      inUse = undefined;
    },
  };
}

export function leaveBufferGarbage(clock: Clock): Timer {
  const garbage = createBufferGarbage();
  let isLeft = false;
  const check = (): void => {
    const mayStay = garbage.check(v8.getHeapStatistics().external_memory);
    if (mayStay === isLeft) return;
    isLeft = mayStay;
    v8.setFlagsFromString(`--${mayStay ? "" : "no-"}external-memory-accounted-in-global-limit`);
  };
  const observer = new PerformanceObserver((list) => {
    if (!list.getEntries().some(isMajor)) return;
    garbage.collected();
    check();
  });
  observer.observe({ entryTypes: ["gc"] });
  const timer = every(clock, INTERVAL_MS, check);
  return {
    cancel() {
      observer.disconnect();
      timer.cancel();
    },
  };
}

const isMajor = (entry: object): boolean =>
  "detail" in entry && (entry.detail as { kind?: number } | undefined)?.kind === constants.NODE_PERFORMANCE_GC_MAJOR;
