import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { ResourceBinding } from "@flotilla/karmada";
import { makeBinding, makeDeployment } from "@flotilla/testing/builders.ts";
import { createWorkloadGroups } from "./workload-groups.ts";

type Groups = NonNullable<ResourceBinding["spec"]["workloadAffinityGroups"]>;
const TOGETHER: Groups = { affinityGroup: "app=db" };
const APART: Groups = { antiAffinityGroup: "app=db" };

function member(
  name: string,
  groups: Groups,
  clusters: readonly string[] = [],
  version = 1,
  leaving: readonly string[] = [],
): ResourceBinding {
  return makeBinding(makeDeployment(`shop/${name}`).build())
    .with(({ metadata, spec }) => {
      metadata.resourceVersion = `${version}`;
      Object.assign(spec, {
        workloadAffinityGroups: groups,
        clusters: clusters.map((cluster) => ({ name: cluster })),
        gracefulEvictionTasks: leaving.map((fromCluster) => ({ fromCluster, reason: "x", producer: "y" })),
      });
    })
    .build();
}

describe("an affinity group", () => {
  test("is entirely on a cluster that each placed binding has", () => {
    const groups = createWorkloadGroups();
    groups.see("hub", member("a", TOGETHER, ["oslo", "paris"]));
    groups.see("hub", member("b", TOGETHER, ["paris"]));
    groups.see("hub", member("nowhere", TOGETHER));

    const neighbours = groups.neighboursOf("hub", member("new", TOGETHER));

    expect(["oslo", "paris", "rome"].map((name) => neighbours?.areAllOn(name))).toEqual([false, true, false]);
  });

  test("ignores clusters that its bindings are being evicted from", () => {
    const groups = createWorkloadGroups();
    groups.see("hub", member("a", TOGETHER, ["oslo"], 1, ["oslo"]));

    expect(groups.neighboursOf("hub", member("b", TOGETHER, ["oslo"]))?.areAllOn("paris")).toBe(true);
  });

  test("does not count the binding itself", () => {
    const groups = createWorkloadGroups();
    groups.see("hub", member("a", TOGETHER, ["oslo"]));

    expect(groups.neighboursOf("hub", member("a", TOGETHER, ["oslo"]))?.areAllOn("paris")).toBe(true);
  });
});

test("a binding without a group has no neighbours", () => {
  expect(createWorkloadGroups().neighboursOf("hub", member("a", {}))).toBeUndefined();
});

describe("a decision", () => {
  const isTaken = (groups: ReturnType<typeof createWorkloadGroups>, cluster: string): boolean | undefined =>
    groups.neighboursOf("hub", member("other", APART))?.isTaken(cluster);

  test("counts at once, and older informer events do not", () => {
    const groups = createWorkloadGroups();
    groups.see("hub", member("a", APART, [], 1));
    const assumption = groups.assume("hub", member("a", APART, [], 1), ["oslo"]);
    expect(isTaken(groups, "oslo")).toBe(true);

    groups.see("hub", member("a", APART, [], 2));
    assumption.written(member("a", APART, ["oslo"], 3));
    groups.see("hub", member("a", APART, [], 2));
    expect(isTaken(groups, "oslo")).toBe(true);

    groups.see("hub", member("a", APART, ["oslo"], 3));
    groups.see("hub", member("a", APART, ["paris"], 4));
    expect([isTaken(groups, "oslo"), isTaken(groups, "paris")]).toEqual([false, true]);
  });

  test("no longer counts if the informer received it before its response", () => {
    const groups = createWorkloadGroups();
    groups.see("hub", member("a", APART, [], 1));
    const assumption = groups.assume("hub", member("a", APART, [], 1), ["oslo"]);

    groups.see("hub", member("a", APART, ["oslo"], 2));
    groups.see("hub", member("a", APART, ["paris"], 3));
    assumption.written(member("a", APART, ["oslo"], 2));

    expect([isTaken(groups, "oslo"), isTaken(groups, "paris")]).toEqual([false, true]);
  });

  test("a decision that was not written is dropped", () => {
    const groups = createWorkloadGroups();
    groups.see("hub", member("a", APART, ["paris"], 1));
    const assumption = groups.assume("hub", member("a", APART, ["paris"], 1), ["oslo"]);

    assumption.drop();

    expect([isTaken(groups, "oslo"), isTaken(groups, "paris")]).toEqual([false, true]);
  });

  test("is deleted with its binding", () => {
    const groups = createWorkloadGroups();
    groups.see("hub", member("a", APART, [], 1));
    groups.assume("hub", member("a", APART, [], 1), ["oslo"]).written(member("a", APART, ["oslo"], 5));

    groups.see("hub", member("a", APART, [], 2), true);

    expect(isTaken(groups, "oslo")).toBe(false);
  });
});

