import { expect, test } from "vitest";
import { createFakeClock } from "@flotilla/base";
import { SLOW_MS, watchLaneAccess } from "./slow-answers.ts";

function start(): {
  clock: ReturnType<typeof createFakeClock>;
  access: ReturnType<typeof watchLaneAccess>;
  notify: () => number;
} {
  const clock = createFakeClock();
  let count = 0;
  const access = watchLaneAccess({ enter: () => {}, leave: () => {} }, clock, () => void count++);
  return { clock, access, notify: () => count };
}

test("a slow delivery is reported once, regardless of its number of requests", () => {
  const { clock, access, notify } = start();

  access.enter();
  access.enter();
  clock.advance(2 * SLOW_MS);

  expect(notify()).toBe(1);
});

test("a delivery that ends in time, or never started, is not reported", () => {
  const { clock, access, notify } = start();

  clock.advance(SLOW_MS);
  access.enter();
  clock.advance(SLOW_MS - 1);
  access.leave();
  clock.advance(SLOW_MS);

  expect(notify()).toBe(0);
});
