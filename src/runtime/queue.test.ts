import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { createFakeClock } from "../base/index.ts";
import type { Lane } from "./controller.ts";
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
    "keys come out in the order in which they went in": { add: [["a"], ["b"], ["c"]], want: ["a", "b", "c"] },
    "a key waits once, however often it is added": { add: [["a"], ["b"], ["a"], ["a"]], want: ["a", "b"] },
    "fresh changes go before a resync": {
      add: [["old", "resync"], ["older", "resync"], ["new"]],
      want: ["new", "old", "older"],
    },
    "a key of the resync that changes moves up": { add: [["a", "resync"], ["b", "resync"], ["b"]], want: ["b", "a"] },
    "a fresh key is not put back by a resync": { add: [["a"], ["b", "resync"], ["a", "resync"]], want: ["a", "b"] },
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

test("a key that is added while it runs comes back after it finishes, and not before", () => {
  const { queue } = setUp();
  queue.add("a");
  queue.take();

  queue.add("a");
  queue.add("a");

  expect(queue.take()).toBeUndefined();
  queue.finish("a");
  expect(drain(queue)).toEqual(["a"]);
});

test("a running key keeps the queue from being idle, a delayed one does not", () => {
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
  test("of two delays the earlier counts", () => {
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

  test("a delay that is no number keeps no other key from its time, and comes when a failure would come at the latest", () => {
    const { clock, queue } = setUp();
    queue.addAfter("a", 1000);
    queue.addAfter("b", Number.NaN);

    clock.advance(1000);
    expect(drain(queue)).toEqual(["a"]);
    clock.advance(LAST_RETRY_MS);

    expect(drain(queue)).toEqual(["b"]);
  });

  test("taking a key cancels its delay, because that run decides anew", () => {
    const { clock, queue } = setUp();
    queue.addAfter("a", 1000);
    queue.add("a");

    expect(drain(queue)).toEqual(["a"]);

    clock.advance(1000);
    expect(queue.length).toBe(0);
    expect(clock.nextDue()).toBeUndefined();
  });

  test("a delay longer than a timer can be is kept", () => {
    const { clock, queue } = setUp();
    const days = 86_400_000;
    queue.addAfter("a", 40 * days);

    clock.advance(39 * days);
    expect(queue.length).toBe(0);
    clock.advance(days);

    expect(drain(queue)).toEqual(["a"]);
  });

  test("closing stops the timer and refuses more", () => {
    const { clock, queue } = setUp();
    queue.addAfter("a", 1000);

    queue.close();
    queue.add("b");
    queue.addAfter("c", 1);

    expect(clock.nextDue()).toBeUndefined();
    expect(queue.length).toBe(0);
  });
});

describe("back-off", () => {
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

  test("starts over after a success", () => {
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

test("a hundred thousand keys cost no more each than a few do", () => {
  const { queue } = setUp();
  const keys = Array.from({ length: 100_000 }, (_, index) => `key-${index}`);

  const start = performance.now();
  for (const key of keys) queue.add(key, "resync");
  const taken = drain(queue);
  const elapsedMs = performance.now() - start;

  expect(taken.length).toBe(keys.length);
  // It takes a tenth of a second; at a cost that grows with the length it would take minutes.
  expect(elapsedMs).toBeLessThan(5000);
});

test("a heap gives what is due in order, whatever was added, moved and removed", () => {
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
