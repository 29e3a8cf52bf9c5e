import * as fc from "fast-check";
import { expect, test } from "vitest";
import { byPreference, sumAvailable, type ScoredCandidate } from "../candidate.ts";
import { readCluster } from "../fleet-view.ts";
import { findViolation, readSpread, type Dimension } from "./dimensions.ts";
import { searchSelection } from "./search-selection.ts";

const aCandidate = fc.record({
  region: fc.constantFrom("R1", "R2", "R3"),
  provider: fc.constantFrom("P1", "P2"),
  zones: fc.uniqueArray(fc.constantFrom("Z1", "Z2", "Z3"), { minLength: 1, maxLength: 2 }),
  rack: fc.constantFrom("a", "b", "c"),
  score: fc.constantFrom(0, 100),
  room: fc.integer({ min: 0, max: 20 }),
});
const someCandidates = fc.array(aCandidate, { minLength: 1, maxLength: 7 }).map((rows) =>
  rows
    .map(({ region, provider, zones, rack, score, room }, index): ScoredCandidate => {
      const name = `m${index}`;
      return {
        cluster: readCluster({ metadata: { name, labels: { rack } }, spec: { region, provider, zones } }),
        score,
        overflowOrder: 0,
        allocatableReplicas: room,
        availableReplicas: room,
        verdict: { cluster: name },
      };
    })
    .sort(byPreference),
);
const kinds = [
  { spreadByField: "region" as const },
  { spreadByField: "zone" as const },
  { spreadByField: "provider" as const },
  { spreadByLabel: "rack" },
  { spreadByField: "cluster" as const },
];
const someDimensions = fc
  .array(
    fc.record({
      kind: fc.constantFrom(...kinds),
      min: fc.integer({ min: 1, max: 3 }),
      extra: fc.integer({ min: 0, max: 2 }),
    }),
    { minLength: 1, maxLength: 4 },
  )
  .map(
    (rows) => readSpread(rows.map(({ kind, min, extra }) => ({ ...kind, minGroups: min, maxGroups: min + extra }))).all,
  );

const isSolution = (
  selection: readonly ScoredCandidate[],
  dimensions: readonly Dimension[],
  replicas: number,
): boolean => !findViolation(dimensions, selection) && sumAvailable(selection) >= replicas;

function subsets<T>(items: readonly T[]): T[][] {
  return Array.from({ length: 2 ** items.length }, (_, mask) => items.filter((_item, index) => (mask >> index) & 1));
}

test("a found selection satisfies everything, and one is found if it exists", () => {
  fc.assert(
    fc.property(someCandidates, someDimensions, fc.integer({ min: 0, max: 50 }), (candidates, dimensions, replicas) => {
      const found = searchSelection(candidates, dimensions, { replicas, duplicated: false });

      const isPossible = subsets(candidates).some((selection) => isSolution(selection, dimensions, replicas));
      expect(found !== undefined && isSolution(found, dimensions, replicas)).toBe(isPossible);
    }),
    { numRuns: 2000 },
  );
});

test("a thousand clusters with impossible constraints end the search soon", () => {
  const candidates = Array.from({ length: 1000 }, (_, index): ScoredCandidate => {
    const name = `m${index}`;
    const spec = {
      provider: `P${index % 50}`,
      region: `R${index % 40}`,
      zones: [`Z${index % 30}`, `Z${(index * 7) % 30}`],
    };
    return {
      cluster: readCluster({ metadata: { name }, spec }),
      score: 0,
      overflowOrder: 0,
      allocatableReplicas: 1,
      availableReplicas: 1,
      verdict: { cluster: name },
    };
  });
  const { all } = readSpread([
    { spreadByField: "zone", minGroups: 25, maxGroups: 25 },
    { spreadByField: "region", minGroups: 30, maxGroups: 30 },
    { spreadByField: "provider", minGroups: 40, maxGroups: 40 },
    { spreadByField: "cluster", minGroups: 40, maxGroups: 40 },
  ]);
  let looks = 0;
  const counted = all.map((dimension): Dimension => ({
    ...dimension,
    groupsOf: (candidate) => (looks++, dimension.groupsOf(candidate)),
  }));

  searchSelection(candidates, counted, { replicas: 10_000, duplicated: false });

  expect(looks).toBeLessThan(10_000_000);
});
