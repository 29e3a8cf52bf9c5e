import { describe, expect, test } from "vitest";
import type { Pod, PodSpec, Taint } from "../api/index.ts";
import type { DeepReadonly } from "../base/index.ts";
import { planNodes } from "./nodes.ts";
import { planPlacement } from "./placement.ts";

const NOW = Date.UTC(2024, 4, 1, 12);
const nodes = planNodes({ count: 3, nowMs: NOW });
const makePod = (spec: Partial<PodSpec> = {}): DeepReadonly<Pod> => ({ apiVersion: "v1", kind: "Pod", metadata: { name: "p" }, spec: { containers: [{ name: "main", image: "web" }], ...spec } });
const requests = (cpu: string, memory: string): Partial<PodSpec> => ({ containers: [{ name: "main", image: "web", resources: { requests: { cpu, memory } } }] });
const used = (usage: Record<string, { pods?: number; cpu?: number; memory?: number }> = {}) => (node: string) => ({ pods: 0, cpu: 0, memory: 0, ...usage[node] });
const withTaint = (taint: Taint) => nodes.map((node) => ({ ...node, spec: { ...node.spec, taints: [taint] } }));

describe("a pod is placed", () => {
  const cases: Record<string, { pod: DeepReadonly<Pod>; usage?: Parameters<typeof used>[0]; want: string }> = {
    "on the first of equally empty nodes": { pod: makePod(), want: "node-000" },
    "where the fewest pods are": { pod: makePod(), usage: { "node-000": { pods: 2 }, "node-001": { pods: 1 }, "node-002": { pods: 3 } }, want: "node-001" },
    "where its node selector says": { pod: makePod({ nodeSelector: { "topology.kubernetes.io/zone": "c" } }), want: "node-002" },
    "where enough cpu is left": { pod: makePod(requests("20", "1Gi")), usage: { "node-000": { cpu: 16_000 } }, want: "node-001" },
    "where its node affinity says": {
      pod: makePod({ affinity: { nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: [{ matchExpressions: [{ key: "topology.kubernetes.io/zone", operator: "NotIn", values: ["a", "b"] }] }] } } } }),
      want: "node-002",
    },
  };
  test.each(Object.entries(cases))("%s", (_behaviour, { pod, usage, want }) => {
    expect(planPlacement(pod, nodes, used(usage))).toEqual({ node: want });
  });

  test("on a tainted node only when it tolerates the taint", () => {
    const tainted = withTaint({ key: "dedicated", value: "db", effect: "NoSchedule" });
    const tolerant = makePod({ tolerations: [{ key: "dedicated", operator: "Equal", value: "db", effect: "NoSchedule" }] });

    expect(planPlacement(makePod(), tainted, used())).toEqual({ unschedulable: "0/3 nodes are available: 3 node(s) had untolerated taint {dedicated: db}." });
    expect(planPlacement(tolerant, tainted, used())).toEqual({ node: "node-000" });
  });
});

describe("a pod that fits nowhere says why", () => {
  test("each reason with the number of nodes", () => {
    const verdict = planPlacement(makePod(requests("20", "100Gi")), nodes, used({ "node-000": { cpu: 32_000 }, "node-001": { memory: 64 * 2 ** 30 * 1000 }, "node-002": { pods: 110 } }));

    expect(verdict).toEqual({ unschedulable: "0/3 nodes are available: 1 Insufficient cpu, 1 Insufficient memory, 1 Too many pods." });
  });

  test("and that a rule is not simulated, rather than ignoring it", () => {
    const pod = makePod({ affinity: { podAntiAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [{ topologyKey: "kubernetes.io/hostname" }] } } });

    expect(planPlacement(pod, nodes, used())).toEqual({ unschedulable: "the simulation does not support required pod anti-affinity" });
  });
});

test("nodes are named in order, spread over zones in turn, and ready", () => {
  const [first, , , fourth] = planNodes({ count: 4, nowMs: NOW });

  expect(first).toMatchObject({ metadata: { name: "node-000", labels: { "kubernetes.io/hostname": "node-000", "topology.kubernetes.io/zone": "a" } }, status: { capacity: { cpu: "32", memory: "128Gi", pods: "110" } } });
  expect(fourth?.metadata).toMatchObject({ name: "node-003", labels: { "topology.kubernetes.io/zone": "a" } });
  expect(first?.status?.conditions?.find(({ type }) => type === "Ready")?.status).toBe("True");
});
