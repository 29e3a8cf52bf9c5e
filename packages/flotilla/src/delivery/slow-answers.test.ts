import { expect, test } from "vitest";
import { createFakeClock } from "@flotilla/base";
import { SLOW_MS, watchPassage } from "./slow-answers.ts";

function start(): {
  clock: ReturnType<typeof createFakeClock>;
  passage: ReturnType<typeof watchPassage>;
  notify: () => number;
} {
  const clock = createFakeClock();
  let count = 0;
  const passage = watchPassage({ enter: () => {}, leave: () => {} }, clock, () => void count++);
  return { clock, passage, notify: () => count };
}

test("a slow delivery is reported once, regardless of its number of requests", () => {
  const { clock, passage, notify } = start();

  passage.enter();
  passage.enter();
  clock.advance(2 * SLOW_MS);

  expect(notify()).toBe(1);
});

test("a delivery that ends in time, or never started, is not reported", () => {
  const { clock, passage, notify } = start();

  clock.advance(SLOW_MS);
  passage.enter();
  clock.advance(SLOW_MS - 1);
  passage.leave();
  clock.advance(SLOW_MS);

  expect(notify()).toBe(0);
});
