import { expect, test } from "vitest";
import { skipSound, skipUnchanged } from "./skip-unchanged.ts";

test("edits an object again until it is returned as it is", () => {
  let calls = 0;
  const capped = skipUnchanged((value: { size: number }) => {
    calls++;
    return value.size > 3 ? { size: 3 } : value;
  });
  const large = { size: 9 };

  expect([capped(large), capped(large)]).toEqual([{ size: 3 }, { size: 3 }]);
  expect(calls).toBe(2);
  const small = { size: 1 };
  expect([capped(small), capped(small)].every((value) => value === small)).toBe(true);
  expect(calls).toBe(3);
});

test("reports the problems of an object each time, and checks a sound object once", () => {
  let calls = 0;
  const check = skipSound((value: { size: number }, at) => {
    calls++;
    return value.size > 3 ? [`${at} is too large`] : [];
  });
  const [large, small] = [{ size: 9 }, { size: 1 }];

  expect([check(large, "a"), check(large, "b")]).toEqual([["a is too large"], ["b is too large"]]);
  expect([check(small, "a"), check(small, "b")]).toEqual([[], []]);
  expect(calls).toBe(3);
});
