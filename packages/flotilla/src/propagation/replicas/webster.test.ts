import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { divideByWeight, type ClusterReplicas, type WeightedCluster } from "./webster.ts";

const weighted = (...weights: number[]): WeightedCluster[] =>
  weights.map((weight, index) => ({ name: `m${index + 1}`, weight }));
const held = (...replicas: number[]): ClusterReplicas[] =>
  replicas.map((count, index) => ({ name: `m${index + 1}`, replicas: count }));
const counts = (clusters: readonly ClusterReplicas[]): number[] => clusters.map(({ replicas }) => replicas);

const ODD_UID = "d43fdeeb-d750-4e2b-bee3-64eb94534f4c";
const EVEN_UID = "4858ca61-3ff8-4095-8267-f3d059d8074c";

describe("replicas divided by weight", () => {
  const cases: Record<
    string,
    { replicas: number; weights: number[]; previous?: number[]; uid?: string; want: number[] }
  > = {
    "follow the weights": { replicas: 12, weights: [3, 2, 1], want: [6, 4, 2] },
    "give the first remainder to the largest weight": { replicas: 13, weights: [3, 2, 1], want: [7, 4, 2] },
    "give the next remainder to the second": { replicas: 14, weights: [3, 2, 1], want: [7, 5, 2] },
    "leave a cluster with a small weight empty when there are few": { replicas: 1, weights: [2, 1], want: [1, 0] },
    "are not rounded down for every cluster": { replicas: 5, weights: [170, 110, 60], want: [2, 2, 1] },
    "break ties by name": { replicas: 5, weights: [1, 1], uid: EVEN_UID, want: [3, 2] },
    "break ties in reverse for every second workload": { replicas: 5, weights: [1, 1], uid: ODD_UID, want: [2, 3] },
    "are added to previous replicas": { replicas: 3, weights: [1, 2, 3], previous: [1, 2, 3], want: [2, 3, 4] },
    "prefer the emptier cluster in a tie": { replicas: 1, weights: [3, 1], previous: [1, 0], want: [1, 1] },
    "are never given to a cluster without weight": { replicas: 5, weights: [0, 5, 1, 0], want: [0, 4, 1, 0] },
    "are listed as 0 when there are none": { replicas: 0, weights: [1, 1], want: [0, 0] },
    "change nothing without weights": { replicas: 3, weights: [0], previous: [1], want: [1] },
  };
  for (const [behaviour, { replicas, weights, previous, uid, want }] of Object.entries(cases)) {
    test(behaviour, () => {
      const clusters = divideByWeight(replicas, weighted(...weights), {
        uid,
        previous: previous ? held(...previous) : undefined,
      });

      expect(counts(clusters)).toEqual(want);
    });
  }

  test("keep the previous replicas of a cluster without weight", () => {
    const clusters = divideByWeight(2, [{ name: "a", weight: 100 }], { previous: [{ name: "b", replicas: 3 }] });

    expect(clusters).toEqual([
      { name: "a", replicas: 2 },
      { name: "b", replicas: 3 },
    ]);
  });
});

/** The method by definition, one replica at a time. */
function divideSlowly(
  replicas: number,
  clusters: readonly WeightedCluster[],
  previous: readonly ClusterReplicas[],
): number[] {
  const seats = clusters.map(({ name }) => previous.find((cluster) => cluster.name === name)?.replicas ?? 0);
  const quotient = (index: number): number => (clusters[index]?.weight ?? 0) / (2 * (seats[index] ?? 0) + 1);
  for (let left = replicas; left > 0; left--) {
    let best = 0;
    for (let index = 1; index < clusters.length; index++) {
      const isAhead =
        quotient(index) > quotient(best) ||
        (quotient(index) === quotient(best) && (seats[index] ?? 0) < (seats[best] ?? 0));
      if (isAhead) best = index;
    }
    seats[best] = (seats[best] ?? 0) + 1;
  }
  return seats;
}

test("dividing many replicas at once equals dividing them one by one", () => {
  const weights = fc.array(fc.oneof(fc.integer({ min: 0, max: 10 }), fc.integer({ min: 0, max: 1_000_000 })), {
    minLength: 1,
    maxLength: 9,
  });
  const replicas = fc.integer({ min: 1, max: 3000 });
  const before = fc.array(fc.integer({ min: 0, max: 500 }), { maxLength: 9 });

  fc.assert(
    fc.property(weights, replicas, before, (weights, replicas, before) => {
      fc.pre(weights.some((weight) => weight > 0));
      const clusters = weighted(...weights);
      const previous = held(...before.slice(0, clusters.length));

      expect(counts(divideByWeight(replicas, clusters, { previous }))).toEqual(
        divideSlowly(replicas, clusters, previous),
      );
    }),
    { seed: 42, numRuns: 300 },
  );
});

test("more replicas never take one from a cluster", () => {
  const clusters = weighted(7, 3, 3, 2, 1);

  for (let replicas = 0; replicas < 200; replicas++) {
    const fewer = counts(divideByWeight(replicas, clusters));
    const more = counts(divideByWeight(replicas + 1, clusters));
    expect(more.every((count, index) => count >= (fewer[index] ?? 0))).toBe(true);
  }
});

test("divides a number of replicas too large to count out", () => {
  const clusters = Array.from({ length: 1000 }, (_, index) => ({ name: `m${index}`, weight: 1 + (index % 97) }));
  const previous = [{ name: "m5", replicas: 1_000_000_000 }];

  const divided = divideByWeight(2_000_000_000, clusters, { previous });

  expect(counts(divided).reduce((sum, count) => sum + count, 0)).toBe(3_000_000_000);
});
