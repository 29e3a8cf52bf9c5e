import { expect, test } from "vitest";
import { createSeededRandom } from "@flotilla/base";
import { NumberPool } from "./number-pool.ts";

const pick = (pool: NumberPool): number | undefined => pool.pick(createSeededRandom(1), () => true);

test("numbers are picked from above the kept ones until those are used up", () => {
  const pool = new NumberPool({ first: 1, last: 4, kept: 2 });

  const drawn = Array.from({ length: 5 }, (_, index) => {
    const number = pick(pool);
    if (number !== undefined) pool.hold(number, `key-${index}`);
    return number;
  });

  expect(new Set(drawn.slice(0, 2))).toEqual(new Set([3, 4]));
  expect(new Set(drawn.slice(2, 4))).toEqual(new Set([1, 2]));
  expect(drawn[4]).toBeUndefined();
});

test("a promised number is taken until it is withdrawn or held", () => {
  const pool = new NumberPool({ first: 1, last: 9, kept: 0 });

  pool.promise(5, "a");
  expect(pool.isFree(5)).toBe(false);
  pool.withdraw(5, "b");
  expect(pool.isFree(5)).toBe(false);
  pool.withdraw(5, "a");
  expect(pool.isFree(5)).toBe(true);
});

test("a number of a pool is released only by its holder", () => {
  const pool = new NumberPool({ first: 1, last: 9, kept: 0 });
  pool.hold(5, "a");

  pool.release(5, "b");

  expect(pool.isFree(5)).toBe(false);
  pool.release(5, "a");
  expect(pool.isFree(5)).toBe(true);
});

test("a reserved number is never picked", () => {
  const pool = new NumberPool({ first: 1, last: 2, kept: 0, reserved: 1 });

  expect(pool.isFree(1)).toBe(false);
  expect(pick(pool)).toBe(2);
});

test("added ranges are used once the first is full, and only while they exist", () => {
  const pool = new NumberPool({ first: 1, last: 1, kept: 0 });
  pool.hold(1, "a");

  pool.extend([{ first: 7, last: 7, kept: 0 }]);
  expect(pick(pool)).toBe(7);
  expect(pool.includes(7)).toBe(true);

  pool.extend([]);
  expect(pick(pool)).toBeUndefined();
  expect(pool.includes(7)).toBe(false);
});
