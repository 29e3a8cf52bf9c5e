import { expect, test } from "vitest";
import { seatsFor } from "./work-estimate.ts";

const cases: Record<
  string,
  { verb: string; query?: string; isSingle?: boolean; count: number; watchers?: number; want: number }
> = {
  "a get takes one seat": { verb: "get", count: 10_000, want: 1 },
  "a write takes one seat": { verb: "create", count: 10_000, want: 1 },
  "a write with few watchers takes one seat": { verb: "patch", count: 0, watchers: 9, want: 1 },
  "a write takes a seat for each ten watchers": { verb: "delete", count: 0, watchers: 31, want: 4 },
  "a write takes ten seats at most": { verb: "update", count: 0, watchers: 5000, want: 10 },
  "a list takes a seat for each hundred objects": { verb: "list", count: 450, want: 5 },
  "a list takes ten seats at most": { verb: "list", count: 100_000, want: 10 },
  "a page takes the seats of its objects": { verb: "list", query: "limit=100", count: 5000, want: 1 },
  "a page with a selector compares all objects": {
    verb: "list",
    query: "limit=100&labelSelector=a",
    count: 800,
    want: 8,
  },
  "a list of one object is a get": { verb: "list", isSingle: true, count: 5000, want: 1 },
  "a watch that continues takes one seat": { verb: "watch", query: "resourceVersion=7", count: 5000, want: 1 },
  "a watch with initial objects is a list": { verb: "watch", query: "sendInitialEvents=true", count: 500, want: 5 },
};
for (const [behaviour, { verb, query, isSingle = false, count, watchers = 0, want }] of Object.entries(cases)) {
  test(behaviour, () => {
    const load = { objects: () => count, watchers: () => watchers };

    expect(seatsFor({ verb, isSingle, query: new URLSearchParams(query) }, load, 100)).toBe(want);
  });
}

test("a list leaves seats of a small level to others", () => {
  const load = { objects: () => 5000, watchers: () => 0 };

  expect(seatsFor({ verb: "list", isSingle: false, query: new URLSearchParams() }, load, 10)).toBe(2);
});
