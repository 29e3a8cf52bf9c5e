import { array, assert, nat, property } from "fast-check";
import { describe, expect, test } from "vitest";
import type { KubernetesObject } from "@flotilla/apimachinery";
import type { Json } from "@flotilla/base";
import type { Share } from "@flotilla/kubernetes";
import { divideOrdinals } from "./fleet-ordinals.ts";
import { planOrdinals, type OrdinalSet } from "./plan-fleet-ordinals.ts";

const setOf = (spec: OrdinalSet["spec"]): OrdinalSet => ({
  apiVersion: "apps.kruise.io/v1beta1",
  kind: "StatefulSet",
  metadata: { name: "web" },
  spec,
});

/** A fleet that records each member's last copy and its reports. */
function createFleet(spec: OrdinalSet["spec"] = {}) {
  const copies = new Map<string, KubernetesObject>();
  const observed = new Map<string, Json>();
  return {
    give(replicas: Record<string, number>, more: OrdinalSet["spec"] = {}): Record<string, readonly number[]> {
      const members = new Set([...copies.keys(), ...Object.keys(replicas)]);
      const shares = [...members].map((cluster): Share => {
        const [copy, status] = [copies.get(cluster), observed.get(cluster)];
        return {
          cluster,
          replicas: replicas[cluster] ?? 0,
          copy,
          observed: status,
          leaving: !(cluster in replicas) ? (true as const) : undefined,
        };
      });
      const set = setOf({ replicas: Object.values(replicas).reduce((sum, count) => sum + count, 0), ...spec, ...more });
      const owned = Object.fromEntries(
        [...planOrdinals(set, shares).byCluster].map(([cluster, { own }]) => [cluster, own]),
      );
      const divided = divideOrdinals(set, shares);
      for (const cluster of members) {
        const copy = divided.get(cluster);
        if (copy) copies.set(cluster, copy as KubernetesObject);
        else copies.delete(cluster);
      }
      return owned;
    },
    report: (cluster: string, generation: number, replicas: number): unknown =>
      observed.set(cluster, { generation, observedGeneration: generation, replicas }),
    /** The member's copy and its pods are deleted. */
    remove: (cluster: string): unknown => copies.delete(cluster) && observed.delete(cluster),
    has: (cluster: string): boolean => copies.has(cluster),
    leaving: (cluster: string): string | undefined =>
      copies.get(cluster)?.metadata.annotations?.["flotilla.dev/leaving-ordinals"],
  };
}

