import { expect, test } from "vitest";
import { dynamicKind } from "@flotilla/apimachinery";
import { makeDeployment } from "@flotilla/testing/builders.ts";
import { adoptionName, overridePolicy, propagationPolicy } from "./policies.ts";

const kind = dynamicKind({
  group: "apps",
  version: "v1",
  kind: "Deployment",
  plural: "deployments",
  scope: "Namespaced",
});
const template = makeDeployment("default/nginx").build();

test("the policy has the name that karmadactl promote uses", () => {
  expect(adoptionName({ kind, template })).toBe("nginx-6d7f8d5f5b");
});

test("one member gets all replicas, several are weighted by what they run", () => {
  const placementOf = (replicas: Record<string, number>): unknown =>
    (
      propagationPolicy({
        kind,
        template,
        clusters: Object.keys(replicas),
        replicas: new Map(Object.entries(replicas)),
        propagateDeps: false,
      })["spec"] as { placement: unknown }
    ).placement;

  expect(placementOf({ oslo: 3 })).toEqual({ clusterAffinity: { clusterNames: ["oslo"] } });
  expect(placementOf({ oslo: 3, rome: 1 })).toMatchObject({
    clusterAffinity: { clusterNames: ["oslo", "rome"] },
    replicaScheduling: {
      replicaSchedulingType: "Divided",
      replicaDivisionPreference: "Weighted",
      weightPreference: {
        staticWeightList: [
          { targetCluster: { clusterNames: ["oslo"] }, weight: 3 },
          { targetCluster: { clusterNames: ["rome"] }, weight: 1 },
        ],
      },
    },
  });
});

test("cluster-scoped objects get cluster policies", () => {
  const roles = dynamicKind({
    group: "rbac.authorization.k8s.io",
    version: "v1",
    kind: "ClusterRole",
    plural: "clusterroles",
    scope: "Cluster",
  });
  const role = { apiVersion: "rbac.authorization.k8s.io/v1", kind: "ClusterRole", metadata: { name: "reader" } };

  expect(propagationPolicy({ kind: roles, template: role, clusters: ["oslo"], propagateDeps: false })).toMatchObject({
    kind: "ClusterPropagationPolicy",
    spec: {
      conflictResolution: "Overwrite",
      preserveResourcesOnDeletion: true,
      resourceSelectors: [{ kind: "ClusterRole", name: "reader" }],
    },
  });
  expect(
    overridePolicy(
      { kind: roles, template: role },
      new Map([["oslo", [{ path: "/rules", operator: "remove" as const }]]]),
    ),
  ).toMatchObject({
    kind: "ClusterOverridePolicy",
    spec: {
      overrideRules: [
        {
          targetCluster: { clusterNames: ["oslo"] },
          overriders: { plaintext: [{ path: "/rules", operator: "remove" }] },
        },
      ],
    },
  });
});
