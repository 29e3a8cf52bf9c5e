import { expect, test } from "vitest";
import { createFakeClock } from "@flotilla/base";
import { WebhookBreaker } from "./webhook-breaker.ts";

function failing(times: number): { breaker: WebhookBreaker; clock: ReturnType<typeof createFakeClock> } {
  const clock = createFakeClock();
  const breaker = new WebhookBreaker(clock);
  for (let index = 0; index < times; index++) breaker.failed();
  return { breaker, clock };
}

test("two failures skip nothing, three pause calls for a second", () => {
  expect(failing(2).breaker.shouldSkip()).toBe(false);

  const { breaker, clock } = failing(3);
  expect(breaker.shouldSkip()).toBe(true);
  clock.advance(1_000);
  expect(breaker.shouldSkip()).toBe(false);
});

test("after a pause one call is made, and the others wait for its result", () => {
  const { breaker, clock } = failing(3);
  clock.advance(1_000);

  expect([breaker.shouldSkip(), breaker.shouldSkip()]).toEqual([false, true]);
  expect(breaker.isOnTrial).toBe(true);
  breaker.succeeded();
  expect([breaker.shouldSkip(), breaker.isOnTrial]).toEqual([false, false]);
});

test("pauses double up to half a minute", () => {
  const { breaker, clock } = failing(12);

  clock.advance(29_999);
  expect(breaker.shouldSkip()).toBe(true);
  clock.advance(1);
  expect(breaker.shouldSkip()).toBe(false);
});
