import { expect, test } from "vitest";
import { createPace } from "./failover-pace.ts";
import { createStuck } from "./blocked-bindings.ts";

test("turns are spaced by the rate, and a binding keeps its turn while it waits", () => {
  const pace = createPace(0.5);

  expect(["a", "b", "c"].map((id) => pace.waitMs(id, 10_000))).toEqual([0, 2_000, 4_000]);
  expect(["a", "b", "c"].map((id) => pace.waitMs(id, 11_000))).toEqual([0, 1_000, 3_000]);
});

test("after a pause the next turn is immediate", () => {
  const pace = createPace(0.5);
  pace.waitMs("a", 0);
  pace.release("a");

  expect(pace.waitMs("b", 60_000)).toBe(0);
});

test("a rate of zero is one turn every half hour", () => {
  const pace = createPace(0);

  expect([pace.waitMs("a", 0), pace.waitMs("b", 0)]).toEqual([0, 1_800_000]);
});

test("a problem is reported once and retried at growing intervals; a different problem is reported again", () => {
  const stuck = createStuck();
  const key = { cluster: "hub", name: "web" };

  expect([1, 2, 3].map(() => stuck.note("a", key, "no place"))).toEqual([
    { isNew: true, retryAfterMs: 10_000 },
    { isNew: false, retryAfterMs: 20_000 },
    { isNew: false, retryAfterMs: 40_000 },
  ]);
  expect(stuck.note("a", key, "no state")).toEqual({ isNew: true, retryAfterMs: 10_000 });
  expect(stuck.keys()).toEqual([key]);

  stuck.release("a");
  expect(stuck.keys()).toEqual([]);
});
