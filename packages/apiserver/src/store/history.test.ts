import { expect, test } from "vitest";
import type { CachedEntry } from "./cache.ts";
import { History, keyOf } from "./history.ts";

const entry = (key: string, revision: number): CachedEntry => ({
  key,
  revision,
  value: new Uint8Array(10),
  memo: { parsed: true },
});

test("a prefix above a resource finds the events of all resources below it, in order", () => {
  const history = new History({ start: 0, limit: 100, maxBytes: 100_000 });
  for (const [index, key] of ["/core/pods/hub/a", "/core/nodes/hub/b", "/apps/deployments/hub/c"].entries())
    history.append({ revision: index + 1, entry: entry(key, index + 1) });

  const events = history.after("/core/", 0);

  expect(events.map(keyOf)).toEqual(["/core/pods/hub/a", "/core/nodes/hub/b"]);
});

test("dropped events are removed from their resource too", () => {
  const history = new History({ start: 0, limit: 3, maxBytes: 100_000 });
  for (let revision = 1; revision <= 10; revision++)
    history.append({ revision, entry: entry(`/core/${revision % 2 ? "pods" : "nodes"}/hub/a`, revision) });

  const events = history.after("/core/nodes/", history.compacted);

  expect(history.compacted).toBe(7);
  expect(events.map(({ revision }) => revision)).toEqual([8, 10]);
});

test("prepended events come before existing ones, for every resource", () => {
  const history = new History({ start: 3, limit: 100, maxBytes: 100_000 });
  history.append({ revision: 4, entry: entry("/core/pods/hub/a", 4) });
  history.append({ revision: 5, entry: entry("/core/nodes/hub/a", 5) });

  history.prepend(
    [1, 2, 3].map((revision) => ({
      revision,
      entry: entry(revision === 2 ? "/apps/deployments/hub/a" : "/core/pods/hub/a", revision),
    })),
  );
  history.append({ revision: 6, entry: entry("/apps/deployments/hub/a", 6) });

  const revisionsOf = (prefix: string, after: number): number[] =>
    history.after(prefix, after).map(({ revision }) => revision);
  expect(history.compacted).toBe(0);
  expect(revisionsOf("/", 0)).toEqual([1, 2, 3, 4, 5, 6]);
  expect(revisionsOf("/core/pods/", 1)).toEqual([3, 4]);
  expect(revisionsOf("/core/nodes/", 0)).toEqual([5]);
  expect(revisionsOf("/apps/deployments/", 0)).toEqual([2, 6]);
});

test("only the newest prepended events are kept when there is no room for more", () => {
  const history = new History({ start: 3, limit: 3, maxBytes: 100_000 });
  history.append({ revision: 4, entry: entry("/core/pods/hub/a", 4) });

  history.prepend([1, 2, 3].map((revision) => ({ revision, entry: entry("/core/pods/hub/a", revision) })));

  expect(history.compacted).toBe(1);
  expect(history.after("/core/pods/", 1).map(({ revision }) => revision)).toEqual([2, 3, 4]);
});

test("replaced entries lose their memo once their event is old", () => {
  const history = new History({ start: 0, limit: 10_000, maxBytes: 100_000_000 });
  const replaced = entry("/core/pods/hub/a", 1);
  const current = entry("/core/pods/hub/a", 2);

  history.append({ revision: 2, entry: current, previous: replaced });
  const fresh = replaced.memo;
  for (let revision = 3; revision < 3000; revision++)
    history.append({ revision, entry: entry("/core/pods/hub/b", revision) });

  expect(fresh).toEqual({ parsed: true });
  expect(replaced.memo).toBeUndefined();
  expect(current.memo).toEqual({ parsed: true });
});