describe("fleet ordinals", () => {
  test("are assigned in the order of the targets, and kept", () => {
    const fleet = createFleet();
    fleet.give({ a: 5, b: 5 });

    expect(fleet.give({ a: 5, b: 5 })).toEqual({ a: [0, 1, 2, 3, 4], b: [5, 6, 7, 8, 9] });
    expect(fleet.give({ a: 6, b: 5 })).toEqual({ a: [0, 1, 2, 3, 4, 10], b: [5, 6, 7, 8, 9] });
  });

  test("move only after the losing member has reported that the pod is deleted", () => {
    const fleet = createFleet();
    fleet.give({ a: 5, b: 4 });
    fleet.report("a", 1, 5);

    expect(fleet.give({ a: 4, b: 5 })).toEqual({ a: [0, 1, 2, 3], b: [5, 6, 7, 8] });
    expect(fleet.leaving("a")).toBe("4@1");
    // The pod is terminating and still counts.
    fleet.report("a", 2, 5);
    expect(fleet.give({ a: 4, b: 5 })).toMatchObject({ b: [5, 6, 7, 8] });
    fleet.report("a", 2, 4);
    expect(fleet.give({ a: 4, b: 5 })).toEqual({ a: [0, 1, 2, 3], b: [4, 5, 6, 7, 8] });
    expect(fleet.leaving("a")).toBeUndefined();
  });

  test("are not released by a report from before the change", () => {
    const fleet = createFleet();
    fleet.give({ a: 5, b: 4 });
    // One of its pods is missing, so by the count alone the last one seems to be deleted.
    fleet.report("a", 1, 4);

    expect(fleet.give({ a: 4, b: 5 })).toMatchObject({ b: [5, 6, 7, 8] });
    expect(fleet.give({ a: 4, b: 5 })).toMatchObject({ b: [5, 6, 7, 8] });
  });

  test("fleet ordinals that a member released can be returned to it at once", () => {
    const fleet = createFleet();
    fleet.give({ a: 5, b: 4 });
    fleet.give({ a: 4, b: 5 });

    expect(fleet.give({ a: 5, b: 4 })).toEqual({ a: [0, 1, 2, 3, 4], b: [5, 6, 7, 8] });
    expect(fleet.leaving("a")).toBeUndefined();
  });

  test("fleet ordinals of a member that is no longer a target wait until it has terminated their pods", () => {
    const fleet = createFleet();
    fleet.give({ a: 3, b: 3 });
    fleet.report("a", 1, 3);

    expect(fleet.give({ b: 6 })).toEqual({ a: [], b: [3, 4, 5] });
    fleet.report("a", 2, 1);
    expect(fleet.give({ b: 6 })).toEqual({ a: [], b: [3, 4, 5] });
    fleet.report("a", 2, 0);
    expect(fleet.give({ b: 6 })).toEqual({ a: [], b: [0, 1, 2, 3, 4, 5] });
    expect(fleet.has("a")).toBe(false);
  });

  test("fleet ordinals of a removed member are released when its copy is removed", () => {
    const fleet = createFleet();
    fleet.give({ a: 3, b: 3 });
    fleet.give({ b: 6 });

    fleet.remove("a");

    expect(fleet.give({ b: 6 })).toEqual({ b: [0, 1, 2, 3, 4, 5] });
  });

  test("stay in place when one member is left with the upper ordinals", () => {
    const fleet = createFleet();
    fleet.give({ a: 3, b: 3 });
    fleet.remove("a");

    expect(fleet.give({ b: 3 })).toEqual({ b: [3, 4, 5] });
  });

  test("begin at the user's start ordinal and leave out ordinals that the user reserves", () => {
    const fleet = createFleet({ ordinals: { start: 10 }, reserveOrdinals: [11, "13-14"] });

    expect(fleet.give({ a: 2, b: 2 })).toEqual({ a: [10, 12], b: [15, 16] });
    expect(fleet.give({ a: 2, b: 2 }, { reserveOrdinals: [11, "13-15"] })).toEqual({ a: [10, 12], b: [16, 17] });
  });

  test("never have two owners, whatever moves and in whatever order members report", () => {
    assert(
      property(
        array(array(nat(6), { minLength: 3, maxLength: 3 }), { minLength: 1, maxLength: 12 }),
        array(nat(2), { minLength: 12, maxLength: 12 }),
        (steps, reporters) => {
          const fleet = createFleet();
          const running = new Map<string, Set<number>>(["a", "b", "c"].map((cluster) => [cluster, new Set()]));
          const wanted = new Map<string, readonly number[]>();
          let generation = 1;
          for (const [index, counts] of steps.entries()) {
            // Occasionally a member is not a target at all.
            const targets = Object.fromEntries(
              ["a", "b", "c"].flatMap((cluster, member) =>
                counts[member] === 6 ? [] : [[cluster, counts[member] ?? 0]],
              ),
            );
            for (const [cluster, own] of Object.entries(fleet.give(targets))) {
              wanted.set(cluster, own);
              // Pods are started at once and removed late: the worst case.
              for (const ordinal of own) running.get(cluster)?.add(ordinal);
            }
            const pods = [...running.values()].flatMap((ordinals) => [...ordinals]);
            expect(new Set(pods).size).toBe(pods.length);
            const orphans = [...running].filter(([cluster, ordinals]) => !fleet.has(cluster) && ordinals.size > 0);
            expect(orphans).toEqual([]);
            const reporter = ["a", "b", "c"][reporters[index] ?? 0] ?? "a";
            running.set(reporter, new Set(wanted.get(reporter)));
            if (fleet.has(reporter)) fleet.report(reporter, ++generation, wanted.get(reporter)?.length ?? 0);
          }
        },
      ),
      { seed: 17, numRuns: 500 },
    );
  });
});
