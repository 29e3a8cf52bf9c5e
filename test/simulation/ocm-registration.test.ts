/**
 * Registration on a running hub: clusters are accepted, watched, denied and deleted, and members are both a Cluster and
 * a ManagedCluster.
 */
import { describe, expect, test } from "vitest";
import {
  AppliedManifestWork,
  CLUSTER_LEASE,
  CLUSTER_NAME_LABEL,
  CLUSTER_SET_LABEL,
  ClusterClaim,
  ManagedCluster,
  ManagedClusterSet,
  ManagedClusterSetBinding,
  ManifestWork,
  MANIFEST_WORK_FINALIZER,
} from "@flotilla/ocm";
import { Cluster, Work } from "@flotilla/karmada";
import { ClusterRole, ConfigMap, Lease, Namespace, RoleBinding } from "@flotilla/kubernetes";
import type { Kind, KubernetesObject } from "@flotilla/apimachinery";
import type { ManagedClusterSpec } from "@flotilla/apimachinery/facts/cluster-ocm-v1.ts";
import { formatMicroTime } from "@flotilla/base";
import type { DeepReadonly, Json } from "@flotilla/base";
import { findCondition, HUB, isNotFound } from "@flotilla/apimachinery";
import { endsWithTest } from "@flotilla/testing/ends-with-test.ts";
import { startTestFleet, type TestFleet } from "@flotilla/testing/fleet/fleet.ts";

const MINUTE = 60_000;
let fleet: TestFleet;

const start = async (...members: string[]): Promise<void> =>
  void (fleet = endsWithTest(await startTestFleet({ members })));
const at = (name: string, namespace?: string) => ({ cluster: HUB, name, namespace: namespace || undefined });
const managed = (name = "c1"): Promise<DeepReadonly<ManagedCluster>> => fleet.client.get(ManagedCluster, at(name));
const present = async <T extends KubernetesObject>(
  kind: Kind<T>,
  name: string,
  namespace?: string,
): Promise<DeepReadonly<T> | undefined> => {
  try {
    return await fleet.client.get(kind, at(name, namespace));
  } catch (error) {
    if (isNotFound(error)) return undefined;
    throw error;
  }
};
const conditionOf = async (type: string, name = "c1"): Promise<string> => {
  const condition = findCondition((await managed(name)).status?.conditions, type);
  return condition ? `${condition.status} ${condition.reason}` : "missing";
};
const taintsOf = async (name = "c1"): Promise<string[]> =>
  ((await managed(name)).spec.taints ?? []).map(({ key, effect }) => `${key.split("/").at(-1)}:${effect}`);
const patch = (kind: Kind, name: string, change: Json): Promise<unknown> =>
  fleet.client.patch(kind, at(name), change, { type: "merge" });

const register = async (spec: ManagedClusterSpec = {}, name = "c1"): Promise<void> =>
  void (await fleet.client.create(ManagedCluster, HUB, {
    apiVersion: "cluster.open-cluster-management.io/v1",
    kind: "ManagedCluster",
    metadata: { name },
    spec: { hubAcceptsClient: true, leaseDurationSeconds: 60, ...spec },
  }));
/** As an accepted agent does. */
const report = async (name = "c1"): Promise<void> => {
  const cluster = await managed(name);
  const reported = [
    { type: "ManagedClusterJoined", status: "True" as const, reason: "ManagedClusterJoined", message: "" },
    {
      type: "ManagedClusterConditionAvailable",
      status: "True" as const,
      reason: "ManagedClusterAvailable",
      message: "",
    },
  ].map((condition) => ({ ...condition, lastTransitionTime: "2024-05-01T12:00:00Z" }));
  const kept = (cluster.status?.conditions ?? []).filter(
    ({ type }) => !reported.some((condition) => condition.type === type),
  );
  await fleet.client.updateStatus(ManagedCluster, HUB, {
    ...cluster,
    status: { ...cluster.status, conditions: [...kept, ...reported] },
  });
};
const renew = (offsetMs = 0, name = "c1"): Promise<unknown> =>
  fleet.client.patch(
    Lease,
    at(CLUSTER_LEASE, name),
    { spec: { renewTime: formatMicroTime(fleet.clock.now() + offsetMs) } },
    { type: "merge" },
  );
