import { defined, omitZero } from "@flotilla/base";
import { describe, expect, test } from "vitest";
import type { KubernetesObject } from "@flotilla/apimachinery";
import type { DeepReadonly } from "@flotilla/base";
import { createInterpreter } from "@flotilla/flotilla";
import type { Share } from "@flotilla/kubernetes";

type Copies = ReadonlyMap<string, DeepReadonly<KubernetesObject>>;

const interpreter = createInterpreter();
const make = (
  apiVersion: string,
  kind: string,
  spec: object,
  annotations: Record<string, string> = {},
): KubernetesObject =>
  ({
    apiVersion: `apps.kruise.io/${apiVersion}`,
    kind,
    metadata: { name: "web", annotations },
    spec,
  }) as unknown as KubernetesObject;
const specsOf = (copies: Copies): object[] =>
  [...copies.values()].map((copy) => (copy as unknown as { spec: object }).spec);
const specs = async (object: KubernetesObject, shares: readonly Share[]): Promise<object[]> =>
  specsOf(await interpreter.divide(object, shares));
const over = (...replicas: number[]): Share[] =>
  replicas.map((count, index) => ({ cluster: `m${index}`, replicas: count }));
/** The members with their previous copies, each of which has reported a status. */
const after = (copies: Copies, shares: readonly Share[]): Share[] =>
  shares.map((share) => {
    const copy = copies.get(share.cluster);
    return {
      ...share,
      ...omitZero({ copy }),
      ...defined({
        observed: copy ? (share.observed ?? { replicas: share.replicas, resourceTemplateGeneration: 1 }) : undefined,
      }),
    };
  });

describe("a CloneSet", () => {
  test("splits its partition over the members as whole numbers", async () => {
    const cloneSet = make("v1alpha1", "CloneSet", {
      replicas: 10,
      updateStrategy: { partition: 5, maxUnavailable: 1 },
    });

    expect(await specs(cloneSet, over(3, 3, 4))).toEqual([
      { replicas: 3, updateStrategy: { partition: 1, maxUnavailable: 1 } },
      { replicas: 3, updateStrategy: { partition: 2, maxUnavailable: 1 } },
      { replicas: 4, updateStrategy: { partition: 2, maxUnavailable: 1 } },
    ]);
  });

  test("writes its partition to rollingUpdate from v1beta1 on", async () => {
    const cloneSet = make("v1beta1", "CloneSet", {
      replicas: 15,
      updateStrategy: { rollingUpdate: { partition: 9, maxUnavailable: "20%" } },
    });

    expect(await specs(cloneSet, over(10, 5))).toEqual([
      { replicas: 10, updateStrategy: { rollingUpdate: { partition: 6, maxUnavailable: 2 } } },
      { replicas: 5, updateStrategy: { rollingUpdate: { partition: 3, maxUnavailable: 1 } } },
    ]);
  });

  test("holds a member that updates nothing, regardless of later scaling", async () => {
    const cloneSet = make("v1alpha1", "CloneSet", { replicas: 10, updateStrategy: { partition: "90%" } });

    expect(await specs(cloneSet, over(3, 3, 4))).toEqual([
      { replicas: 3, updateStrategy: { partition: "100%" } },
      { replicas: 3, updateStrategy: { partition: "100%" } },
      { replicas: 4, updateStrategy: { partition: 3 } },
    ]);
  });

  test("splits its budgets even without a partition", async () => {
    const cloneSet = make("v1alpha1", "CloneSet", {
      replicas: 20,
      scaleStrategy: { maxUnavailable: 4 },
      updateStrategy: { maxUnavailable: "20%", maxSurge: 2 },
    });

    expect(await specs(cloneSet, over(15, 5))).toEqual([
      { replicas: 15, scaleStrategy: { maxUnavailable: 3 }, updateStrategy: { maxUnavailable: 3, maxSurge: 2 } },
      { replicas: 5, scaleStrategy: { maxUnavailable: 1 }, updateStrategy: { maxUnavailable: 1, maxSurge: 0 } },
    ]);
  });

  test("a CloneSet on one member is copied unchanged", async () => {
    const spec = { replicas: 10, updateStrategy: { partition: "50%", maxUnavailable: "20%" } };

    expect(await specs(make("v1alpha1", "CloneSet", spec), over(10))).toEqual([spec]);
  });

  test("keeps the template's numbers with partition scope cluster", async () => {
    const cloneSet = make(
      "v1alpha1",
      "CloneSet",
      { replicas: 10, updateStrategy: { partition: "50%" } },
      { "flotilla.dev/partition-scope": "cluster" },
    );

    expect(await specs(cloneSet, over(4, 6))).toEqual([
      { replicas: 4, updateStrategy: { partition: "50%" } },
      { replicas: 6, updateStrategy: { partition: "50%" } },
    ]);
  });

  test("a CloneSet that is duplicated has its own rollout on each member", async () => {
    const cloneSet = make("v1alpha1", "CloneSet", { replicas: 4, updateStrategy: { partition: 1 } });

    expect(await specs(cloneSet, over(4, 4))).toEqual([
      { replicas: 4, updateStrategy: { partition: 1 } },
      { replicas: 4, updateStrategy: { partition: 1 } },
    ]);
  });

  test.each([
    { annotation: "flotilla.dev/rollout-order", value: "fastest", accepted: "spread, ordered or canary" },
    { annotation: "flotilla.dev/partition-scope", value: "zone", accepted: "fleet or cluster" },
  ])("rejects $value in $annotation", async ({ annotation, value, accepted }) => {
    const cloneSet = make("v1alpha1", "CloneSet", { replicas: 4, updateStrategy: {} }, { [annotation]: value });

    await expect(interpreter.divide(cloneSet, over(2, 2))).rejects.toThrow(
      `annotation ${annotation} is "${value}"; it must be ${accepted}`,
    );
  });
});

