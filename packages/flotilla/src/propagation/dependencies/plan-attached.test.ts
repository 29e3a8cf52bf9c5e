import { describe, expect, test } from "vitest";
import type { ResourceBinding } from "@flotilla/karmada";
import { makeBinding, makeDeployment } from "@flotilla/testing/builders.ts";
import { planAttached } from "./plan-attached.ts";

const settings = {
  apiVersion: "v1",
  kind: "ConfigMap",
  metadata: { namespace: "shop", name: "settings", uid: "u-1", resourceVersion: "9" },
};
const requirer = (
  name: string,
  clusters: Record<string, number>,
  change: (binding: ResourceBinding) => void = () => {},
): ResourceBinding =>
  makeBinding(makeDeployment(`shop/${name}`).build())
    .targets(clusters)
    .with(change)
    .build();
const web = requirer("web", { oslo: 2 });

function attachedTo(...requirers: ResourceBinding[]): ResourceBinding {
  const plan = planAttached(settings, requirers, undefined);
  if (plan.action !== "create") throw new Error(plan.action);
  return plan.binding as ResourceBinding;
}

test("a needed object gets a binding that it owns, with requirers and clusters", () => {
  expect(attachedTo(web)).toEqual({
    apiVersion: "work.karmada.io/v1alpha2",
    kind: "ResourceBinding",
    metadata: {
      namespace: "shop",
      name: "settings-configmap",
      labels: { "resourcebinding.karmada.io/depended-by-8546649456": "id-of-web" },
      ownerReferences: [
        {
          apiVersion: "v1",
          kind: "ConfigMap",
          name: "settings",
          uid: "u-1",
          controller: true,
          blockOwnerDeletion: true,
        },
      ],
      finalizers: ["karmada.io/binding-controller"],
    },
    spec: {
      resource: {
        apiVersion: "v1",
        kind: "ConfigMap",
        namespace: "shop",
        name: "settings",
        uid: "u-1",
        resourceVersion: "9",
      },
      requiredBy: [{ namespace: "shop", name: "web-deployment", clusters: [{ name: "oslo", replicas: 2 }] }],
      conflictResolution: "Abort",
      preserveResourcesOnDeletion: false,
    },
  });
});

test("a cluster-scoped object gets a ClusterResourceBinding", () => {
  const role = {
    apiVersion: "rbac.authorization.k8s.io/v1",
    kind: "ClusterRole",
    metadata: { name: "reader", uid: "u-2" },
  };

  expect(planAttached(role, [web], undefined)).toMatchObject({
    action: "create",
    binding: {
      kind: "ClusterResourceBinding",
      metadata: { name: "reader-clusterrole", finalizers: ["karmada.io/cluster-resource-binding-controller"] },
    },
  });
});

test("a cluster under graceful eviction still needs it", () => {
  const moving = requirer(
    "web",
    { rome: 2 },
    ({ spec }) =>
      (spec.gracefulEvictionTasks = [
        { fromCluster: "oslo", purgeMode: "Gracefully", reason: "Test", producer: "test" },
      ]),
  );

  expect(attachedTo(moving).spec.requiredBy).toEqual([
    { namespace: "shop", name: "web-deployment", clusters: [{ name: "rome", replicas: 2 }, { name: "oslo" }] },
  ]);
});

test("one requirer that overwrites, or preserves, is enough, and a disagreement is reported", () => {
  const api = requirer("api", { rome: 1 }, ({ spec }) =>
    Object.assign(spec, { conflictResolution: "Overwrite", preserveResourcesOnDeletion: true }),
  );

  expect(planAttached(settings, [web, api], undefined)).toMatchObject({
    binding: {
      spec: {
        conflictResolution: "Overwrite",
        preserveResourcesOnDeletion: true,
        requiredBy: [{ name: "api-deployment" }, { name: "web-deployment" }],
      },
    },
    conflicts: [
      "ConflictResolution conflicted (Overwrite vs Abort)",
      "PreserveResourcesOnDeletion conflicted (true vs false)",
    ],
  });
});

describe("an existing binding", () => {
  test("is unchanged when it is up to date, regardless of status reports", () => {
    expect(planAttached(settings, [web], { ...attachedTo(web), status: { aggregatedStatus: [] } })).toEqual({
      action: "none",
    });
  });

  test("follows its requirers", () => {
    const api = requirer("api", { rome: 1 });

    expect(planAttached(settings, [api], attachedTo(web))).toEqual({
      action: "update",
      patch: {
        metadata: {
          labels: {
            "resourcebinding.karmada.io/depended-by-8546649456": null,
            [Object.keys(attachedTo(api).metadata.labels ?? {})[0] ?? ""]: "id-of-api",
          },
        },
        spec: {
          requiredBy: [{ namespace: "shop", name: "api-deployment", clusters: [{ name: "rome", replicas: 1 }] }],
        },
      },
      conflicts: [],
    });
  });

  test("is deleted without requirers", () => {
    expect(planAttached(settings, [], attachedTo(web))).toEqual({ action: "delete" });
  });

  test("stays when a policy propagates it, with the policy's settings", () => {
    const ofPolicy = {
      ...attachedTo(web),
      spec: { ...attachedTo(web).spec, placement: {}, conflictResolution: "Overwrite" as const },
    };

    expect(planAttached(settings, [web], ofPolicy)).toEqual({ action: "none" });
    expect(planAttached(settings, [], ofPolicy)).toEqual({
      action: "update",
      patch: {
        metadata: { labels: { "resourcebinding.karmada.io/depended-by-8546649456": null } },
        spec: { requiredBy: [] },
      },
      conflicts: [],
    });
  });

  test("is left alone when it never had a requirer", () => {
    expect(planAttached(settings, [], makeBinding(settings).build())).toEqual({ action: "none" });
  });
});