const addWork = async (name: string, annotations: Record<string, string> = {}, namespace = "c1"): Promise<void> =>
  void (await fleet.client.create(ManifestWork, HUB, {
    apiVersion: "work.open-cluster-management.io/v1",
    kind: "ManifestWork",
    metadata: { name, namespace, annotations, finalizers: [MANIFEST_WORK_FINALIZER] },
    spec: {
      workload: { manifests: [{ apiVersion: "v1", kind: "ConfigMap", metadata: { name, namespace: "default" } }] },
    },
  }));

describe("a cluster registered by its agent", () => {
  test("gets its namespace, its roles and a lease when it is accepted, and nothing before", async () => {
    await start();
    await register({ hubAcceptsClient: false });
    await fleet.settle();
    expect(await present(Namespace, "c1")).toBeUndefined();
    expect(await conditionOf("HubAcceptedManagedCluster")).toBe("missing");

    await patch(ManagedCluster, "c1", { spec: { hubAcceptsClient: true } });
    await fleet.settle();

    expect((await present(Namespace, "c1"))?.metadata.labels?.[CLUSTER_NAME_LABEL]).toBe("c1");
    expect(await conditionOf("HubAcceptedManagedCluster")).toBe("True HubClusterAdminAccepted");
    expect((await present(ClusterRole, "open-cluster-management:managedcluster:c1"))?.rules).toHaveLength(4);
    expect(await present(RoleBinding, "open-cluster-management:managedcluster:c1:registration", "c1")).toBeDefined();
    expect(
      (await present(RoleBinding, "open-cluster-management:managedcluster:c1:work", "c1"))?.metadata.finalizers,
    ).toEqual([MANIFEST_WORK_FINALIZER]);
    expect((await present(Lease, CLUSTER_LEASE, "c1"))?.spec?.holderIdentity).toBe(CLUSTER_LEASE);
    expect((await managed()).metadata.finalizers).toEqual([
      "cluster.open-cluster-management.io/resource-cleanup",
      "cluster.open-cluster-management.io/api-resource-cleanup",
    ]);
    expect(await taintsOf()).toEqual(["unreachable:NoSelect"]);
  });

  test("is unknown and tainted after five missed lease renewals, and recovers by itself", async () => {
    await start();
    await register();
    await fleet.settle();
    await report();
    await renew();
    await fleet.settle();
    expect(await taintsOf()).toEqual([]);

    await fleet.run(5 * MINUTE - 1);
    expect(await conditionOf("ManagedClusterConditionAvailable")).toBe("True ManagedClusterAvailable");
    await fleet.run(1);

    expect(await conditionOf("ManagedClusterConditionAvailable")).toBe("Unknown ManagedClusterLeaseUpdateStopped");
    expect(await taintsOf()).toEqual(["unreachable:NoSelect"]);
    await renew();
    await report();
    await fleet.run(MINUTE);
    expect(await conditionOf("ManagedClusterConditionAvailable")).toBe("True ManagedClusterAvailable");
    expect(await taintsOf()).toEqual([]);
  });

  test("has a condition about its wrong clock, unless it is exempt: then its lease counts from when the hub observed it", async () => {
    await start();
    await register();
    await fleet.settle();
    await report();
    await renew(-6 * MINUTE);
    await fleet.settle();
    expect(await conditionOf("ManagedClusterConditionClockSynced")).toBe("False ManagedClusterClockOutOfSync");
    expect(await conditionOf("ManagedClusterConditionAvailable")).toBe("Unknown ManagedClusterLeaseUpdateStopped");

    await patch(ManagedCluster, "c1", {
      metadata: { annotations: { "registration.open-cluster-management.io/skip-clock-sync-check": "true" } },
    });
    await report();
    await fleet.run(MINUTE);
    await renew(-6 * MINUTE);
    await fleet.settle();

    expect(await conditionOf("ManagedClusterConditionClockSynced")).toBe("True ManagedClusterClockSynced");
    expect(await conditionOf("ManagedClusterConditionAvailable")).toBe("True ManagedClusterAvailable");
  });

  test("loses its permissions when it is denied, those for works only after its last work", async () => {
    await start();
    await register();
    await fleet.settle();
    await addWork("web");
    await patch(ManagedCluster, "c1", { spec: { hubAcceptsClient: false } });
    await fleet.settle();

    expect(await conditionOf("HubAcceptedManagedCluster")).toBe("False HubClusterAdminDenied");
    expect((await present(ClusterRole, "open-cluster-management:managedcluster:c1"))?.rules).toEqual([
      {
        apiGroups: ["cluster.open-cluster-management.io"],
        resources: ["managedclusters"],
        resourceNames: ["c1"],
        verbs: ["get", "list", "watch"],
      },
    ]);
    expect(await present(RoleBinding, "open-cluster-management:managedcluster:c1:registration", "c1")).toBeUndefined();
    expect(await present(RoleBinding, "open-cluster-management:managedcluster:c1:work", "c1")).toBeDefined();

    await fleet.client.patch(ManifestWork, at("web", "c1"), { metadata: { finalizers: null } }, { type: "merge" });
    await fleet.client.delete(ManifestWork, at("web", "c1"));
    await fleet.settle();
    expect(await present(RoleBinding, "open-cluster-management:managedcluster:c1:work", "c1")).toBeUndefined();
    expect(await present(Namespace, "c1")).toBeDefined();

    await patch(ManagedCluster, "c1", { spec: { hubAcceptsClient: true } });
    await fleet.settle();
    expect(await present(RoleBinding, "open-cluster-management:managedcluster:c1:work", "c1")).toBeDefined();
  });

  test("keeps the permission to finish its works while its namespace is deleted, and gets everything again", async () => {
    await start();
    await register();
    await fleet.settle();
    await report();
    await addWork("web");
    await fleet.settle();
    const before = (await present(Namespace, "c1"))?.metadata.uid;

    await fleet.client.delete(Namespace, at("c1"));
    await fleet.client.delete(RoleBinding, at("open-cluster-management:managedcluster:c1:work", "c1"));
    await fleet.run(MINUTE);

    expect((await present(ManifestWork, "web", "c1"))?.metadata.deletionTimestamp).toBeDefined();
    expect(
      (await present(RoleBinding, "open-cluster-management:managedcluster:c1:work", "c1"))?.metadata.finalizers,
    ).toEqual([MANIFEST_WORK_FINALIZER]);
    expect(await conditionOf("HubAcceptedManagedCluster")).toBe("True HubClusterAdminAccepted");

    await fleet.client.patch(ManifestWork, at("web", "c1"), { metadata: { finalizers: null } }, { type: "merge" });
    await fleet.run(1_000);

    expect([before, undefined]).not.toContain((await present(Namespace, "c1"))?.metadata.uid);
    expect(
      (await present(RoleBinding, "open-cluster-management:managedcluster:c1:work", "c1"))?.metadata.deletionTimestamp,
    ).toBeUndefined();
    expect(await present(RoleBinding, "open-cluster-management:managedcluster:c1:registration", "c1")).toBeDefined();
    expect(await present(Lease, CLUSTER_LEASE, "c1")).toBeDefined();
    expect(await conditionOf("HubAcceptedManagedCluster")).toBe("True HubClusterAdminAccepted");
  });

  test("keeps a deleted work role binding until its last work, and gets it again then", async () => {
    await start();
    await register();
    await fleet.settle();
    await addWork("web");
    const name = "open-cluster-management:managedcluster:c1:work";
    await fleet.client.delete(RoleBinding, at(name, "c1"));
    await fleet.settle();
    expect((await present(RoleBinding, name, "c1"))?.metadata.deletionTimestamp).toBeDefined();

    await fleet.client.patch(ManifestWork, at("web", "c1"), { metadata: { finalizers: null } }, { type: "merge" });
    await fleet.client.delete(ManifestWork, at("web", "c1"));
    await fleet.settle();

    expect((await present(RoleBinding, name, "c1"))?.metadata).toMatchObject({ finalizers: [MANIFEST_WORK_FINALIZER] });
    expect((await present(RoleBinding, name, "c1"))?.metadata.deletionTimestamp).toBeUndefined();
  });

  test("is deleted after its works, which are deleted in order of priority; its namespace stays", async () => {
    await start();
    await register();
    await fleet.settle();
    await report();
    await addWork("first");
    await addWork("last", { "open-cluster-management.io/cleanup-priority": "50" });
    await fleet.client.delete(ManagedCluster, at("c1"));
    await fleet.settle();

    expect((await present(ManifestWork, "first", "c1"))?.metadata.deletionTimestamp).toBeDefined();
    expect((await present(ManifestWork, "last", "c1"))?.metadata.deletionTimestamp).toBeUndefined();
    expect(findCondition((await managed()).status?.conditions, "Deleting")).toMatchObject({
      status: "False",
      reason: "ResourceRemaining",
      message: "The resource manifestworks is remaning, the remaining count is 2, the finalizer pending count is 2",
    });

    for (const name of ["first", "last"]) {
      await fleet.client.patch(ManifestWork, at(name, "c1"), { metadata: { finalizers: null } }, { type: "merge" });
      await fleet.settle();
    }
    expect(await present(ManagedCluster, "c1")).toBeUndefined();
    expect(await present(ClusterRole, "open-cluster-management:managedcluster:c1")).toBeUndefined();
    expect(await present(ClusterRole, "open-cluster-management:managedcluster:work")).toBeUndefined();
    expect(await present(Namespace, "c1")).toBeDefined();
  });

  test("does not remove a member that a forged ManagedCluster claims to represent", async () => {
    await start();
    await fleet.client.create(Cluster, HUB, {
      apiVersion: "cluster.karmada.io/v1alpha1",
      kind: "Cluster",
      metadata: { name: "c1" },
      spec: { syncMode: "Pull" },
    });
    await fleet.client.create(ManagedCluster, HUB, {
      apiVersion: "cluster.open-cluster-management.io/v1",
      kind: "ManagedCluster",
      metadata: {
        name: "c1",
        labels: { env: "prod" },
        annotations: { "flotilla.dev/paired-state": '{"labels":{},"taints":[]}' },
      },
      spec: { hubAcceptsClient: false },
    });
    await fleet.settle();
    expect((await present(Cluster, "c1"))?.metadata.labels).toBeUndefined();

    await fleet.client.delete(ManagedCluster, at("c1"));
    await fleet.run(MINUTE);

    expect(await present(ManagedCluster, "c1")).toBeUndefined();
    expect((await present(Cluster, "c1"))?.metadata.deletionTimestamp).toBeUndefined();
  });

  test("is removed after a deadline if its member is dead, and at once when forced", async () => {
    await start();
    for (const name of ["c1", "c2"]) {
      await register({}, name);
      await fleet.settle();
      await addWork("web", {}, name);
    }
    await fleet.run(10 * MINUTE);
    for (const name of ["c1", "c2"]) await fleet.client.delete(ManagedCluster, at(name));
    await fleet.run(4 * MINUTE);
    expect(await present(ManagedCluster, "c1")).toBeDefined();

    await patch(ManagedCluster, "c2", { metadata: { annotations: { "flotilla.dev/force-unjoin": "true" } } });
    await fleet.run(10_000);
    expect(await present(ManagedCluster, "c2")).toBeUndefined();
    await fleet.run(MINUTE);
    expect(await present(ManagedCluster, "c1")).toBeUndefined();
    expect(await present(ManifestWork, "web", "c1")).toBeUndefined();
  });

  test("gets a Cluster with sync mode Pull once it joined, and both are deleted together", async () => {
    await start();
    await register({ managedClusterClientConfigs: [{ url: "https://c1.example.com" }] });
    await patch(ManagedCluster, "c1", { metadata: { labels: { env: "prod" } } });
    await fleet.settle();
    expect(await present(Cluster, "c1")).toBeUndefined();

    await report();
    await fleet.settle();
    expect(await present(Cluster, "c1")).toMatchObject({
      metadata: { labels: { env: "prod" } },
      spec: { syncMode: "Pull", apiEndpoint: "https://c1.example.com" },
    });

    await fleet.client.delete(ManagedCluster, at("c1"));
    await fleet.run(MINUTE);
    expect([await present(Cluster, "c1"), await present(ManagedCluster, "c1")]).toEqual([undefined, undefined]);
  });
});

