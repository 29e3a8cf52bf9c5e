import { describe, expect, test } from "vitest";
import type { Node, Pod } from "@flotilla/kubernetes";
import { planCapacity } from "./resource-summary.ts";

type Resources = Record<string, string>;
const node = (
  name: string,
  allocatable: Resources,
  more: { ready?: "True" | "False"; unschedulable?: boolean } = {},
): Node => ({
  apiVersion: "v1",
  kind: "Node",
  metadata: { name },
  spec: more.unschedulable ? { unschedulable: true } : undefined,
  status: { allocatable, conditions: [{ type: "Ready", status: more.ready ?? "True" }] },
});
const pod = (
  name: string,
  nodeName: string,
  requests: Resources,
  more: { phase?: string; init?: Resources; overhead?: Resources } = {},
): Pod =>
  ({
    apiVersion: "v1",
    kind: "Pod",
    metadata: { name, namespace: "shop" },
    spec: {
      nodeName: nodeName || undefined,
      containers: [{ name: "c", resources: { requests } }],
      initContainers: more.init ? [{ name: "i", resources: { requests: more.init } }] : undefined,
      overhead: more.overhead,
    },
    status: { phase: more.phase ?? "Running" },
  }) as Pod;

describe("the resource summary of a member", () => {
  test("sums its nodes, including unhealthy ones, and its pods", () => {
    const nodes = [
      node("a", { cpu: "4", memory: "8Gi", pods: "110" }),
      node("b", { cpu: "3500m", memory: "8Gi", pods: "110" }, { ready: "False" }),
    ];
    const pods = [
      pod("p", "a", { cpu: "500m", memory: "1Gi" }),
      pod("q", "b", { cpu: "1", "nvidia.com/gpu": "1" }),
      pod("waits", "", { cpu: "2" }),
    ];

    const { nodeSummary, resourceSummary } = planCapacity(undefined, nodes, pods);

    expect(nodeSummary).toEqual({ totalNum: 2, readyNum: 1 });
    expect(resourceSummary).toEqual({
      allocatable: { cpu: "7500m", memory: "16Gi", pods: "220" },
      allocated: { cpu: "1500m", memory: "1Gi", "nvidia.com/gpu": "1", pods: "2" },
      allocating: { cpu: "2", pods: "1" },
    });
  });

  test("does not count finished pods", () => {
    const pods = [
      pod("done", "a", { cpu: "1" }, { phase: "Succeeded" }),
      pod("broken", "a", { cpu: "1" }, { phase: "Failed" }),
    ];

    expect(planCapacity(undefined, [], pods).resourceSummary).toEqual({});
  });

  test("uses a pod's largest init container if that requests more, and its overhead", () => {
    const pods = [
      pod("p", "a", { cpu: "1" }, { init: { cpu: "3", memory: "64Mi" }, overhead: { cpu: "100m" } }),
      pod("q", "a", { cpu: "1" }),
    ];

    expect(planCapacity(undefined, [], pods).resourceSummary.allocated).toEqual({
      cpu: "4100m",
      memory: "64Mi",
      pods: "2",
    });
  });

  test("ignores unparsable quantities", () => {
    const nodes = [node("a", { cpu: "lots", memory: "1Gi" })];
    const pods = [pod("p", "a", { cpu: "__proto__", memory: "1Gi" })];

    expect(planCapacity(undefined, nodes, pods).resourceSummary).toEqual({
      allocatable: { memory: "1Gi" },
      allocated: { memory: "1Gi", pods: "1" },
    });
  });
});

describe("the number of free nodes by grade", () => {
  const models = [
    {
      grade: 0,
      ranges: [
        { name: "cpu", min: "0", max: "2" },
        { name: "memory", min: "0", max: "4Gi" },
      ],
    },
    {
      grade: 1,
      ranges: [
        { name: "cpu", min: "2", max: "8" },
        { name: "memory", min: "4Gi", max: "16Gi" },
      ],
    },
    {
      grade: 2,
      ranges: [
        { name: "cpu", min: "8", max: "9223372036854775807" },
        { name: "memory", min: "16Gi", max: "9223372036854775807" },
      ],
    },
  ];
  const counts = (nodes: Node[], pods: Pod[] = []): number[] =>
    (planCapacity(models, nodes, pods).resourceSummary.allocatableModelings ?? []).map(({ count }) => count);

  test("is determined by the scarcest resource of each node", () => {
    expect(
      counts([
        node("a", { cpu: "16", memory: "5Gi", pods: "10" }),
        node("b", { cpu: "1", memory: "64Gi", pods: "10" }),
        node("c", { cpu: "8", memory: "16Gi", pods: "10" }),
      ]),
    ).toEqual([1, 1, 1]);
  });

  test("subtracts the requests of pods", () => {
    expect(counts([node("a", { cpu: "8", memory: "16Gi", pods: "10" })], [pod("p", "a", { cpu: "1" })])).toEqual([
      0, 1, 0,
    ]);
  });

  test("skips a node without a free pod slot and counts the ones after it", () => {
    expect(
      counts(
        [node("full", { cpu: "8", memory: "16Gi", pods: "1" }), node("free", { cpu: "8", memory: "16Gi", pods: "10" })],
        [pod("p", "full", {})],
      ),
    ).toEqual([0, 0, 1]);
  });

  test("skips nodes that accept no pods", () => {
    const big = { cpu: "8", memory: "16Gi", pods: "10" };

    expect(counts([node("cordoned", big, { unschedulable: true }), node("lost", big, { ready: "False" })])).toEqual([
      0, 0, 0,
    ]);
  });

  test("skips an overcommitted node", () => {
    expect(counts([node("a", { cpu: "1", memory: "4Gi", pods: "10" })], [pod("p", "a", { cpu: "2" })])).toEqual([
      0, 0, 0,
    ]);
  });

  test("is undefined for a cluster without models", () => {
    expect(planCapacity([], [node("a", { cpu: "1" })], []).resourceSummary?.allocatableModelings).toBeUndefined();
  });
});
