import * as fc from "fast-check";
import { expect, test } from "vitest";
import { createFleet, readCluster, updateFleet } from "./fleet-view.ts";
import type { ClusterView } from "./fleet-cluster.ts";

const cluster = (name: string, more: Partial<ClusterView["metadata"]> = {}): ClusterView => ({
  metadata: { name, ...more },
});

test("clusters are sorted by name, regardless of list order", () => {
  expect(createFleet([cluster("paris"), cluster("bern"), cluster("oslo")]).clusters.map(({ name }) => name)).toEqual([
    "bern",
    "oslo",
    "paris",
  ]);
});

test("an unchanged Cluster is converted to a FleetCluster only once", () => {
  const oslo = cluster("oslo");

  expect(readCluster(oslo)).toBe(readCluster(oslo));
});

test("a cluster is staying unless it is being removed or unknown", () => {
  const fleet = createFleet([cluster("oslo"), cluster("rome", { deletionTimestamp: "2024-05-01T00:00:00Z" })]);

  expect(["oslo", "rome", "bern"].map((name) => fleet.isStaying(name))).toEqual([true, false, false]);
});

test("an incrementally updated fleet equals a newly read one", () => {
  const change = fc.record({
    name: fc.constantFrom("a", "b", "c", "d", "e"),
    gone: fc.boolean(),
    rack: fc.constantFrom("x", "y"),
  });
  fc.assert(
    fc.property(fc.array(change), (changes) => {
      const present = new Map<string, ClusterView>();
      let fleet = createFleet([]);
      for (const { name, gone, rack } of changes) {
        const changed = cluster(name, { labels: { rack } });
        if (gone) present.delete(name);
        else present.set(name, changed);
        fleet = updateFleet(fleet, changed, gone);
      }

      expect(fleet.clusters).toEqual(createFleet([...present.values()]).clusters);
    }),
  );
});
