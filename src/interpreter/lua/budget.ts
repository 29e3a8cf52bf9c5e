/**
 * What one call may use. Time is counted in ticks (loop rounds, calls, steps of the library), so that a result does not
 * depend on the machine; the clock is read only once per slice. Memory counts everything that was ever allocated, which
 * is simple and an upper bound of what is alive.
 */
export interface LuaBudget {
  readonly ticks: number;
  readonly deadlineMs: number;
  readonly bytes: number;
  readonly stringCharacters: number;
  /** Lua calls inside each other, as upstream. */
  readonly depth: number;
}

export const DEFAULT_BUDGET: LuaBudget = {
  // Some 25 to 55 ms of plain looping.
  ticks: 5_000_000,
  // Upstream allows a second. Interpreters share their thread with everything else, and no script that ends needs this
  // much.
  deadlineMs: 100,
  bytes: 64 * 1024 * 1024,
  stringCharacters: 4 * 1024 * 1024,
  depth: 256,
};

/** Between two looks at the clock: some tenths of a millisecond, so that short calls never look. */
export const SLICE_TICKS = 10_000;
