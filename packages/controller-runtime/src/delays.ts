/** Items that become due later, with one timer for the earliest. Every operation is O(log n). */
import type { Clock, Timer } from "@flotilla/base";
import { DueHeap, type Due } from "./due-heap.ts";

export interface Delays<T extends Due> {
  readonly size: number;
  /** Of two delays of an item the earlier one wins. */
  add(item: T, delayMs: number): void;
  remove(item: T): void;
  /** Drops all items and stops the timer. */
  clear(): void;
}

export function createDelays<T extends Due>(clock: Clock, onDue: (item: T) => void): Delays<T> {
  const heap = new DueHeap<T>();
  let timer: { atMs: number; handle: Timer } | undefined;
  let lastMs = Number.NEGATIVE_INFINITY;
  let aheadMs = 0;
  /** Time that does not go back when the clock is set back: no delay becomes longer by that. */
  const steadyNow = (atLeastMs = lastMs): number => {
    const nowMs = clock.now() + aheadMs;
    if (nowMs < atLeastMs) aheadMs += atLeastMs - nowMs;
    lastMs = Math.max(nowMs, atLeastMs);
    return lastMs;
  };

  const fire = (): void => {
    const now = steadyNow(timer?.atMs);
    timer = undefined;
    for (let item = heap.first(); item && item.dueMs <= now; item = heap.first()) {
      heap.remove(item);
      onDue(item);
    }
    arm();
  };
  const arm = (): void => {
    const first = heap.first();
    if (timer && timer.atMs === first?.dueMs) return;
    timer?.handle.cancel();
    timer = first && { atMs: first.dueMs, handle: clock.after(Math.max(0, first.dueMs - steadyNow()), fire) };
  };

  return {
    get size() {
      return heap.size;
    },
    add(item, delayMs) {
      const dueMs = steadyNow() + Math.max(0, delayMs);
      if (item.place >= 0 && item.dueMs <= dueMs) return;
      heap.remove(item);
      item.dueMs = dueMs;
      heap.add(item);
      arm();
    },
    remove(item) {
      heap.remove(item);
      arm();
    },
    clear() {
      timer?.handle.cancel();
      timer = undefined;
      for (let item = heap.first(); item; item = heap.first()) heap.remove(item);
    },
  };
}
