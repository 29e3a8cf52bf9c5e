import { expect, test } from "vitest";
import type { CacheEvent } from "./cache.ts";
import { Watchers } from "./watchers.ts";

const event = (revision: number): CacheEvent =>
  ({ type: "put", revision, entry: { key: "/apps/deployments/hub/default/web", revision } }) as unknown as CacheEvent;
const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

function watchAll(count: number): { watchers: Watchers; seen: number[][] } {
  const watchers = new Watchers((error) => {
    throw error;
  });
  const seen: number[][] = Array.from({ length: count }, () => []);
  for (const revisions of seen)
    watchers.add("/apps/deployments/", [], 0, (events) => revisions.push(...events.map(({ revision }) => revision)));
  return { watchers, seen };
}
const having = (seen: readonly number[][], revision: number): number =>
  seen.filter((revisions) => revisions.includes(revision)).length;

test("a change with few watchers reaches all of them before its writer gets a response", async () => {
  const { watchers, seen } = watchAll(200);

  watchers.publish(event(1));
  await Promise.resolve();

  expect(having(seen, 1)).toBe(200);
  expect(watchers.isQuiet).toBe(true);
});

test("a change with many watchers is delivered in several turns, in which others run", async () => {
  const { watchers, seen } = watchAll(1_000);

  watchers.publish(event(1));
  await Promise.resolve();
  const atOnce = having(seen, 1);
  const wasQuiet = watchers.isQuiet;
  for (let count = 0; count < 5; count++) await turn();

  expect(atOnce).toBe(200);
  expect(wasQuiet).toBe(false);
  expect(having(seen, 1)).toBe(1_000);
  expect(watchers.isQuiet).toBe(true);
});

test("changes that follow while one is delivered arrive after it", async () => {
  const { watchers, seen } = watchAll(500);

  watchers.publish(event(1));
  await Promise.resolve();
  watchers.publish(event(2));
  await turn();
  watchers.publish(event(3));
  for (let count = 0; count < 12; count++) await turn();

  expect(new Set(seen.map((revisions) => revisions.join(" ")))).toEqual(new Set(["1 2 3"]));
});

test("changes that follow while one is delivered to many are delivered as one batch", async () => {
  const watchers = new Watchers((error) => {
    throw error;
  });
  const batches: number[][] = [];
  for (let index = 0; index < 1_000; index++)
    watchers.add("/apps/deployments/", [], 0, (events) => {
      if (index === 999) batches.push(events.map(({ revision }) => revision));
    });

  watchers.publish(event(1));
  await Promise.resolve();
  for (let revision = 2; revision <= 50; revision++) {
    watchers.publish(event(revision));
    await Promise.resolve();
  }
  while (!watchers.isQuiet) await turn();

  expect(batches).toEqual([[1], Array.from({ length: 49 }, (_, index) => index + 2)]);
});
