import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { selectGroups, type Group, type GroupDemand } from "./select-groups.ts";

const groups = (rows: Record<string, [size: number, weight: number]>): Group[] =>
  Object.entries(rows).map(([name, [size, weight]]) => ({ name, size, weight }));
const namesOf = (selected: readonly Group[] | undefined): string[] | undefined => selected?.map(({ name }) => name);

describe("groups are selected as Karmada selects them", () => {
  const cases: Record<
    string,
    { rows: Record<string, [number, number]>; demand: GroupDemand; want: string[] | undefined }
  > = {
    "one group that suffices": { rows: { R1: [1, 80] }, demand: { min: 1, max: 3, clusters: 1 }, want: ["R1"] },
    "too few groups": { rows: { R1: [1, 80] }, demand: { min: 2, max: 3, clusters: 1 }, want: undefined },
    "too few clusters": {
      rows: { R1: [1, 80], R2: [2, 60] },
      demand: { min: 2, max: 3, clusters: 4 },
      want: undefined,
    },
    "only the largest groups have enough clusters": {
      rows: { R1: [1, 80], R3: [1, 80], R2: [1, 60], R5: [2, 60], R4: [5, 50], R6: [3, 50] },
      demand: { min: 1, max: 3, clusters: 10 },
      want: ["R5", "R4", "R6"],
    },
    "no more groups than needed": {
      rows: { R1: [1, 80], R2: [4, 40], R3: [1, 30], R4: [3, 30], R5: [3, 20], R6: [5, 10] },
      demand: { min: 2, max: 6, clusters: 5 },
      want: ["R1", "R2"],
    },
    "the heaviest groups": {
      rows: { R1: [1, 60], R2: [1, 50], R3: [1, 40], R4: [3, 30], R5: [3, 20], R6: [3, 10] },
      demand: { min: 1, max: 3, clusters: 6 },
      want: ["R1", "R4", "R5"],
    },
    "two groups of different size": {
      rows: { R1: [1, 60], R2: [2, 50], R3: [3, 40], R4: [4, 30] },
      demand: { min: 1, max: 2, clusters: 5 },
      want: ["R1", "R4"],
    },
    "the pair that is heavier together": {
      rows: { R4: [1, 60], R3: [3, 50], R1: [3, 40], R2: [4, 30] },
      demand: { min: 1, max: 2, clusters: 5 },
      want: ["R3", "R1"],
    },
  };
  for (const [behaviour, { rows, demand, want }] of Object.entries(cases)) {
    test(behaviour, () => {
      expect(namesOf(selectGroups(groups(rows), demand))).toEqual(want);
    });
  }
});

/** A brute-force version of the rule over all combinations. */
function walk(all: readonly Group[], { min, max, clusters }: GroupDemand): string[] | undefined {
  const row = all.toSorted((a, b) => a.size - b.size || b.weight - a.weight || (a.name < b.name ? -1 : 1));
  const found: Group[][] = [];
  const visit = (taken: Group[], size: number, from: number): void => {
    if (taken.length >= min && taken.length <= max && size >= clusters) return void found.push(taken);
    if (taken.length >= max) return;
    for (let index = from; index < row.length; index++) {
      const group = row[index] as Group;
      visit([...taken, group], size + group.size, index + 1);
    }
  };
  visit([], 0, 0);
  const sum = (path: readonly Group[], of: (group: Group) => number): number =>
    path.reduce((total, group) => total + of(group), 0);
  const paths = found.map((path) => path.toSorted((a, b) => b.weight - a.weight || (a.name < b.name ? -1 : 1)));
  paths.sort(
    (a, b) =>
      sum(b, ({ weight }) => weight) - sum(a, ({ weight }) => weight) ||
      sum(b, ({ size }) => size) - sum(a, ({ size }) => size),
  );
  let best = paths[0];
  for (const path of paths)
    if (best && path.length < best.length && path.every((group, index) => group === best?.[index])) best = path;
  return best?.map(({ name }) => name);
}

test("the result equals a search over all combinations", () => {
  const group = fc.record({ size: fc.integer({ min: 1, max: 4 }), weight: fc.integer({ min: 0, max: 3 }) });
  const demand = fc.record({
    min: fc.integer({ min: 1, max: 4 }),
    extra: fc.integer({ min: 0, max: 4 }),
    clusters: fc.integer({ min: 1, max: 12 }),
  });
  fc.assert(
    fc.property(fc.array(group, { maxLength: 7 }), demand, (rows, { min, extra, clusters }) => {
      const all = rows.map((row, index): Group => ({ name: `R${index}`, ...row }));

      expect(namesOf(selectGroups(all, { min, max: min + extra, clusters }))).toEqual(
        walk(all, { min, max: min + extra, clusters }),
      );
    }),
    { numRuns: 2000 },
  );
});

test("a thousand groups are selected without enumerating combinations", () => {
  const all = Array.from({ length: 1000 }, (_, index): Group => ({ name: `R${index}`, size: 1, weight: index }));

  const selected = selectGroups(all, { min: 2, max: Infinity, clusters: 500 });

  expect(selected?.length).toBeGreaterThanOrEqual(500);
});
