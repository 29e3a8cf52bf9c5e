import { setImmediate } from "node:timers/promises";
import { expect, test } from "vitest";
import type { CacheEvent } from "./cache.ts";
import { Watchers } from "./watchers.ts";

/** More than are notified in one turn. */
const MANY = 1_000;

const eventAt = (revision: number): CacheEvent => ({
  revision,
  entry: { key: "/core/pods/hub/default/web", revision, value: new Uint8Array() },
});

test("events that come while hundreds of watchers are notified arrive together, in order, and everywhere", async () => {
  const watchers = new Watchers((error) => {
    throw error;
  });
  const batches: number[][] = [];
  let lastSeen: number[] = [];
  for (let index = 0; index < MANY; index++)
    watchers.add("/core/pods/", [], 0, (events) => {
      const revisions = events.map(({ revision }) => revision);
      if (index === 0) batches.push(revisions);
      if (index === MANY - 1) lastSeen = [...lastSeen, ...revisions];
    });

  for (let revision = 1; revision <= 100; revision++) {
    watchers.publish(eventAt(revision));
    await setImmediate();
  }
  while (!watchers.isQuiet) await setImmediate();

  const all = Array.from({ length: 100 }, (_, index) => index + 1);
  expect(batches.flat()).toEqual(all);
  expect(lastSeen).toEqual(all);
  // Five turns per batch: one event at first, then those of five turns each.
  expect(batches.length).toBeLessThan(40);
});
