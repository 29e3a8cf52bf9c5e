import { expect, test } from "vitest";
import type { Cluster } from "@flotilla/karmada";
import { findProblems, type ProblemInput } from "./find-problems.ts";

const policy = { kind: "PropagationPolicy", name: "all", priority: 0, selectsBy: "name", reason: "" } as const;
const job = { apiVersion: "batch/v1", kind: "Job", namespace: "shop", name: "import" };
const role = { apiVersion: "rbac.authorization.k8s.io/v1", kind: "ClusterRole", name: "reader" };
const finished = [{ clusterName: "oslo", status: { conditions: [{ type: "Complete", status: "True" }] } }];

interface Case {
  resource: typeof job | typeof role;
  spec?: object;
  aggregatedStatus?: object[];
  taints?: object[];
}

/** Of a member that is not ready if it has no taint. */
function problemsOf({ resource, spec = {}, aggregatedStatus, taints }: Case): string[] {
  const cluster = {
    metadata: { name: "oslo" },
    spec: { taints: taints ?? [{ key: "maintenance", effect: "NoExecute" }] },
    status: { conditions: [{ type: "Ready", status: taints ? "False" : "True" }] },
  } as unknown as Cluster;
  return findProblems({
    explanation: { resource, policy, otherPolicies: [], decision: undefined, members: [] },
    binding: {
      metadata: { name: "b" },
      spec: { resource, clusters: [{ name: "oslo" }], ...spec },
      status: { aggregatedStatus },
    } as unknown as ProblemInput["binding"],
    clusterOf: () => cluster,
    found: [],
    isUncopied: false,
    nowMs: 0,
  }).map((problem) => `${problem.what} → ${problem.try}`);
}

test("reports no problem for a finished Job on a member with a NoExecute taint, because nothing moves it", () => {
  expect(problemsOf({ resource: job, aggregatedStatus: finished })).toEqual([]);
});

test("reports a Job that still runs on a member with a NoExecute taint", () => {
  expect(problemsOf({ resource: job })).toEqual([expect.stringContaining("→ run 'flotilla drain oslo', or add")]);
});

test("does not advise to drain a member for a cluster-scoped object, which a drain does not move", () => {
  expect(problemsOf({ resource: role })).toEqual([
    "oslo has the taint maintenance:NoExecute, and it stays there, because the policy has no failover.cluster " +
      "→ add failover.cluster to the policy; 'flotilla drain' does not move cluster-scoped objects",
  ]);
});

test("does not advise to drain a member for an object whose policy tolerates the drain", () => {
  const clusterTolerations = [{ key: "flotilla.dev/drain", operator: "Exists" }];

  expect(problemsOf({ resource: job, spec: { placement: { clusterTolerations } } })).toEqual([
    expect.stringContaining("→ add failover.cluster to the policy; it tolerates a drain"),
  ]);
});

test("does not advise to move a finished Job off a member that is not ready", () => {
  const spec = { failover: { cluster: {} } };

  expect(problemsOf({ resource: job, spec, aggregatedStatus: finished, taints: [] })).toEqual([]);
});
