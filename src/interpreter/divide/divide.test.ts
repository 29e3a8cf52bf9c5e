import { describe, expect, test } from "vitest";
import type { KubernetesObject } from "../../api/index.ts";
import { createInterpreter } from "../interpreter.ts";
import type { Share } from "../kind-interpreter.ts";

const interpreter = createInterpreter();
const make = (apiVersion: string, kind: string, spec: object, annotations: Record<string, string> = {}): KubernetesObject =>
  ({ apiVersion: `apps.kruise.io/${apiVersion}`, kind, metadata: { name: "web", annotations }, spec }) as unknown as KubernetesObject;
const specs = async (object: KubernetesObject, shares: readonly Share[]): Promise<object[]> => [...(await interpreter.divide(object, shares)).values()].map((copy) => (copy as unknown as { spec: object }).spec);
const over = (...replicas: number[]): Share[] => replicas.map((count, index) => ({ cluster: `m${index}`, replicas: count }));

describe("a CloneSet", () => {
  test("splits its partition over the members as whole numbers", async () => {
    const cloneSet = make("v1alpha1", "CloneSet", { replicas: 10, updateStrategy: { partition: 5, maxUnavailable: 1 } });

    expect(await specs(cloneSet, over(3, 3, 4))).toEqual([
      { replicas: 3, updateStrategy: { partition: 1, maxUnavailable: 1 } },
      { replicas: 3, updateStrategy: { partition: 2, maxUnavailable: 1 } },
      { replicas: 4, updateStrategy: { partition: 2, maxUnavailable: 1 } },
    ]);
  });

  test("has its partition in another place from v1beta1 on", async () => {
    const cloneSet = make("v1beta1", "CloneSet", { replicas: 15, updateStrategy: { rollingUpdate: { partition: 9 } } });

    expect(await specs(cloneSet, over(10, 5))).toEqual([
      { replicas: 10, updateStrategy: { rollingUpdate: { partition: 6 } } },
      { replicas: 5, updateStrategy: { rollingUpdate: { partition: 3 } } },
    ]);
  });

  test("keeps the partition of the template where the user asks for one per cluster", async () => {
    const cloneSet = make("v1alpha1", "CloneSet", { replicas: 10, updateStrategy: { partition: "50%" } }, { "flotilla.dev/partition-scope": "cluster" });

    expect(await specs(cloneSet, over(4, 6))).toEqual([
      { replicas: 4, updateStrategy: { partition: "50%" } },
      { replicas: 6, updateStrategy: { partition: "50%" } },
    ]);
  });

  test("that every member runs whole has a rollout of its own in each", async () => {
    const cloneSet = make("v1alpha1", "CloneSet", { replicas: 4, updateStrategy: { partition: 1 } });

    expect(await specs(cloneSet, over(4, 4))).toEqual([
      { replicas: 4, updateStrategy: { partition: 1 } },
      { replicas: 4, updateStrategy: { partition: 1 } },
    ]);
  });
});

describe("an Advanced StatefulSet", () => {
  const statefulSet = (spec: object, version = "v1beta1"): KubernetesObject => make(version, "StatefulSet", spec);

  test("gives every ordinal to one member", async () => {
    expect(await specs(statefulSet({ replicas: 11 }), over(6, 5))).toEqual([{ replicas: 6 }, { replicas: 5, reserveOrdinals: ["0-5"] }]);
  });

  test("lists single ordinals where the version knows no ranges", async () => {
    expect(await specs(statefulSet({ replicas: 5 }, "v1alpha1"), over(2, 3))).toEqual([{ replicas: 2 }, { replicas: 3, reserveOrdinals: [0, 1] }]);
  });

  test("grows by ordinals that nobody owned, and moves none", async () => {
    const before = await interpreter.divide(statefulSet({ replicas: 11 }), [{ cluster: "a", replicas: 5 }, { cluster: "b", replicas: 6 }]);
    const copyOf = (cluster: string): Pick<Share, "copy"> => {
      const copy = before.get(cluster);
      return copy ? { copy } : {};
    };

    const grown = await specs(statefulSet({ replicas: 12 }), [{ cluster: "a", replicas: 6, ...copyOf("a") }, { cluster: "b", replicas: 6, ...copyOf("b") }].map((share) => share));

    expect(grown).toEqual([{ replicas: 6, reserveOrdinals: ["5-10"] }, { replicas: 6, reserveOrdinals: ["0-4"] }]);
  });

  test("does not give an ordinal away in the step in which another member loses it", async () => {
    const before = await interpreter.divide(statefulSet({ replicas: 9 }), over(5, 4));

    const moved = await specs(
      statefulSet({ replicas: 9 }),
      over(4, 5).map((share) => ({ ...share, ...(before.get(share.cluster) && { copy: before.get(share.cluster) }) })),
    );

    expect(moved).toEqual([{ replicas: 4 }, { replicas: 5, reserveOrdinals: ["0-4"] }]);
  });

  test("keeps the lowest ordinals of the fleet at the old revision", async () => {
    const partitioned = statefulSet({ replicas: 11, updateStrategy: { rollingUpdate: { partition: 7 } } });

    expect(await specs(partitioned, over(5, 6))).toEqual([
      { replicas: 5, updateStrategy: { rollingUpdate: { partition: 5 } } },
      { replicas: 6, reserveOrdinals: ["0-4"], updateStrategy: { rollingUpdate: { partition: 2 } } },
    ]);
  });

  test("leaves out the ordinals that the user withholds", async () => {
    expect(await specs(statefulSet({ replicas: 5, reserveOrdinals: [1, "3-4"] }), over(2, 3))).toEqual([
      { replicas: 2, reserveOrdinals: [1, "3-4"] },
      { replicas: 3, reserveOrdinals: ["0-4"] },
    ]);
  });

  test("of absurd size is refused instead of listed", async () => {
    expect(() => specs(statefulSet({ replicas: 2_000_000_001 }), over(2_000_000_000, 1))).toThrow("are more than the 100000 that can be given ordinals");
  });
});

