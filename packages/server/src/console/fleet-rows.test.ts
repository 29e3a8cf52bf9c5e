import type { MemberStatus } from "@flotilla/cli";
import type { Cluster, ResourceBinding } from "@flotilla/karmada";
import type { Cell, MemberRow, WorkloadRow } from "@flotilla/web";
import { describe, expect, test } from "vitest";
import { memberRow, workloadRow } from "./fleet-rows.ts";
import type { RowInput } from "./fleet-rows.ts";

const NOW_MS = Date.parse("2026-05-01T12:00:00Z");

describe("the row of a member", () => {
  const base: MemberStatus = {
    name: "oslo",
    mode: "push",
    ready: "True",
    version: "v1.34",
    nodes: "3/3",
    taints: [],
    age: "",
  };
  const cluster = (resourceSummary?: object, annotations?: Record<string, string>): Cluster => ({
    apiVersion: "cluster.karmada.io/v1alpha1",
    kind: "Cluster",
    metadata: { name: "oslo", annotations },
    spec: { syncMode: "Push" },
    status: { resourceSummary },
  });
  const cases: Record<string, { status?: Partial<MemberStatus>; cluster?: Cluster; want: Partial<MemberRow> }> = {
    "is ready": { want: { state: "ready", message: "" } },
    "is away when it does not respond": {
      status: { ready: "NotResponding", message: "no answer" },
      want: { state: "away", message: "no answer" },
    },
    "is away when its state is unknown": { status: { ready: "Unknown" }, want: { state: "away" } },
    "is slow when its agent is late": { status: { isSilent: true }, want: { state: "slow" } },
    "of a ManagedCluster alone is ready when that is available": {
      status: { ready: undefined, available: "True" },
      want: { state: "ready" },
    },
    "of a ManagedCluster alone is away when nothing is known": {
      status: { ready: undefined },
      want: { state: "away" },
    },
    "waits until an administrator accepts it": {
      status: { ready: undefined, accepted: false },
      want: { state: "waiting", message: "waits until an administrator accepts it" },
    },
    "has what is free of its resources": {
      cluster: cluster({
        allocatable: { cpu: "4", memory: "8Gi" },
        allocated: { cpu: "1500m" },
        allocating: { cpu: "500m", memory: "1Gi" },
      }),
      want: { cpu: { all: 4, free: 2 }, memory: { all: 8_589_934_592, free: 7_516_192_768 }, apis: ["karmada"] },
    },
    "has nothing free when more is requested than there is": {
      cluster: cluster({ allocatable: { cpu: "1" }, allocated: { cpu: "3" } }),
      want: { cpu: { all: 1, free: 0 } },
    },
    "has no resources while they are unknown, or cannot be parsed": {
      cluster: cluster({ allocatable: { cpu: "many" } }),
      want: { cpu: { all: 0, free: 0 }, memory: { all: 0, free: 0 } },
    },
    "is cordoned with the taint of a cordon": {
      status: { taints: ["cluster.karmada.io/unscheduler:NoSchedule"] },
      want: { cordoned: true },
    },
    "is not cordoned with a taint that only begins like it": {
      status: { taints: ["cluster.karmada.io/unscheduler-soon:NoSchedule"] },
      want: { cordoned: false },
    },
    "is cut with the fault of the simulation": {
      cluster: cluster(undefined, { "simulation.flotilla.dev/fault": "unreachable" }),
      want: { cut: true },
    },
  };
  for (const [behaviour, { status, cluster: read, want }] of Object.entries(cases))
    test(behaviour, () => {
      expect(memberRow({ ...base, ...status }, read, undefined)).toMatchObject(want);
    });
});

type Spec = ResourceBinding["spec"];
const condition = (type: string, status: "True" | "False", secondsAgo: number, message = "") => ({
  type,
  status,
  reason: `${type}Reason`,
  message,
  lastTransitionTime: new Date(NOW_MS - secondsAgo * 1_000).toISOString(),
});
const item = (clusterName: string, status: object, more: object = {}) => ({
  clusterName,
  applied: true,
  status,
  ...more,
});