describe("a member that the hub reaches", () => {
  test("is a ManagedCluster too: accepted, joined, available, in the default set, with its claims", async () => {
    await start("m1");
    await fleet.client.create(ClusterClaim, "m1", {
      apiVersion: "cluster.open-cluster-management.io/v1alpha1",
      kind: "ClusterClaim",
      metadata: { name: "team" },
      spec: { value: "shop" },
    });
    await fleet.settle();

    const { metadata, spec, status } = await managed("m1");

    expect(spec).toMatchObject({
      hubAcceptsClient: true,
      managedClusterClientConfigs: [{ url: "https://m1.example.com" }],
    });
    expect(metadata.labels).toEqual({ [CLUSTER_SET_LABEL]: "default" });
    expect(status?.conditions.map(({ type, status: state }) => `${type} ${state}`)).toEqual([
      "HubAcceptedManagedCluster True",
      "ManagedClusterJoined True",
      "ManagedClusterConditionAvailable True",
      "ManagedClusterConditionClockSynced True",
    ]);
    expect(status?.clusterClaims?.map(({ name, value }) => `${name}=${value}`)).toEqual([
      "id.k8s.io=m1",
      `kubeversion.open-cluster-management.io=${status?.version?.kubernetes}`,
      "platform.open-cluster-management.io=Other",
      "product.open-cluster-management.io=Other",
      "team=shop",
    ]);
    expect(await taintsOf("m1")).toEqual([]);
    expect(await present(Lease, CLUSTER_LEASE, "m1")).toBeDefined();
    expect(await present(ClusterRole, "open-cluster-management:managedcluster:m1")).toBeUndefined();
  });

  test("causes no writes while nothing changes, and its namespace is not propagated", async () => {
    await start("m1", "m2");
    await fleet.run(MINUTE);
    fleet.resetWrites();

    await fleet.run(30 * MINUTE);

    expect(fleet.writes()).toEqual([]);
    const { items } = await fleet.client.list(Work, { cluster: HUB });
    expect(
      items.filter(({ spec }) =>
        spec.workload?.manifests?.some(
          (manifest) => (manifest as { metadata?: { name?: string } }).metadata?.name === "m1",
        ),
      ),
    ).toEqual([]);
  });

  test("has the same labels and taints on Cluster and ManagedCluster, whichever was changed, without flapping", async () => {
    await start("m1");
    await patch(Cluster, "m1", {
      metadata: { labels: { env: "prod" } },
      spec: { taints: [{ key: "maintenance", effect: "NoSchedule" }] },
    });
    await fleet.settle();
    expect((await managed("m1")).metadata.labels?.["env"]).toBe("prod");
    expect(await taintsOf("m1")).toEqual(["maintenance:NoSelectIfNew"]);

    await patch(ManagedCluster, "m1", {
      metadata: { labels: { env: "test", tier: "gold" } },
      spec: {
        taints: [
          { key: "drain", effect: "NoSelect" },
          { key: "dear", effect: "PreferNoSelect" },
        ],
      },
    });
    await fleet.settle();
    const { metadata, spec } = await fleet.client.get(Cluster, at("m1"));
    expect(metadata.labels).toEqual({ env: "test", tier: "gold" });
    expect(spec.taints?.map(({ key, effect }) => `${key}:${effect}`)).toEqual(["drain:NoExecute"]);

    await patch(Cluster, "m1", { metadata: { labels: { tier: null } }, spec: { taints: null } });
    await fleet.settle();
    expect((await managed("m1")).metadata.labels).toEqual({ env: "test", [CLUSTER_SET_LABEL]: "default" });
    expect(await taintsOf("m1")).toEqual(["dear:PreferNoSelect"]);
    fleet.resetWrites();
    await fleet.run(MINUTE);
    expect(fleet.writes()).toEqual([]);
  });

  const ways: Record<string, { leave(): Promise<unknown>; stays: boolean }> = {
    "that is unjoined loses Cluster and ManagedCluster, and objects of works stay without our metadata": {
      leave: () => fleet.client.delete(Cluster, at("m1")),
      stays: true,
    },
    "that is purged loses Cluster and ManagedCluster, and objects of works are deleted": {
      leave: () =>
        patch(Cluster, "m1", { metadata: { annotations: { "flotilla.dev/purge": "true" } } }).then(() =>
          fleet.client.delete(Cluster, at("m1")),
        ),
      stays: false,
    },
    "whose ManagedCluster is deleted loses its Cluster too, and objects of works are deleted": {
      leave: () => fleet.client.delete(ManagedCluster, at("m1")),
      stays: false,
    },
  };
  for (const [behaviour, { leave, stays }] of Object.entries(ways)) {
    test(behaviour, async () => {
      await start("m1");
      await addWork("web", {}, "m1");
      await fleet.run(1_000);
      const settings = { cluster: "m1", namespace: "default", name: "web" };
      expect((await fleet.client.get(ConfigMap, settings)).metadata.ownerReferences).toHaveLength(1);

      await leave();
      await fleet.run(MINUTE);

      expect([
        await present(Cluster, "m1"),
        await present(ManagedCluster, "m1"),
        await present(ManifestWork, "web", "m1"),
      ]).toEqual([undefined, undefined, undefined]);
      const left = (await fleet.client.list(ConfigMap, { cluster: "m1", namespace: "default" })).items.filter(
        ({ metadata }) => metadata.name === "web",
      );
      expect(left.map(({ metadata }) => metadata.ownerReferences ?? [])).toEqual(stays ? [[]] : []);
      expect((await fleet.client.list(AppliedManifestWork, { cluster: "m1" })).items).toEqual([]);
    });
  }
});

