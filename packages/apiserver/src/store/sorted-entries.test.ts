import * as fc from "fast-check";
import { expect, test } from "vitest";
import { SortedEntries } from "./sorted-entries.ts";

/** Few distinct keys, so that sequences replace and delete existing entries; all levels of a real key. */
const keys = fc
  .tuple(fc.constantFrom("pods", "pods2", "nodes"), fc.constantFrom("a", "b", "hub"), fc.nat(400))
  .map(([resource, cluster, n]) => `/core/${resource}/${cluster}/n${n}`);
const prefixes = fc.constantFrom(
  "",
  "/",
  "/core/",
  "/core/pods/",
  "/core/pods/a/",
  "/core/pods2/",
  "/core/nodes/hub/",
  "/core/nodes/hub/n1",
  "/zzz/",
);

/** The same operations on a plain sorted array. */
function model(present: ReadonlyMap<string, number>): string[] {
  return [...present.keys()].sort((a, b) => (a < b ? -1 : 1));
}

test("any sequence of changes gives the same result as a plain sorted array", () => {
  const change = fc.record({ key: keys, remove: fc.boolean() });
  const query = fc.record({
    prefix: prefixes,
    after: fc.option(keys, { nil: undefined }),
    limit: fc.option(fc.nat(50), { nil: undefined }),
  });

  fc.assert(
    fc.property(
      fc.array(change, { maxLength: 1500, size: "max" }),
      fc.array(query, { minLength: 1, maxLength: 5 }),
      (changes, queries) => {
        const sorted = new SortedEntries<{ key: string; n: number }>();
        const present = new Map<string, number>();
        changes.forEach(({ key, remove }, n) => {
          if (remove) {
            sorted.delete(key);
            present.delete(key);
          } else {
            sorted.set({ key, n });
            present.set(key, n);
          }
        });

        const all = model(present);
        expect(sorted.size).toBe(all.length);
        for (const { prefix, after, limit } of queries) {
          const below = all.filter((key) => key.startsWith(prefix));
          const want = below.filter((key) => after === undefined || key > after).slice(0, limit);
          expect(sorted.list(prefix, { after, limit }).map(({ key }) => key)).toEqual(want);
          expect(sorted.count(prefix)).toBe(below.length);
        }
        for (const { key } of changes.slice(0, 20)) expect(sorted.get(key)?.n).toBe(present.get(key));
      },
    ),
    { numRuns: 60 },
  );
});

test("growing to thousands and shrinking to empty keeps the order", () => {
  const sorted = new SortedEntries<{ key: string }>();
  const scattered = Array.from(
    { length: 5000 },
    (_, i) => `/core/pods/hub/${String((i * 2654435761) % 5003).padStart(5, "0")}`,
  );
  const distinct = [...new Set(scattered)];

  for (const key of distinct) sorted.set({ key });
  const full = sorted.list("/").map(({ key }) => key);
  for (const key of distinct.slice(0, -3)) sorted.delete(key);

  expect(full).toEqual([...distinct].sort());
  expect(sorted.list("/").map(({ key }) => key)).toEqual(distinct.slice(-3).sort());
});