function rowOf(spec: Partial<Spec>, status: object, input: Partial<RowInput> = {}): WorkloadRow {
  return workloadRow({
    binding: {
      apiVersion: "work.karmada.io/v1alpha2",
      kind: "ResourceBinding",
      metadata: { name: "web-deployment", namespace: "shop" },
      spec: { resource: { apiVersion: "apps/v1", kind: "Deployment", namespace: "shop", name: "web" }, ...spec },
      status,
    },
    policy: "shop/shop",
    isReady: () => true,
    liveCopy: () => undefined,
    problem: undefined,
    nowMs: NOW_MS,
    ...input,
  });
}
const renderCell = ({ member, ready, desired, updated, health }: Cell): string =>
  `${member} ${ready}/${desired} ${updated} ${health}`;

describe("the row of a workload", () => {
  const oslo = { clusters: [{ name: "oslo", replicas: 3 }], replicas: 3 };
  const cases: Record<
    string,
    {
      spec?: Partial<Spec>;
      status?: object;
      input?: Partial<RowInput>;
      want: { cells: string[]; total: string; health: string; note?: string };
    }
  > = {
    "is healthy when all replicas are ready": {
      spec: oslo,
      status: { aggregatedStatus: [item("oslo", { readyReplicas: 3, updatedReplicas: 3 })] },
      want: { cells: ["oslo 3/3 3 healthy"], total: "3/3 3", health: "healthy" },
    },
    "adds up its members, in the order of their numbers": {
      spec: {
        clusters: [
          { name: "member10", replicas: 1 },
          { name: "member2", replicas: 2 },
        ],
        replicas: 3,
      },
      status: {
        aggregatedStatus: [
          item("member10", { readyReplicas: 1, updatedReplicas: 0 }),
          item("member2", { readyReplicas: 1, updatedReplicas: 2 }),
        ],
      },
      want: { cells: ["member2 1/2 2 progressing", "member10 1/1 0 healthy"], total: "2/3 2", health: "progressing" },
    },
    "is healthy with zero replicas": {
      spec: { clusters: [{ name: "oslo", replicas: 0 }], replicas: 0 },
      status: { aggregatedStatus: [item("oslo", {})] },
      want: { cells: ["oslo 0/0 -1 healthy"], total: "0/0 -1", health: "healthy" },
    },
    "has not started before members are chosen": {
      spec: { replicas: 3 },
      want: { cells: [], total: "0/3 -1", health: "unknown" },
    },
    "has failed when no member fits": {
      spec: { replicas: 3 },
      status: { conditions: [condition("Scheduled", "False", 1, "0/3 clusters are available")] },
      want: { cells: [], total: "0/3 -1", health: "failed", note: "0/3 clusters are available" },
    },
    "has failed when the hub cannot write its Works": {
      spec: oslo,
      status: {
        conditions: [condition("Dispatched", "False", 1, "oslo: the hub cannot write the Work")],
        aggregatedStatus: [item("oslo", { readyReplicas: 3 })],
      },
      want: {
        cells: ["oslo 3/3 -1 healthy"],
        total: "3/3 -1",
        health: "failed",
        note: "oslo: the hub cannot write the Work",
      },
    },
    "progresses before the member has reported": {
      spec: oslo,
      want: { cells: ["oslo 0/3 -1 progressing"], total: "0/3 -1", health: "progressing" },
    },
    "progresses while its pods start": {
      spec: oslo,
      status: {
        conditions: [condition("Healthy", "False", 60)],
        aggregatedStatus: [item("oslo", { readyReplicas: 1 })],
      },
      want: { cells: ["oslo 1/3 -1 progressing"], total: "1/3 -1", health: "progressing" },
    },
    "has failed when its pods do not start for longer than a minute": {
      spec: oslo,
      status: {
        conditions: [condition("Healthy", "False", 61)],
        aggregatedStatus: [item("oslo", { readyReplicas: 1 })],
      },
      want: { cells: ["oslo 1/3 -1 failed"], total: "1/3 -1", health: "failed" },
    },
    "progresses when the clock has jumped back": {
      spec: oslo,
      status: {
        conditions: [condition("Healthy", "False", -3_600)],
        aggregatedStatus: [item("oslo", { readyReplicas: 1 })],
      },
      want: { cells: ["oslo 1/3 -1 progressing"], total: "1/3 -1", health: "progressing" },
    },
    "is stale on a member that does not respond, with what it reported last": {
      spec: oslo,
      status: { aggregatedStatus: [item("oslo", { readyReplicas: 3 })] },
      input: { isReady: () => false },
      want: { cells: ["oslo 3/3 -1 stale"], total: "3/3 -1", health: "stale" },
    },
    "has failed on a member that rejects it": {
      spec: oslo,
      status: {
        conditions: [condition("FullyApplied", "False", 1)],
        aggregatedStatus: [item("oslo", {}, { applied: false })],
      },
      want: { cells: ["oslo 0/3 -1 failed"], total: "0/3 -1", health: "failed", note: "FullyAppliedReason" },
    },
    "prefers what the member has now to what it reported": {
      spec: oslo,
      status: { aggregatedStatus: [item("oslo", { readyReplicas: 0 })] },
      input: { liveCopy: () => ({ spec: { replicas: 3 }, status: { readyReplicas: 3, updatedReplicas: 3 } }) },
      want: { cells: ["oslo 3/3 3 healthy"], total: "3/3 3", health: "healthy" },
    },
    "counts the nodes of a DaemonSet": {
      spec: { clusters: [{ name: "oslo" }] },
      status: {
        aggregatedStatus: [item("oslo", { desiredNumberScheduled: 4, numberReady: 4, updatedNumberScheduled: 1 })],
      },
      want: { cells: ["oslo 4/4 1 healthy"], total: "4/4 1", health: "healthy" },
    },
    "has no numbers for an object without replicas": {
      spec: { clusters: [{ name: "oslo" }] },
      status: { aggregatedStatus: [item("oslo", {})] },
      want: { cells: ["oslo -1/-1 -1 healthy"], total: "-1/-1 -1", health: "healthy" },
    },
    "still shows a member that leaves until its copy is gone": {
      spec: { clusters: [{ name: "oslo", replicas: 1 }], replicas: 1 },
      status: {
        aggregatedStatus: [item("oslo", { readyReplicas: 1 }), item("rome", { readyReplicas: 2 })],
      },
      want: { cells: ["oslo 1/1 -1 healthy", "rome 2/-1 -1 healthy"], total: "3/1 -1", health: "healthy" },
    },
    "is on the members of the workloads that require it": {
      spec: { requiredBy: [{ name: "web", clusters: [{ name: "oslo", replicas: 3 }] }] },
      status: { aggregatedStatus: [item("oslo", {})] },
      want: { cells: ["oslo -1/-1 -1 healthy"], total: "-1/-1 -1", health: "healthy" },
    },
    "has failed with the problem that flotilla status reports": {
      spec: oslo,
      status: { aggregatedStatus: [item("oslo", { readyReplicas: 3 })] },
      input: { problem: "x".repeat(300) },
      want: { cells: ["oslo 3/3 -1 healthy"], total: "3/3 -1", health: "failed", note: "x".repeat(240) },
    },
  };
  for (const [behaviour, { spec = {}, status = {}, input, want }] of Object.entries(cases))
    test(behaviour, () => {
      const { cells, ready, desired, updated, health, note } = rowOf(spec, status, input);

      expect({ cells: cells.map(renderCell), total: `${ready}/${desired} ${updated}`, health, note }).toEqual({
        note: "",
        ...want,
      });
    });
});