describe("cluster sets", () => {
  test("default and global exist, are recreated, and keep their selectors", async () => {
    await start("m1");
    await patch(ManagedClusterSet, "default", {
      spec: { clusterSelector: { selectorType: "LabelSelector", labelSelector: {} } },
    });
    await fleet.client.delete(ManagedClusterSet, at("global"));
    await fleet.run(2_000);

    expect((await present(ManagedClusterSet, "default"))?.spec.clusterSelector).toEqual({
      selectorType: "ExclusiveClusterSetLabel",
    });
    const global = await present(ManagedClusterSet, "global");
    expect(global?.spec.clusterSelector).toEqual({ selectorType: "LabelSelector", labelSelector: {} });
    expect(global?.status?.conditions?.[0]).toMatchObject({
      type: "ClusterSetEmpty",
      status: "False",
      reason: "ClustersSelected",
      message: "1 ManagedClusters selected",
    });
  });

  test("a changed selector stays if its annotation allows it", async () => {
    await start();
    await patch(ManagedClusterSet, "default", {
      metadata: { annotations: { "cluster.open-cluster-management.io/autoupdate": "false" } },
    });
    await patch(ManagedClusterSet, "default", {
      spec: { clusterSelector: { selectorType: "LabelSelector", labelSelector: {} } },
    });
    await fleet.run(20_000);

    expect((await present(ManagedClusterSet, "default"))?.spec.clusterSelector?.selectorType).toBe("LabelSelector");
  });

  test("a binding reports whether its set exists", async () => {
    await start();
    await fleet.client.create(ManagedClusterSetBinding, HUB, {
      apiVersion: "cluster.open-cluster-management.io/v1beta2",
      kind: "ManagedClusterSetBinding",
      metadata: { name: "blue", namespace: "default" },
      spec: { clusterSet: "blue" },
    });
    const bound = async (): Promise<string | undefined> =>
      (await present(ManagedClusterSetBinding, "blue", "default"))?.status?.conditions
        ?.map(({ status, reason }) => `${status} ${reason}`)
        .join();
    await fleet.settle();
    expect(await bound()).toBe("False ClusterSetNotFound");

    await fleet.client.create(ManagedClusterSet, HUB, {
      apiVersion: "cluster.open-cluster-management.io/v1beta2",
      kind: "ManagedClusterSet",
      metadata: { name: "blue" },
      spec: {},
    });
    await fleet.settle();
    expect(await bound()).toBe("True ClusterSetBound");
  });

  test("the namespaces of a cluster's sets are listed on it, and its agent's conditions are kept", async () => {
    await start();
    await register();
    await patch(ManagedClusterSet, "global", { spec: { managedNamespaces: [{ name: "b" }, { name: "a" }] } });
    await fleet.settle();
    const cluster = await managed();
    const conditions = [
      {
        type: "NamespaceAvailable",
        status: "True" as const,
        reason: "NamespaceApplied",
        message: "",
        lastTransitionTime: "2024-05-01T12:00:00Z",
      },
    ];
    await fleet.client.updateStatus(ManagedCluster, HUB, {
      ...cluster,
      status: {
        conditions: [],
        ...cluster.status,
        managedNamespaces: [
          { name: "a", clusterSet: "global", conditions },
          { name: "b", clusterSet: "global" },
        ],
      },
    });

    await patch(ManagedClusterSet, "default", { spec: { managedNamespaces: [{ name: "z" }] } });
    await fleet.settle();

    expect((await managed()).status?.managedNamespaces).toEqual([
      { name: "z", clusterSet: "default" },
      { name: "a", clusterSet: "global", conditions },
      { name: "b", clusterSet: "global" },
    ]);
  });
});
