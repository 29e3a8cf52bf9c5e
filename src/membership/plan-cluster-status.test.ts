import { describe, expect, test } from "vitest";
import type { Node } from "../api/index.ts";
import { makeCluster } from "../testing/index.ts";
import { planApiEnablements, planClusterStatus } from "./plan-cluster-status.ts";
import type { Sighting } from "./plan-cluster-status.ts";

const NOW = "2024-05-01T12:00:00Z";
const node = (name: string, ready: "True" | "False"): Node => ({ apiVersion: "v1", kind: "Node", metadata: { name }, status: { conditions: [{ type: "Ready", status: ready }] } });
const well: Sighting = { reached: true, version: "v1.36.3", apiEnablements: [{ groupVersion: "apps/v1", resources: [{ name: "deployments", kind: "Deployment" }] }], nodes: [node("a", "True"), node("b", "False")] };

describe("a member that answers", () => {
  const cluster = planClusterStatus(makeCluster("paris"), well, NOW);

  test("is Ready, with its version, kinds and nodes", () => {
    expect(cluster.status).toMatchObject({
      kubernetesVersion: "v1.36.3",
      apiEnablements: [{ groupVersion: "apps/v1" }],
      nodeSummary: { totalNum: 2, readyNum: 1 },
      conditions: [{ type: "Ready", status: "True", reason: "ClusterReady" }, { type: "CompleteAPIEnablements", status: "True" }],
    });
  });

  test("is given back as it is when nothing changed, so that nothing is written", () => {
    expect(planClusterStatus(cluster, well, "2024-05-01T13:00:00Z")).toBe(cluster);
  });

  test("keeps what was last known of it when it stops answering", () => {
    const lost = planClusterStatus(cluster, { reached: false, answered: false, message: "no route" }, NOW);

    expect(lost.status).toMatchObject({ kubernetesVersion: "v1.36.3", nodeSummary: { totalNum: 2 } });
    expect(lost.status?.conditions).toContainEqual(expect.objectContaining({ type: "Ready", status: "False", reason: "ClusterNotReachable", message: "no route" }));
  });
});

test("a member that answers but is unwell is told apart from one that is gone", () => {
  const unwell = planClusterStatus(makeCluster("paris"), { reached: false, answered: true, message: "500" }, NOW);

  expect(unwell.status?.conditions).toMatchObject([{ type: "Ready", status: "False", reason: "ClusterNotReady" }]);
});

test("what a member serves is sorted and has no subresources", () => {
  expect(
    planApiEnablements([
      { groupVersion: "v1", resources: [{ name: "pods/log", kind: "Pod" }, { name: "pods", kind: "Pod" }, { name: "configmaps", kind: "ConfigMap" }] },
      { groupVersion: "apps/v1", resources: [] },
    ]),
  ).toEqual([
    { groupVersion: "apps/v1", resources: [] },
    { groupVersion: "v1", resources: [{ name: "configmaps", kind: "ConfigMap" }, { name: "pods", kind: "Pod" }] },
  ]);
});
