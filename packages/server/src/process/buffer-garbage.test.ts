import { expect, test } from "vitest";
import { createBufferGarbage } from "./buffer-garbage.ts";

const MIB = 1024 * 1024;

test("garbage of buffers stays until it is much more than what is in use", () => {
  const garbage = createBufferGarbage();

  expect([100, 200, 260].map((mib) => garbage.check(mib * MIB))).toEqual([true, true, true]);
  expect(garbage.check(261 * MIB)).toBe(false);
});

test("it is collected even when some of it is freed meanwhile", () => {
  const garbage = createBufferGarbage();
  garbage.check(100 * MIB);
  garbage.check(300 * MIB);

  expect(garbage.check(200 * MIB)).toBe(false);
});

test("after a collection it may grow again, from what is in use then", () => {
  const garbage = createBufferGarbage();
  garbage.check(100 * MIB);
  garbage.check(300 * MIB);

  garbage.collected();

  expect(garbage.check(300 * MIB)).toBe(true);
  // Buffers are freed for a moment after a collection.
  expect(garbage.check(120 * MIB)).toBe(true);
  expect(garbage.check(281 * MIB)).toBe(false);
});
