import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { createFakeClock } from "@flotilla/base";
import type { Lane } from "./runtime-controller.ts";
import { DueHeap } from "./due-heap.ts";
import { createQueue, FIRST_RETRY_MS, LAST_RETRY_MS, type Queue } from "./queue.ts";

function setUp() {
  const clock = createFakeClock();
  const calls = { ready: 0 };
  const queue = createQueue<string>({ clock, idOf: (key) => key, onReady: () => calls.ready++ });
  return { clock, queue, calls };
}
function drain(queue: Queue<string>): string[] {
  const taken: string[] = [];
  for (let key = queue.take(); key !== undefined; key = queue.take()) {
    taken.push(key);
    queue.finish(key);
  }
  return taken;
}

describe("order", () => {
  const cases: Record<string, { add: [string, Lane?][]; want: string[] }> = {
    "keys are returned in insertion order": { add: [["a"], ["b"], ["c"]], want: ["a", "b", "c"] },
    "a key waits once, regardless of how often it is added": { add: [["a"], ["b"], ["a"], ["a"]], want: ["a", "b"] },
    "fresh changes come before a resync": {
      add: [["old", "resync"], ["older", "resync"], ["new"]],
      want: ["new", "old", "older"],
    },
    "a key of the resync that changes moves to the fresh lane": {
      add: [["a", "resync"], ["b", "resync"], ["b"]],
      want: ["b", "a"],
    },
    "a fresh key is not demoted by a resync": { add: [["a"], ["b", "resync"], ["a", "resync"]], want: ["a", "b"] },
  };
  for (const [behaviour, { add, want }] of Object.entries(cases)) {
    // oxlint-disable-next-line vitest/valid-title -- The name of the case is the title.
    test(behaviour, () => {
      const { queue } = setUp();

      for (const [key, lane] of add) queue.add(key, lane);

      expect(queue.length).toBe(want.length);
      expect(drain(queue)).toEqual(want);
      expect(queue.isIdle()).toBe(true);
    });
  }
});

test("a key that is added while it runs returns only after it finishes", () => {
  const { queue } = setUp();
  queue.add("a");
  queue.take();

  queue.add("a");
  queue.add("a");

  expect(queue.take()).toBeUndefined();
  queue.finish("a");
  expect(drain(queue)).toEqual(["a"]);
});

test("a running key prevents the queue from being idle, a delayed one does not", () => {
  const { queue } = setUp();
  queue.add("a");
  queue.addAfter("b", 1000);

  queue.take();

  expect(queue.isIdle()).toBe(false);
  queue.finish("a");
  expect(queue.isIdle()).toBe(true);
  expect(queue.delayed).toBe(1);
});