describe("kinds whose members know the numbers", () => {
  const seen = (field: string, ...counts: (number | undefined)[]): Share[] => counts.map((count, index) => ({ cluster: `m${index}`, replicas: 0, ...(count !== undefined && { observed: { [field]: count } }) }));

  test("an Advanced DaemonSet splits its partition by nodes, and rounds a percentage down", async () => {
    const daemonSet = make("v1beta1", "DaemonSet", { updateStrategy: { rollingUpdate: { partition: "33%" } } });

    const partitions = await specs(daemonSet, seen("desiredNumberScheduled", 50, 30, 20));

    expect(partitions).toEqual([16, 10, 7].map((partition) => ({ updateStrategy: { rollingUpdate: { partition } } })));
  });

  test("a SidecarSet splits its partition by the pods it matches and holds a member that has not reported", async () => {
    const sidecarSet = make("v1alpha1", "SidecarSet", { updateStrategy: { partition: 9 } });

    const partitions = await specs(sidecarSet, seen("matchedPods", 10, 5, undefined));

    expect(partitions).toEqual([6, 3, "100%"].map((partition) => ({ updateStrategy: { partition } })));
  });
});

describe("a UnitedDeployment", () => {
  test("splits its subsets so that they add up to the template and to each member", async () => {
    const united = make("v1alpha1", "UnitedDeployment", { replicas: 10, topology: { subsets: [{ name: "a", replicas: "50%" }, { name: "b", replicas: 2 }, { name: "c" }] } });

    expect(await specs(united, over(6, 4))).toEqual([
      { replicas: 6, topology: { subsets: [{ name: "a", replicas: 3 }, { name: "b", replicas: 1 }, { name: "c" }] } },
      { replicas: 4, topology: { subsets: [{ name: "a", replicas: 2 }, { name: "b", replicas: 1 }, { name: "c" }] } },
    ]);
  });

  test("splits the partition of each subset", async () => {
    const united = make("v1alpha1", "UnitedDeployment", {
      replicas: 10,
      topology: { subsets: [{ name: "a", replicas: 6 }, { name: "b", replicas: 4 }] },
      updateStrategy: { manualUpdate: { partitions: { a: 3, b: 4 } } },
    });

    const partitions = await specs(united, over(5, 5)).map((spec) => (spec as { updateStrategy?: object }).updateStrategy);

    expect(partitions).toEqual([{ manualUpdate: { partitions: { a: 1, b: 2 } } }, { manualUpdate: { partitions: { a: 2, b: 2 } } }]);
  });

  test("splits limits of subsets", async () => {
    const united = make("v1alpha1", "UnitedDeployment", { replicas: 8, topology: { subsets: [{ name: "a", minReplicas: 2, maxReplicas: 4 }, { name: "b", minReplicas: 0 }] } });

    const subsets = await specs(united, over(6, 2)).map((spec) => (spec as { topology: { subsets: object[] } }).topology.subsets[0]);

    expect(subsets).toEqual([
      { name: "a", minReplicas: 2, maxReplicas: 3 },
      { name: "a", minReplicas: 0, maxReplicas: 1 },
    ]);
  });
});