describe("a CloneSet release", () => {
  const release = (
    replicas: number,
    partition: number | string,
    { image = "web:2", annotations = {} }: { image?: string; annotations?: Record<string, string> } = {},
  ): KubernetesObject =>
    make(
      "v1alpha1",
      "CloneSet",
      { replicas, template: { spec: { containers: [{ name: "web", image }] } }, updateStrategy: { partition } },
      annotations,
    );
  const partitions = (copies: Copies): (number | string)[] =>
    specsOf(copies).map(
      (spec) => (spec as { updateStrategy: { partition: number | string } }).updateStrategy.partition,
    );

  test("proceeds through the members in the order that the template specifies", async () => {
    const inOrder = (annotations: Record<string, string>): Promise<Copies> =>
      interpreter.divide(release(10, 6, { annotations }), over(3, 3, 4));

    expect(partitions(await inOrder({ "flotilla.dev/rollout-order": "ordered" }))).toEqual([0, 2, "100%"]);
    expect(
      partitions(await inOrder({ "flotilla.dev/rollout-order": "canary", "flotilla.dev/canary-clusters": "m2" })),
    ).toEqual(["100%", "100%", 0]);
    expect(
      partitions(
        await inOrder({ "flotilla.dev/rollout-order": "canary", "flotilla.dev/canary-clusters": "elsewhere" }),
      ),
    ).toEqual(["100%", "100%", "100%"]);
  });

  test("does not lower a member's progress when replicas move during a rollout", async () => {
    const before = await interpreter.divide(release(20, 10), over(10, 10));
    expect(partitions(before)).toEqual([5, 5]);

    const moved = await interpreter.divide(release(20, 10), after(before, over(6, 14)));

    // Five of the six remaining pods are already updated, so the other member updates five of its fourteen.
    expect(partitions(moved)).toEqual([1, 9]);
  });

  test("starts from the partition when the pod template changes", async () => {
    const before = await interpreter.divide(release(20, 2), over(10, 10));

    const next = await interpreter.divide(release(20, "100%", { image: "web:3" }), after(before, over(10, 10)));

    expect(partitions(next)).toEqual(["100%", "100%"]);
  });

  test("rolls back when the user raises the partition", async () => {
    const before = await interpreter.divide(release(20, 10), over(10, 10));

    const raised = await interpreter.divide(release(20, 16), after(before, over(10, 10)));

    expect(partitions(raised)).toEqual([8, 8]);
  });

  test("counts the pods of a joining member as updated, because they start from the newest template", async () => {
    const before = await interpreter.divide(release(12, 6), over(6, 6));

    const joined = await interpreter.divide(release(12, 6), after(before, over(4, 4, 4)));

    expect(partitions(joined)).toEqual([1, 1, 0]);
  });

  test("is not affected by overrides of the copies", async () => {
    const before = await interpreter.divide(release(20, 10), over(10, 10));
    const overridden = new Map(
      [...before].map(([cluster, copy]) => [
        cluster,
        { ...copy, spec: { ...(copy as { spec?: object }).spec, template: {} } } as DeepReadonly<KubernetesObject>,
      ]),
    );

    expect(partitions(await interpreter.divide(release(20, 10), after(overridden, over(6, 14))))).toEqual([1, 9]);
  });
});