describe("delays", () => {
  test("a clock that is set back makes no delay longer", () => {
    const clock = createFakeClock();
    let setBackMs = 0;
    const queue = createQueue<string>({
      clock: { now: () => clock.now() - setBackMs, after: (delayMs, run) => clock.after(delayMs, run) },
      idOf: (key) => key,
      onReady: () => {},
    });
    queue.addAfter("a", 2000);
    clock.advance(500);

    setBackMs = 3_600_000;
    queue.addAfter("b", 1000);
    clock.advance(1000);
    const first = drain(queue);
    clock.advance(1000);

    expect([first, drain(queue)]).toEqual([["b"], ["a"]]);
  });

  test("of two delays the earlier one wins", () => {
    const { clock, queue } = setUp();
    queue.addAfter("a", 1000);
    queue.addAfter("a", 300);
    queue.addAfter("a", 700);

    clock.advance(299);
    expect(queue.length).toBe(0);
    clock.advance(1);

    expect(drain(queue)).toEqual(["a"]);
    clock.advance(10_000);
    expect(queue.length).toBe(0);
  });

  test("keys whose delays end together come in the order in which they were delayed", () => {
    const { clock, queue } = setUp();
    const keys = Array.from({ length: 50 }, (_, index) => `key-${index}`);
    for (const key of keys) queue.addAfter(key, 1000);

    clock.advance(1000);

    expect(drain(queue)).toEqual(keys);
  });

  test("a NaN delay does not block other keys, and is treated as the longest retry delay", () => {
    const { clock, queue } = setUp();
    queue.addAfter("a", 1000);
    queue.addAfter("b", Number.NaN);

    clock.advance(1000);
    expect(drain(queue)).toEqual(["a"]);
    clock.advance(LAST_RETRY_MS);

    expect(drain(queue)).toEqual(["b"]);
  });

  test("taking a key cancels its delay, because that run decides again", () => {
    const { clock, queue } = setUp();
    queue.addAfter("a", 1000);
    queue.add("a");

    expect(drain(queue)).toEqual(["a"]);

    clock.advance(1000);
    expect(queue.length).toBe(0);
    expect(clock.nextDue()).toBeUndefined();
  });

  test("a delay longer than Node's timer limit is kept", () => {
    const { clock, queue } = setUp();
    const days = 86_400_000;
    queue.addAfter("a", 40 * days);

    clock.advance(39 * days);
    expect(queue.length).toBe(0);
    clock.advance(days);

    expect(drain(queue)).toEqual(["a"]);
  });

  test("closing stops the timer and rejects further keys", () => {
    const { clock, queue } = setUp();
    queue.addAfter("a", 1000);

    queue.close();
    queue.add("b");
    queue.addAfter("c", 1);

    expect(clock.nextDue()).toBeUndefined();
    expect(queue.length).toBe(0);
  });
});

describe("backoff", () => {
  const failOnce = (queue: Queue<string>): void => {
    const key = queue.take();
    expect(key).toBe("a");
    queue.addFailed("a");
    queue.finish("a");
  };

  test("doubles from the first delay to the last and stays there", () => {
    const { clock, queue } = setUp();
    queue.add("a");
    const delays: number[] = [];

    for (let failures = 0; failures < 17; failures++) {
      failOnce(queue);
      const due = clock.nextDue() ?? 0;
      delays.push(due - clock.now());
      clock.advance(due - clock.now());
    }

    expect(delays.slice(0, 4)).toEqual([FIRST_RETRY_MS, 10, 20, 40]);
    expect(delays.slice(-3)).toEqual([LAST_RETRY_MS, LAST_RETRY_MS, LAST_RETRY_MS]);
  });

  test("resets after a success", () => {
    const { clock, queue } = setUp();
    queue.add("a");
    for (let failures = 0; failures < 5; failures++) {
      failOnce(queue);
      clock.advance(LAST_RETRY_MS);
    }
    queue.take();
    expect(queue.succeeded("a")).toBe(5);
    queue.finish("a");

    queue.add("a");
    failOnce(queue);

    expect((clock.nextDue() ?? 0) - clock.now()).toBe(FIRST_RETRY_MS);
  });
});

test("the cost per key does not grow with a hundred thousand keys", () => {
  const { queue } = setUp();
  const keys = Array.from({ length: 100_000 }, (_, index) => `key-${index}`);

  for (const key of keys) queue.add(key, "resync");
  const taken = drain(queue);

  // It takes a tenth of a second; at a cost that grows with the length it would exceed the timeout of a test.
  expect(taken.length).toBe(keys.length);
});

test("a heap returns items by due time after any additions, moves and removals", () => {
  fc.assert(
    fc.property(fc.array(fc.record({ dueMs: fc.nat(50), remove: fc.boolean() }), { maxLength: 60 }), (specs) => {
      const heap = new DueHeap<{ dueMs: number; place: number }>();
      const items = specs.map(({ dueMs, remove }) => ({ dueMs, remove, place: -1 }));
      for (const item of items) heap.add(item);
      for (const item of items) if (item.remove) heap.remove(item);

      const order: number[] = [];
      for (let item = heap.first(); item; item = heap.first()) {
        order.push(item.dueMs);
        heap.remove(item);
      }

      const want = items.filter(({ remove }) => !remove).map(({ dueMs }) => dueMs);
      expect(order).toEqual(want.sort((a, b) => a - b));
    }),
  );
});
