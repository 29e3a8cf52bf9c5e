import { describe, expect, test } from "vitest";
import { createFakeClock } from "@flotilla/base";
import { createStatusDelay } from "./status-delay.ts";

function startDelay(delayMs = 100) {
  const clock = createFakeClock();
  const delay = createStatusDelay(clock, delayMs);
  /** Calls it at these times after the start, and returns the results. */
  const ask = (...timesMs: number[]): number[] => {
    const startMs = clock.now();
    return timesMs.map((timeMs) => {
      clock.advance(startMs + timeMs - clock.now());
      return delay.waitMs("a");
    });
  };
  return { clock, delay, ask };
}

describe("a changing status", () => {
  test("is written after it has been unchanged for the delay", () => {
    expect(startDelay().ask(0, 100)).toEqual([100, 0]);
  });

  test("restarts the delay on further changes", () => {
    expect(startDelay().ask(0, 60, 120, 220)).toEqual([100, 100, 100, 0]);
  });

  test("is written after five delays although it keeps changing", () => {
    expect(startDelay().ask(0, 80, 160, 240, 320, 400, 480, 500)).toEqual([100, 100, 100, 100, 100, 100, 20, 0]);
  });

  test("is written at once without a delay", () => {
    expect(startDelay(0).ask(0, 1)).toEqual([0, 0]);
  });

  test("starts a new delay after it was written", () => {
    const { delay, ask } = startDelay();
    ask(0, 100);

    delay.settled("a");

    expect(ask(0, 100)).toEqual([100, 0]);
  });

  test("does not delay others", () => {
    const { delay, ask } = startDelay();
    ask(0);

    expect([delay.leftMs("a"), delay.leftMs("b")]).toEqual([100, 0]);
  });
});
