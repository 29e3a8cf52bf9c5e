import { expect, test } from "vitest";
import type { Cluster } from "@flotilla/karmada";
import type { ClusterClaim } from "@flotilla/ocm";
import { planClaims } from "./plan-claims.ts";
import { planReport } from "./plan-report.ts";

type State = "True" | "False" | "Unknown";
const face = (ready: State | undefined, rest: Partial<Cluster["spec"]> = {}): Cluster => ({
  apiVersion: "cluster.karmada.io/v1alpha1",
  kind: "Cluster",
  metadata: { name: "paris" },
  spec: { syncMode: "Push", id: "7f", ...rest },
  status: {
    kubernetesVersion: "v1.35.0+k3s1",
    conditions: ready
      ? [{ type: "Ready", status: ready, reason: "X", message: "as it is", lastTransitionTime: "2024-05-01T12:00:00Z" }]
      : undefined,
    resourceSummary: { allocatable: { cpu: "8" }, allocated: { cpu: "2" } },
  },
});
const claim = (name: string, value: string): ClusterClaim => ({
  apiVersion: "cluster.open-cluster-management.io/v1alpha1",
  kind: "ClusterClaim",
  metadata: { name },
  spec: { value },
});

const verdicts: Record<string, { ready: State | undefined; want: string[] }> = {
  "nothing is reported before the first status collection": { ready: undefined, want: [] },
  "a ready member is available, and its clock is synced": {
    ready: "True",
    want: [
      "ManagedClusterJoined True",
      "ManagedClusterConditionAvailable True",
      "ManagedClusterConditionClockSynced True",
    ],
  },
  "a member that is not ready is not available": {
    ready: "False",
    want: ["ManagedClusterJoined True", "ManagedClusterConditionAvailable False"],
  },
  "a member with unknown readiness has unknown availability": {
    ready: "Unknown",
    want: ["ManagedClusterJoined True", "ManagedClusterConditionAvailable Unknown"],
  },
};
for (const [behaviour, { ready, want }] of Object.entries(verdicts)) {
  test(behaviour, () => {
    expect(planReport(face(ready), []).conditions.map(({ type, status }) => `${type} ${status}`)).toEqual(want);
  });
}

test("resources are reported while a member is ready, and kept while it is not", () => {
  expect(planReport(face("True"), []).facts).toMatchObject({
    version: { kubernetes: "v1.35.0+k3s1" },
    capacity: { cpu: "8" },
    allocatable: { cpu: "8" },
  });
  expect(planReport(face("False"), []).facts).toBeUndefined();
  expect(planReport(face("True"), undefined).facts?.clusterClaims).toBeUndefined();
});

test("a member's own claims win over the hub's, and reserved names come first", () => {
  const claims = planClaims(face("True", { provider: "aws", region: "eu" }), [
    claim("zone", "b"),
    claim("platform.open-cluster-management.io", "AWS"),
  ]);

  expect(claims.map(({ name, value }) => `${name}=${value}`)).toEqual([
    "id.k8s.io=7f",
    "kubeversion.open-cluster-management.io=v1.35.0+k3s1",
    "platform.open-cluster-management.io=AWS",
    "product.open-cluster-management.io=K3S",
    "region.open-cluster-management.io=eu",
    "zone=b",
  ]);
});

test("at most twenty custom claims are reported", () => {
  const many = Array.from({ length: 30 }, (_, index) => claim(`claim-${String(index).padStart(2, "0")}`, "x"));

  const own = planClaims(face("True"), many).filter(({ name = "" }) => name.startsWith("claim-"));

  expect([own.length, own.at(-1)?.name]).toEqual([20, "claim-19"]);
});
