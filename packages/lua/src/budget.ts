/**
 * Limits of one call. Time is counted in ticks (loop rounds, calls, library steps), so that results do not depend on
 * the machine; the clock is read only once per slice. Memory counts all allocations ever made, which is simple and an
 * upper bound of live memory.
 */
export interface LuaBudget {
  readonly ticks: number;
  readonly deadlineMs: number;
  readonly bytes: number;
  readonly stringCharacters: number;
  /** Nested Lua calls, as upstream. */
  readonly depth: number;
}

export const DEFAULT_BUDGET: LuaBudget = {
  // Some 25 to 55 ms of plain looping.
  ticks: 5_000_000,
  // Upstream allows a second. Interpreters share the main thread, and no script that terminates needs this much.
  deadlineMs: 100,
  bytes: 64 * 1024 * 1024,
  stringCharacters: 4 * 1024 * 1024,
  depth: 256,
};

/** Ticks between two clock reads: some tenths of a millisecond, so that short calls never read it. */
export const SLICE_TICKS = 10_000;