test("manually edited copies do not break a division", async () => {
  const edited = (kind: string, spec: object, annotations: Record<string, string>): Copies =>
    new Map([["m0", make("v1beta1", kind, spec, annotations)]]);
  const cloneSet = make("v1beta1", "CloneSet", { replicas: 4, updateStrategy: { rollingUpdate: { partition: 2 } } });
  const stage =
    (await interpreter.divide(cloneSet, over(2, 2))).get("m0")?.metadata.annotations?.["flotilla.dev/rollout-stage"] ??
    "";

  const after1 = edited(
    "CloneSet",
    { replicas: 2, updateStrategy: { rollingUpdate: { partition: "some" } } },
    { "flotilla.dev/rollout-stage": stage },
  );
  const after2 = edited("CloneSet", { replicas: 2 }, { "flotilla.dev/rollout-stage": stage.replace(/\/.*/, "/many") });
  const after3 = edited(
    "StatefulSet",
    { replicas: 2, reserveOrdinals: ["x"] },
    { "flotilla.dev/leaving-ordinals": "9-5@1" },
  );

  expect(await specs(cloneSet, after(after1, over(2, 2)))).toHaveLength(2);
  expect(await specs(cloneSet, after(after2, over(2, 2)))).toHaveLength(2);
  expect(await specs(make("v1beta1", "StatefulSet", { replicas: 4 }), after(after3, over(2, 2)))).toEqual([
    { replicas: 2 },
    { replicas: 2, reserveOrdinals: ["0-1"] },
  ]);
});

describe("an Advanced StatefulSet", () => {
  const statefulSet = (spec: object, version = "v1beta1"): KubernetesObject => make(version, "StatefulSet", spec);

  test("assigns every ordinal to one member", async () => {
    expect(await specs(statefulSet({ replicas: 11 }), over(6, 5))).toEqual([
      { replicas: 6 },
      { replicas: 5, reserveOrdinals: ["0-5"] },
    ]);
  });

  test("lists single ordinals where the version does not support ranges", async () => {
    expect(await specs(statefulSet({ replicas: 5 }, "v1alpha1"), over(2, 3))).toEqual([
      { replicas: 2 },
      { replicas: 3, reserveOrdinals: [0, 1] },
    ]);
  });

  test("grows by unowned ordinals and moves none", async () => {
    const before = await interpreter.divide(statefulSet({ replicas: 11 }), over(5, 6));

    expect(await specs(statefulSet({ replicas: 12 }), after(before, over(6, 6)))).toEqual([
      { replicas: 6, reserveOrdinals: ["5-10"] },
      { replicas: 6, reserveOrdinals: ["0-4"] },
    ]);
  });

  test("does not reassign an ordinal before the member that loses it has released it", async () => {
    const before = await interpreter.divide(statefulSet({ replicas: 9 }), over(5, 4));

    expect(await specs(statefulSet({ replicas: 9 }), after(before, over(4, 5)))).toEqual([
      { replicas: 4 },
      { replicas: 4, reserveOrdinals: ["0-4"] },
    ]);
  });

  test("keeps the lowest ordinals of the fleet at the old revision", async () => {
    const partitioned = statefulSet({ replicas: 11, updateStrategy: { rollingUpdate: { partition: 7 } } });

    expect(await specs(partitioned, over(5, 6))).toEqual([
      { replicas: 5, updateStrategy: { rollingUpdate: { partition: 5 } } },
      { replicas: 6, reserveOrdinals: ["0-4"], updateStrategy: { rollingUpdate: { partition: 2 } } },
    ]);
  });

  test("keeps them also when the members' ordinals are interleaved", async () => {
    const copies: Copies = new Map([
      ["m0", statefulSet({ replicas: 5, reserveOrdinals: [1, 3, 5, 7] })],
      ["m1", statefulSet({ replicas: 5, reserveOrdinals: [0, 2, 4, 6, 8] })],
    ]);

    const divided = await specs(
      statefulSet({ replicas: 10, updateStrategy: { rollingUpdate: { partition: 7, maxUnavailable: "40%" } } }),
      after(copies, over(5, 5)),
    );

    expect(divided).toEqual([
      {
        replicas: 5,
        reserveOrdinals: [1, 3, 5, 7],
        updateStrategy: { rollingUpdate: { partition: 4, maxUnavailable: 2 } },
      },
      {
        replicas: 5,
        reserveOrdinals: [0, 2, 4, 6, 8],
        updateStrategy: { rollingUpdate: { partition: 3, maxUnavailable: 2 } },
      },
    ]);
  });

  test("leaves out ordinals that the user reserves", async () => {
    expect(await specs(statefulSet({ replicas: 5, reserveOrdinals: [1, "3-4"] }), over(2, 3))).toEqual([
      { replicas: 2, reserveOrdinals: [1, "3-4"] },
      { replicas: 3, reserveOrdinals: ["0-4"] },
    ]);
  });

  test("rejects a set of absurd size instead of listing its ordinals", async () => {
    await expect(specs(statefulSet({ replicas: 2_000_000_001 }), over(2_000_000_000, 1))).rejects.toThrow(
      "replicas exceed the 100000 ordinals that can be assigned",
    );
    await expect(
      specs(statefulSet({ replicas: 2, reserveOrdinals: ["0-999999"] }, "v1alpha1"), over(1, 1)),
    ).rejects.toThrow("write it as v1beta1");
  });
});

