/** Turns of the event loop, until nothing more happens before the clock moves. */
import { setImmediate } from "node:timers/promises";
import type { Trace } from "./trace.ts";

/** Turns of the event loop without anything happening after which nothing more happens before the clock moves. */
const QUIET_TURNS = 12;
export const STILL_TURNS = 40;
const MAX_TURNS = 20_000;

/** `before` runs ahead of each turn; `isQuiet` asks the processes, whose work may not show in the trace. */
export async function settle({
  trace,
  isQuiet,
  before,
}: {
  trace: Pick<Trace, "length">;
  isQuiet(): boolean;
  before(): Promise<void>;
}): Promise<void> {
  let quiet = 0;
  let still = 0;
  let last = trace.length;
  for (let turn = 0; turn < MAX_TURNS; turn++) {
    await before();
    const isStill = trace.length === last;
    last = trace.length;
    still = isStill ? still + 1 : 0;
    quiet = isStill && isQuiet() ? quiet + 1 : 0;
    if (quiet > QUIET_TURNS || still > STILL_TURNS) return;
    await setImmediate();
  }
  throw new Error(`still busy after ${MAX_TURNS} turns of the event loop`);
}

export async function turns(count: number): Promise<void> {
  for (let turn = 0; turn < count; turn++) await setImmediate();
}