describe("a change", () => {
  const affected = (object: ResourceBinding, old?: ResourceBinding, deleted = false): string[] => {
    const groups = createWorkloadGroups();
    for (const binding of [member("a", TOGETHER, ["oslo"]), member("b", TOGETHER), member("c", APART)])
      groups.see("hub", binding);
    return groups.affectedBy({ cluster: "hub", object, old, deleted }).map(({ name }) => name);
  };

  const cases: Record<string, { object: ResourceBinding; old?: ResourceBinding; deleted?: boolean; want: string[] }> = {
    "of a binding's clusters affects the others of its group": {
      object: member("a", TOGETHER, ["oslo"]),
      old: member("a", TOGETHER, []),
      want: ["b-deployment"],
    },
    "of anything else affects no binding": {
      object: member("a", TOGETHER, ["oslo"], 9),
      old: member("a", TOGETHER, ["oslo"], 8),
      want: [],
    },
    "of the group affects both groups": {
      object: member("a", APART, ["oslo"]),
      old: member("a", TOGETHER, ["oslo"]),
      want: ["c-deployment", "b-deployment"],
    },
    "that adds an unscheduled binding affects no binding": { object: member("d", TOGETHER), want: [] },
    "that removes a binding affects the others": {
      object: member("a", TOGETHER, ["oslo"]),
      deleted: true,
      old: member("a", TOGETHER, ["oslo"]),
      want: ["b-deployment"],
    },
  };
  for (const [behaviour, { object, old, deleted, want }] of Object.entries(cases)) {
    // oxlint-disable-next-line vitest/valid-title -- The name of the case is the title.
    test(behaviour, () => {
      expect(affected(object, old, deleted)).toEqual(want);
    });
  }
});

test("counts equal a scan of every binding", () => {
  const clusters = ["oslo", "paris", "rome"];
  const step = fc.record({
    name: fc.constantFrom("a", "b", "c", "d"),
    group: fc.constantFrom<Groups>({}, TOGETHER, APART, { ...TOGETHER, ...APART }, { affinityGroup: "app=web" }),
    on: fc.subarray(clusters),
    deleted: fc.boolean(),
  });
  fc.assert(
    fc.property(fc.array(step, { maxLength: 40 }), (steps) => {
      const groups = createWorkloadGroups();
      const present = new Map<string, { group: Groups; on: string[] }>();
      for (const [version, { name, group, on, deleted }] of steps.entries()) {
        groups.see("hub", member(name, group, on, version + 1), deleted);
        if (deleted) present.delete(name);
        else present.set(name, { group, on });
      }

      const self = present.get("a") ?? { group: { ...TOGETHER, ...APART }, on: [] };
      const neighbours = groups.neighboursOf("hub", member("a", self.group, self.on));

      const others = [...present].filter(([name]) => name !== "a").map(([, other]) => other);
      const together = others.filter(
        ({ group, on }) =>
          group.affinityGroup !== undefined && group.affinityGroup === self.group.affinityGroup && on.length > 0,
      );
      const apart = others.filter(
        ({ group }) =>
          group.antiAffinityGroup !== undefined && group.antiAffinityGroup === self.group.antiAffinityGroup,
      );
      expect(clusters.map((name) => neighbours?.areAllOn(name) ?? true)).toEqual(
        clusters.map((name) => together.every(({ on }) => on.includes(name))),
      );
      expect(clusters.map((name) => neighbours?.isTaken(name) ?? false)).toEqual(
        clusters.map((name) => apart.some(({ on }) => on.includes(name))),
      );
    }),
  );
});