describe("kinds whose pod counts only members know", () => {
  const seen = (field: string, ...counts: (number | undefined)[]): Share[] =>
    counts.map((count, index) => ({
      cluster: `m${index}`,
      replicas: 0,
      observed: count !== undefined ? { [field]: count } : undefined,
    }));
  const sidecarSet = (updateStrategy: object, image = "proxy:2"): KubernetesObject =>
    make("v1alpha1", "SidecarSet", { containers: [{ name: "proxy", image }], updateStrategy });
  const strategies = (copies: Copies): object[] =>
    specsOf(copies).map((spec) => (spec as { updateStrategy: object }).updateStrategy);

  test("an Advanced DaemonSet splits its partition by nodes and rounds a percentage down", async () => {
    const daemonSet = make("v1beta1", "DaemonSet", { updateStrategy: { rollingUpdate: { partition: "33%" } } });

    const partitions = await specs(daemonSet, seen("desiredNumberScheduled", 50, 30, 20));

    expect(partitions).toEqual([16, 10, 7].map((partition) => ({ updateStrategy: { rollingUpdate: { partition } } })));
  });

  test("an Advanced DaemonSet without a partition differs only in a budget that counts nodes", async () => {
    const daemonSet = make("v1beta1", "DaemonSet", { updateStrategy: { rollingUpdate: { maxUnavailable: 5 } } });

    expect(await specs(daemonSet, seen("desiredNumberScheduled", 50, undefined))).toEqual(
      [3, 2].map((maxUnavailable) => ({ updateStrategy: { rollingUpdate: { maxUnavailable } } })),
    );
  });

  test("a SidecarSet splits its partition by matched pods and holds a member that has not reported", async () => {
    const copies = await interpreter.divide(sidecarSet({ partition: 9 }), seen("matchedPods", 10, 5, undefined));

    expect(strategies(copies)).toEqual([6, 3, "100%"].map((partition) => ({ partition })));
  });

  test("a SidecarSet follows changed counts without lowering progress within a release", async () => {
    const before = await interpreter.divide(sidecarSet({ partition: "50%" }), seen("matchedPods", 10, 10));
    expect(strategies(before)).toEqual([{ partition: 5 }, { partition: 5 }]);

    const grown = await interpreter.divide(
      sidecarSet({ partition: "50%" }),
      after(before, seen("matchedPods", 10, 90)),
    );
    const shrunk = await interpreter.divide(
      sidecarSet({ partition: "50%" }),
      after(before, seen("matchedPods", 10, 6)),
    );
    const again = await interpreter.divide(
      sidecarSet({ partition: "50%" }, "proxy:3"),
      after(before, seen("matchedPods", 10, 6)),
    );

    expect(strategies(grown)).toEqual([{ partition: 5 }, { partition: 45 }]);
    expect(strategies(shrunk)).toEqual([{ partition: 5 }, { partition: 1 }]);
    expect(strategies(again)).toEqual([{ partition: 5 }, { partition: 3 }]);
  });

  test("a member that briefly stops reporting keeps its partition", async () => {
    const before = await interpreter.divide(sidecarSet({ partition: 10 }), seen("matchedPods", 10, 10));

    const silent = await interpreter.divide(
      sidecarSet({ partition: 10 }),
      after(before, seen("matchedPods", 10, undefined)),
    );

    expect(strategies(silent)).toEqual([{ partition: 5 }, { partition: 5 }]);
  });
});

