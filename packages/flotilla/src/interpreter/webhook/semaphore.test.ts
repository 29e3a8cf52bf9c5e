import { expect, test } from "vitest";
import { Semaphore } from "./semaphore.ts";

const never = new AbortController().signal;

test("limits concurrent turns and queues the rest in order", async () => {
  const turns = new Semaphore(2, 10);
  const order: string[] = [];
  const take = (name: string): Promise<() => void> =>
    turns.take(never).then((giveBack) => (order.push(name), giveBack));
  const [first] = await Promise.all([take("a"), take("b")]);
  const third = take("c");
  const fourth = take("d");

  first();
  const giveBackThird = await third;
  const early = [...order];
  giveBackThird();
  await fourth;

  expect(early).toEqual(["a", "b", "c"]);
  expect(order).toEqual(["a", "b", "c", "d"]);
});

test("an aborted waiter leaves the queue", async () => {
  const turns = new Semaphore(1, 10);
  const giveBack = await turns.take(never);
  const impatient = new AbortController();
  const left = turns.take(impatient.signal);
  const stayed = turns.take(never);

  impatient.abort(new Error("gone"));
  giveBack();

  await expect(left).rejects.toThrow("gone");
  await expect(stayed).resolves.toBeTypeOf("function");
});

test("rejects when the queue is full", async () => {
  const turns = new Semaphore(1, 1);
  const giveBack = await turns.take(never);
  const waiting = turns.take(never);

  await expect(turns.take(never)).rejects.toMatchObject({
    reason: "overload",
    message: "1 calls are already waiting for it",
  });

  giveBack();
  await waiting;
});
