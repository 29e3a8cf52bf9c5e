import { expect, test } from "vitest";
import { RetryAfter } from "./retry-after.ts";

/** Rejects so many requests in each second; returns the header in each. */
function headers(perSecond: readonly number[]): number[] {
  const retryAfter = new RetryAfter();
  return perSecond.map((count, second) => {
    for (let index = 0; index < count; index++) retryAfter.note(second * 1000 + index);
    return retryAfter.seconds;
  });
}

test("single rejections ask for a retry after a second", () => {
  expect(headers([1, 1, 0, 2, 1])).toEqual([1, 1, 1, 1, 1]);
});

test("lasting rejections double the time, once in that time", () => {
  expect(headers([10, 10, 10, 10, 10, 10, 10, 10])).toEqual([1, 2, 2, 4, 4, 4, 4, 8]);
});

test("the time has an upper bound", () => {
  expect(headers(Array.from({ length: 200 }, () => 500)).at(-1)).toBe(32);
});

test("the time falls second by second when rejections become rare", () => {
  const after = headers([10, 10, 10, 10, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1]);

  expect([after[3], after[10], after[15], after[20]]).toEqual([4, 3, 2, 1]);
});