describe("a UnitedDeployment", () => {
  test("splits its subsets so that they add up to the template and to each member", async () => {
    const united = make("v1alpha1", "UnitedDeployment", {
      replicas: 10,
      topology: { subsets: [{ name: "a", replicas: "50%" }, { name: "b", replicas: 2 }, { name: "c" }] },
    });

    expect(await specs(united, over(6, 4))).toEqual([
      { replicas: 6, topology: { subsets: [{ name: "a", replicas: 3 }, { name: "b", replicas: 1 }, { name: "c" }] } },
      { replicas: 4, topology: { subsets: [{ name: "a", replicas: 2 }, { name: "b", replicas: 1 }, { name: "c" }] } },
    ]);
  });

  test("sets replicas on every subset except one, which takes the remainder", async () => {
    const united = make("v1alpha1", "UnitedDeployment", {
      replicas: 9,
      topology: { subsets: [{ name: "a" }, { name: "b" }] },
    });

    const subsets = (await specs(united, over(5, 4))).map(
      (spec) => (spec as { topology: { subsets: object[] } }).topology.subsets,
    );

    expect(subsets).toEqual([
      [{ name: "a", replicas: 2 }, { name: "b" }],
      [{ name: "a", replicas: 2 }, { name: "b" }],
    ]);
  });

  test("splits the partition of each subset", async () => {
    const united = make("v1alpha1", "UnitedDeployment", {
      replicas: 10,
      topology: {
        subsets: [
          { name: "a", replicas: 6 },
          { name: "b", replicas: 4 },
        ],
      },
      updateStrategy: { manualUpdate: { partitions: { a: 3, b: 4 } } },
    });

    const partitions = (await specs(united, over(5, 5))).map(
      (spec) => (spec as { updateStrategy?: object }).updateStrategy,
    );

    expect(partitions).toEqual([
      { manualUpdate: { partitions: { a: 1, b: 2 } } },
      { manualUpdate: { partitions: { a: 2, b: 2 } } },
    ]);
  });

  test("does not lower a member's progress in a subset", async () => {
    const united = make("v1alpha1", "UnitedDeployment", {
      replicas: 12,
      topology: { subsets: [{ name: "a", replicas: 8 }, { name: "b" }] },
      updateStrategy: { manualUpdate: { partitions: { a: 4 } } },
    });
    const before = await interpreter.divide(united, over(6, 6));

    const moved = await specs(united, after(before, over(4, 8)));

    expect(moved).toMatchObject([
      { updateStrategy: { manualUpdate: { partitions: { a: 1 } } } },
      { updateStrategy: { manualUpdate: { partitions: { a: 3 } } } },
    ]);
  });

  test("splits the limits of subsets", async () => {
    const united = make("v1alpha1", "UnitedDeployment", {
      replicas: 8,
      topology: {
        subsets: [
          { name: "a", minReplicas: 2, maxReplicas: 4 },
          { name: "b", minReplicas: 0 },
        ],
      },
    });

    const subsets = (await specs(united, over(6, 2))).map(
      (spec) => (spec as { topology: { subsets: object[] } }).topology.subsets[0],
    );

    expect(subsets).toEqual([
      { name: "a", minReplicas: 2, maxReplicas: 3 },
      { name: "a", minReplicas: 0, maxReplicas: 1 },
    ]);
  });
});
