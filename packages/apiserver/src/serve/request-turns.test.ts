import { expect, test } from "vitest";
import { createRequestTurns } from "./request-turns.ts";

const signal = (): AbortSignal => new AbortController().signal;

test("one request starts per turn of the event loop, and others run between two of them", async () => {
  const turns = createRequestTurns();
  const order: string[] = [];
  const run = async (name: string): Promise<void> => {
    await turns.next(name, signal());
    order.push(name);
    setImmediate(() => order.push("other"));
  };

  await Promise.all([run("a"), run("b"), run("c")]);

  expect(order).toEqual(["a", "other", "b", "other", "c"]);
});

test("users take turns, however many requests each has", async () => {
  const turns = createRequestTurns();
  const order: string[] = [];

  await Promise.all(
    ["a", "a", "a", "a", "b"].map(async (user) => {
      await turns.next(user, signal());
      order.push(user);
    }),
  );

  expect(order.indexOf("b")).toBeLessThanOrEqual(2);
});

test("too many waiting requests are rejected with 429", async () => {
  const turns = createRequestTurns();
  const waiting = Array.from({ length: 65 }, () => turns.next("a", signal()));

  await expect(turns.next("b", signal())).rejects.toMatchObject({ status: { code: 429 } });
  await Promise.all(waiting);
});

test("steps of requests that have begun take turns, and others run between two of them", async () => {
  const turns = createRequestTurns();
  const order: string[] = [];
  const run = async (user: string): Promise<void> => {
    await turns.next(user, signal());
    for (const step of ["decode", "validate"]) {
      order.push(`${user} ${step}`);
      setImmediate(() => order.push("other"));
      await turns.pause(user);
    }
  };

  await Promise.all([run("a"), run("b")]);

  expect(order.filter((entry) => entry !== "other")).toEqual(["a decode", "b decode", "a validate", "b validate"]);
  expect(order.some((entry, index) => entry !== "other" && order[index + 1] === entry)).toBe(false);
  expect(order.filter((entry) => entry === "other")).toHaveLength(4);
});

test("a request that has begun is not rejected, however many wait", async () => {
  const turns = createRequestTurns();
  const waiting = Array.from({ length: 65 }, () => turns.next("a", signal()));

  await expect(turns.pause("b")).resolves.toBeUndefined();
  await Promise.all(waiting);
});
