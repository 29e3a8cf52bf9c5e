import { expect, test } from "vitest";
import { concurrently } from "./concurrently.ts";

const NEVER = new AbortController().signal;
const numbers = (count: number): number[] => Array.from({ length: count }, (_, index) => index);
const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

test("runs sixteen at a time and returns results in the order of the items", async () => {
  let running = 0;
  let most = 0;

  const results = await concurrently(numbers(40), NEVER, async (item) => {
    most = Math.max(most, ++running);
    for (let turns = item % 3; turns >= 0; turns--) await turn();
    running--;
    return item * 2;
  });

  expect(most).toBe(16);
  expect(results).toEqual(numbers(40).map((item) => item * 2));
});

test("concurrent writes of an empty list do nothing", async () => {
  expect(await concurrently([], NEVER, () => Promise.reject(new Error("called")))).toEqual([]);
});

test("concurrent writes start nothing more after a failure and waits for running work", async () => {
  const ended: number[] = [];

  const outcome = concurrently(numbers(40), NEVER, async (item) => {
    if (item === 3) throw new Error("3 failed");
    await turn();
    ended.push(item);
  });

  await expect(outcome).rejects.toThrow("3 failed");
  expect(ended).toEqual(numbers(16).filter((item) => item !== 3));
});

test("starts nothing more after the signal is aborted", async () => {
  const abort = new AbortController();
  const started: number[] = [];

  const outcome = concurrently(numbers(40), abort.signal, async (item) => {
    started.push(item);
    await turn();
    if (item === 0) abort.abort(new Error("gone"));
  });

  await expect(outcome).rejects.toThrow("gone");
  expect(started).toEqual(numbers(16));
});
