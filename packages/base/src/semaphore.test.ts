import { expect, test } from "vitest";
import { createSemaphore } from "./semaphore.ts";

const settle = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

test("work is admitted up to the capacity, and the next when there is room", async () => {
  const semaphore = createSemaphore(10);
  const order: string[] = [];
  const enter = (name: string, weight: number): Promise<() => void> =>
    semaphore.acquire(weight).then((release) => (order.push(name), release));

  const [first, second] = [enter("first", 6), enter("second", 4)];
  const third = enter("third", 5);
  await settle();
  const atFirst = [...order];
  (await second)();
  await settle();
  const stillWaits = semaphore.waiting;
  (await first)();
  (await third)();

  expect(atFirst).toEqual(["first", "second"]);
  expect(stillWaits).toBe(1);
  expect(order).toEqual(["first", "second", "third"]);
  expect([semaphore.held, semaphore.waiting]).toEqual([0, 0]);
});

test("work heavier than the capacity runs alone", async () => {
  const semaphore = createSemaphore(10);
  const small = await semaphore.acquire(1);
  const large = semaphore.acquire(100);
  await settle();
  const waited = semaphore.waiting;
  small();

  const release = await large;

  expect(waited).toBe(1);
  expect(semaphore.held).toBe(100);
  release();
  release();
  expect(semaphore.held).toBe(0);
});

test("owners take turns: one request of an owner waits for one of another, not for all of them", async () => {
  const semaphore = createSemaphore(1);
  const order: string[] = [];
  const run = async (owner: string): Promise<void> => {
    const release = await semaphore.acquire(1, owner);
    order.push(owner);
    await settle();
    release();
  };

  await Promise.all([run("a"), run("a"), run("a"), run("a"), run("b"), run("c"), run("b")]);

  expect(order).toEqual(["a", "a", "b", "c", "a", "b", "a"]);
});

test("work whose signal is aborted leaves the queue", async () => {
  const semaphore = createSemaphore(1);
  const release = await semaphore.acquire(1);
  const stop = new AbortController();
  const left = semaphore.acquire(1, "a", stop.signal);
  const stays = semaphore.acquire(1, "b");

  stop.abort(new Error("gone"));
  await expect(left).rejects.toThrow("gone");
  release();

  (await stays)();
  expect([semaphore.held, semaphore.waiting]).toEqual([0, 0]);
  await expect(semaphore.acquire(1, "a", stop.signal)).rejects.toThrow("gone");
});

test("an owner that holds its share waits, and others are admitted meanwhile", async () => {
  const semaphore = createSemaphore(10, { perOwner: 4 });
  const order: string[] = [];
  const enter = (owner: string, weight: number): Promise<() => void> =>
    semaphore.acquire(weight, owner).then((release) => (order.push(owner), release));

  const first = await enter("a", 3);
  const again = enter("a", 3);
  const other = await enter("b", 4);
  const atFirst = [...order];
  first();
  (await again)();
  other();

  expect(atFirst).toEqual(["a", "b"]);
  expect(order).toEqual(["a", "b", "a"]);
  expect([semaphore.held, semaphore.waiting]).toEqual([0, 0]);
});

test("work heavier than an owner's share runs when the owner holds nothing else", async () => {
  const semaphore = createSemaphore(10, { perOwner: 4 });

  const heavy = await semaphore.acquire(8, "a");

  expect(semaphore.held).toBe(8);
  heavy();
});

test("when too much waits, the newest work of the owner with the most is rejected", async () => {
  const semaphore = createSemaphore(1, { maxWaiting: 3, overflow: () => new Error("full") });
  const release = await semaphore.acquire(1, "a");
  const order: string[] = [];
  const run = async (name: string, owner: string): Promise<void> => {
    try {
      const done = await semaphore.acquire(1, owner);
      order.push(name);
      done();
    } catch (error) {
      order.push(`${name}: ${(error as Error).message}`);
    }
  };

  const running = [run("a1", "a"), run("a2", "a"), run("a3", "a"), run("b1", "b")];
  await settle();
  const rejected = [...order];
  release();
  await Promise.all(running);

  expect(rejected).toEqual(["a3: full"]);
  expect(order).toEqual(["a3: full", "a1", "b1", "a2"]);
});
