import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { createFakeClock } from "@flotilla/base";
import type { Lane } from "./runtime-controller.ts";
import { createQueue, type Queue } from "./queue.ts";

function setUp(priorities: Record<string, number>) {
  const queue = createQueue<string>({
    clock: createFakeClock(),
    idOf: (key) => key,
    priorityOf: (key) => priorities[key] ?? 0,
    onReady: () => undefined,
  });
  return { queue, priorities };
}
function drain(queue: Queue<string>): string[] {
  const taken: string[] = [];
  for (let key = queue.take(); key !== undefined; key = queue.take()) {
    taken.push(key);
    queue.finish(key);
  }
  return taken;
}

describe("keys with priorities", () => {
  const cases: Record<string, { priorities: Record<string, number>; add: [string, Lane?][]; want: string[] }> = {
    "the highest priority comes first": {
      priorities: { low: -5, high: 9 },
      add: [["low"], ["none"], ["high"]],
      want: ["high", "none", "low"],
    },
    "equal priorities come in insertion order": {
      priorities: { a: 1, b: 1, c: 1 },
      add: [["c"], ["x"], ["a"], ["b"]],
      want: ["c", "a", "b", "x"],
    },
    "a higher-priority key of the initial list comes before fresh ones with lower priority": {
      priorities: { high: 1 },
      add: [["new"], ["high", "resync"]],
      want: ["high", "new"],
    },
    "among equal priorities fresh changes come before the initial list": {
      priorities: { a: 1, b: 1 },
      add: [["a", "resync"], ["b"]],
      want: ["b", "a"],
    },
  };
  for (const [behaviour, { priorities, add, want }] of Object.entries(cases)) {
    // oxlint-disable-next-line vitest/valid-title -- The name of the case is the title.
    test(behaviour, () => {
      const { queue } = setUp(priorities);

      for (const [key, lane] of add) queue.add(key, lane);

      expect(drain(queue)).toEqual(want);
    });
  }

  test("move when they are added again with another priority, and are returned once", () => {
    const { queue, priorities } = setUp({ a: 0, b: 0, c: 0 });
    for (const key of ["a", "b", "c"]) queue.add(key);

    priorities["c"] = 7;
    queue.add("c");
    priorities["a"] = -1;
    queue.add("a");

    expect(queue.length).toBe(3);
    expect(drain(queue)).toEqual(["c", "b", "a"]);
    expect(queue.isIdle()).toBe(true);
  });

  test("get their current priority when they return after running", () => {
    const { queue, priorities } = setUp({ a: 0 });
    queue.add("a");
    queue.take();
    queue.add("a");
    queue.add("b");

    priorities["a"] = 1;
    queue.finish("a");

    expect(drain(queue)).toEqual(["a", "b"]);
  });
});

type Step = { do: "add"; key: string; lane: Lane; priority: number } | { do: "take" } | { do: "finish" };
const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({
      do: fc.constant("add" as const),
      key: fc.constantFrom("a", "b", "c", "d", "e", "f", "g", "h"),
      lane: fc.constantFrom("fresh" as const, "resync" as const),
      priority: fc.integer({ min: -2, max: 2 }),
    }),
  },
  { weight: 2, arbitrary: fc.constant({ do: "take" as const }) },
  { weight: 2, arbitrary: fc.constant({ do: "finish" as const }) },
);

test("under any operations, the highest priority comes first, no key is lost and none is running twice", () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 200 }), (steps) => {
      const { queue, priorities } = setUp({});
      /** The expected waiting keys, by the calls so far. */
      const waiting = new Map<string, { lane: Lane; priority: number }>();
      const running = new Map<string, Lane | undefined>();
      const wait = (key: string, lane: Lane): void =>
        void waiting.set(key, {
          lane: waiting.get(key)?.lane === "fresh" ? "fresh" : lane,
          priority: priorities[key] ?? 0,
        });
      const take = (): void => {
        const key = queue.take();
        expect(key === undefined).toBe(waiting.size === 0);
        if (key === undefined) return;
        expect(running.has(key)).toBe(false);
        const { lane, priority } = waiting.get(key) as { lane: Lane; priority: number };
        const precedes = (other: { lane: Lane; priority: number }): boolean =>
          other.priority > priority || (other.priority === priority && other.lane === "fresh" && lane === "resync");
        expect([...waiting.values()].filter(precedes)).toEqual([]);
        waiting.delete(key);
        running.set(key, undefined);
      };
      const finish = (): void => {
        const [key] = running.keys();
        if (key === undefined) return;
        const again = running.get(key);
        running.delete(key);
        queue.finish(key);
        if (again) wait(key, again);
      };

      for (const each of steps) {
        if (each.do === "take") take();
        else if (each.do === "finish") finish();
        else {
          priorities[each.key] = each.priority;
          queue.add(each.key, each.lane);
          if (running.has(each.key)) running.set(each.key, running.get(each.key) === "fresh" ? "fresh" : each.lane);
          else wait(each.key, each.lane);
        }
        expect(queue.length).toBe(waiting.size);
      }
      while (running.size + waiting.size > 0) {
        take();
        finish();
      }
      expect(queue.isIdle()).toBe(true);
    }),
    { numRuns: 500 },
  );
});

test("keys with constant priorities come by priority, then in insertion order", () => {
  fc.assert(
    fc.property(
      fc.uniqueArray(fc.tuple(fc.string({ minLength: 1, maxLength: 4 }), fc.integer({ min: -3, max: 3 })), {
        selector: ([key]) => key,
        maxLength: 60,
      }),
      (keys) => {
        const priorities = new Map(keys);
        const queue = createQueue<string>({
          clock: createFakeClock(),
          idOf: (key) => key,
          priorityOf: (key) => priorities.get(key) ?? 0,
          onReady: () => undefined,
        });
        for (const [key] of keys) queue.add(key);

        const order = drain(queue);

        expect(order).toEqual(keys.toSorted(([, a], [, b]) => b - a).map(([key]) => key));
      },
    ),
  );
});
