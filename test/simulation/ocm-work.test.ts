/** ManifestWorks on a simulated member: applied, repaired, reported, and deleted. */
import { beforeEach, describe, expect, test } from "vitest";
import { HUB } from "@flotilla/apimachinery";
import { AppliedManifestWork, ManagedCluster, ManifestWork } from "@flotilla/ocm";
import { CloneSet, SidecarSet } from "@flotilla/openkruise";
import { ConfigMap, Deployment, Job } from "@flotilla/kubernetes";
import type { JsonObject } from "@flotilla/base";
import { configMap, deployment, MEMBER, startWorkFleet, treat, type WorkFleet } from "./ocm-work-fleet.ts";

const cloneSet = (name: string): JsonObject => ({
  ...deployment(name),
  apiVersion: "apps.kruise.io/v1alpha1",
  kind: "CloneSet",
});
const namespaced = (manifest: JsonObject, namespace: string): JsonObject => ({
  ...manifest,
  metadata: { ...(manifest["metadata"] as JsonObject), namespace },
});
const WORK_KINDS = [
  "manifestworks.work.open-cluster-management.io",
  "appliedmanifestworks.work.open-cluster-management.io",
];

let works: WorkFleet;
beforeEach(async () => {
  works = await startWorkFleet({ nodes: 3 });
});

test("objects are applied in dependency order, and reported in spec order", async () => {
  await works.create("web", [
    namespaced(deployment("web"), "shop"),
    namespaced(configMap("settings"), "shop"),
    { apiVersion: "v1", kind: "Namespace", metadata: { name: "shop" } },
  ]);
  await works.fleet.run(5_000);

  const { status } = await works.work("web");
  expect(status?.resourceStatus?.manifests?.map(({ resourceMeta }) => resourceMeta)).toEqual([
    {
      ordinal: 0,
      group: "apps",
      version: "v1",
      kind: "Deployment",
      resource: "deployments",
      name: "web",
      namespace: "shop",
    },
    {
      ordinal: 1,
      group: "",
      version: "v1",
      kind: "ConfigMap",
      resource: "configmaps",
      name: "settings",
      namespace: "shop",
    },
    { ordinal: 2, group: "", version: "v1", kind: "Namespace", resource: "namespaces", name: "shop", namespace: "" },
  ]);
  expect(await works.condition("web", "Applied")).toBe("True AppliedManifestWorkComplete");
  expect(await works.condition("web", "Available")).toBe("True ResourcesAvailable");
  expect(await works.condition("web", "Progressing")).toBe("False ConditionRulesAggregated");
  const [applied] = await works.applied();
  expect(applied?.spec.manifestWorkName).toBe("web");
  expect(applied?.status?.appliedResources?.map(({ resource, name }) => `${resource} ${name}`)).toEqual([
    "configmaps settings",
    "namespaces shop",
    "deployments web",
  ]);
  const web = await works.fleet.client.get(Deployment, { cluster: MEMBER, namespace: "shop", name: "web" });
  expect(web.metadata.ownerReferences).toEqual([
    {
      apiVersion: "work.open-cluster-management.io/v1",
      kind: "AppliedManifestWork",
      name: applied?.metadata.name,
      uid: applied?.metadata.uid,
    },
  ]);
  expect(web.metadata.labels ?? {}).not.toHaveProperty("karmada.io/managed");
});

// One of them reports that the generation was applied while pods still start: waiting for the end of the rollout would
// save it, and delay every client that waits for `Applied` by a second.
test("a CloneSet causes 7 writes until its status is back, including the user's own, and none in the minute after", async () => {
  const { fleet } = works;
  fleet.resetWrites();
  await works.create("web", [cloneSet("web")], {
    manifestConfigs: [treat("apps.kruise.io", "clonesets", "web", { feedbackRules: [{ type: "WellKnownStatus" }] })],
  });
  await fleet.run(10_000);

  const { status } = await works.work("web");
  expect(
    Object.fromEntries(
      status?.resourceStatus?.manifests?.[0]?.statusFeedback?.values?.map(({ name, fieldValue }) => [
        name,
        fieldValue.integer,
      ]) ?? [],
    ),
  ).toMatchObject({ Replicas: 2, ReadyReplicas: 2, UpdatedReplicas: 2 });
  const writes = fleet
    .writes()
    .filter(
      ({ part, cluster, resource, subresource }) =>
        part !== "member" &&
        (WORK_KINDS.includes(resource) ||
          (resource === "clonesets.apps.kruise.io" && !(cluster === MEMBER && subresource === "status"))),
    );
  const text = writes
    .map(
      ({ part, cluster, verb, resource, subresource, count }) =>
        `${count} × ${part} ${verb} ${resource}${subresource && `/${subresource}`} on ${cluster}`,
    )
    .join("\n");
  expect(
    writes.reduce((sum, { count }) => sum + count, 0),
    text,
  ).toBe(7);

  fleet.resetWrites();
  await fleet.run(60_000);

  expect(
    fleet.writes().filter(({ resource }) => WORK_KINDS.includes(resource) || resource === "clonesets.apps.kruise.io"),
  ).toEqual([]);
  expect((await works.onMember(CloneSet, "web"))?.status?.readyReplicas).toBe(2);
});

test("an applied generation is reported at once, while its workload still rolls out", async () => {
  works = await startWorkFleet({ nodes: 0 });
  const { fleet } = works;
  await fleet.client.create(ManifestWork, HUB, {
    apiVersion: "work.open-cluster-management.io/v1",
    kind: "ManifestWork",
    metadata: { name: "web", namespace: MEMBER },
    spec: { workload: { manifests: [cloneSet("web")] } },
  });
  await fleet.run(100);

  expect(await works.condition("web", "Applied")).toBe("True AppliedManifestWorkComplete");
  expect(await works.condition("web", "Available")).toBe("True ResourcesAvailable");
  expect(await works.condition("web", "Progressing")).toBe("True ConditionRulesAggregated");
});

test("a cluster-scoped object loses the namespace of its manifest", async () => {
  await works.create("sidecar", [
    {
      apiVersion: "apps.kruise.io/v1alpha1",
      kind: "SidecarSet",
      metadata: { name: "logs", namespace: "default" },
      spec: { selector: { matchLabels: { app: "web" } }, containers: [{ name: "logs", image: "logs:1" }] },
    },
  ]);

  expect(await works.condition("sidecar", "Applied")).toBe("True AppliedManifestWorkComplete");
  expect(await works.onMember(SidecarSet, "logs")).toBeDefined();
});

test("a kind that the member does not serve fails alone, and is applied when it is served", async () => {
  const definition = {
    apiVersion: "apiextensions.k8s.io/v1",
    kind: "CustomResourceDefinition",
    metadata: { name: "widgets.example.dev" },
    spec: {
      group: "example.dev",
      scope: "Namespaced",
      names: { plural: "widgets", singular: "widget", kind: "Widget", listKind: "WidgetList" },
      versions: [
        {
          name: "v1",
          served: true,
          storage: true,
          schema: { openAPIV3Schema: { type: "object", "x-kubernetes-preserve-unknown-fields": true } },
        },
      ],
    },
  };
  await works.create("widgets", [
    { apiVersion: "example.dev/v1", kind: "Widget", metadata: { name: "a", namespace: "default" } },
    configMap("settings"),
  ]);
  expect(await works.manifestCondition("widgets", 0, "Applied")).toBe(
    `False AppliedManifestFailed Failed to apply manifest: the server doesn't have a resource type "Widget"`,
  );
  expect(await works.manifestCondition("widgets", 0, "Available")).toBe(
    "Unknown IncompleteResourceMeta Resource meta is incomplete",
  );
  expect(await works.manifestCondition("widgets", 1, "Applied")).toBe(
    "True AppliedManifestComplete Apply manifest complete",
  );
  expect(await works.condition("widgets", "Applied")).toBe("False AppliedManifestWorkFailed");

  await works.create("kinds", [definition]);
  await works.fleet.run(60_000);

  expect(await works.condition("widgets", "Applied")).toBe("True AppliedManifestWorkComplete");
});

test("drift on the member is repaired, and deleted objects are created again", async () => {
  const { fleet } = works;
  await works.create("settings", [configMap("settings")]);

  await fleet.client.patch(
    ConfigMap,
    { cluster: MEMBER, namespace: "default", name: "settings" },
    { data: { a: "2", b: "more" } },
    { type: "merge" },
  );
  await fleet.settle();
  expect((await works.onMember(ConfigMap, "settings"))?.data).toEqual({ a: "1" });

  await fleet.client.delete(ConfigMap, { cluster: MEMBER, namespace: "default", name: "settings" });
  await fleet.settle();
  expect((await works.onMember(ConfigMap, "settings"))?.data).toEqual({ a: "1" });
});

test("an object in a namespace that the member does not have is reported as missing", async () => {
  await works.create("lost", [{ ...configMap("lost"), metadata: { name: "lost", namespace: "nowhere" } }]);
  await works.fleet.run(30_000);

  expect(await works.manifestCondition("lost", 0, "Applied")).toBe(
    'False AppliedManifestFailed Failed to apply manifest: namespaces "nowhere" not found',
  );
  expect(await works.manifestCondition("lost", 0, "Available")).toBe(
    "False ResourceNotAvailable Resource is not available",
  );
  expect(await works.condition("lost", "Available")).toBe("False ResourcesNotAvailable");
});

test("a workload whose change was rejected reports only the rejection", async () => {
  await works.create("web", [deployment("web")]);
  expect(await works.condition("web", "Progressing")).not.toBe("none");

  await works.patch("web", {
    spec: {
      workload: {
        manifests: [
          deployment("web", {
            selector: { matchLabels: { app: "other" } },
            template: {
              metadata: { labels: { app: "other" } },
              spec: { containers: [{ name: "web", image: "web:2" }] },
            },
          }),
        ],
      },
    },
  });

  expect(await works.condition("web", "Applied")).toBe("False AppliedManifestWorkFailed");
  expect(await works.condition("web", "Progressing")).toBe("none");
});

describe("an object removed from a work", () => {
  test("is deleted after its replacement is applied", async () => {
    await works.create("settings", [configMap("one"), configMap("two")]);

    await works.patch("settings", { spec: { workload: { manifests: [configMap("two"), configMap("three")] } } });

    expect(await works.onMember(ConfigMap, "one")).toBeUndefined();
    expect(await works.onMember(ConfigMap, "three")).toBeDefined();
    expect((await works.applied())[0]?.status?.appliedResources?.map(({ name }) => name)).toEqual(["three", "two"]);
  });

  test("stays while its replacement is rejected", async () => {
    await works.create("settings", [configMap("one")]);

    await works.patch("settings", { spec: { workload: { manifests: [deployment("web", { replicas: -1 })] } } });

    expect(await works.condition("settings", "Applied")).toBe("False AppliedManifestWorkFailed");
    expect(await works.onMember(ConfigMap, "one")).toBeDefined();
  });
});

describe("an object of two works", () => {
  test("stays until the last of them is deleted", async () => {
    await works.create("first", [configMap("shared")]);
    await works.create("second", [configMap("shared")]);
    expect((await works.onMember(ConfigMap, "shared"))?.metadata.ownerReferences).toHaveLength(2);

    await works.remove("first");
    expect((await works.onMember(ConfigMap, "shared"))?.metadata.ownerReferences).toHaveLength(1);

    await works.remove("second");
    expect(await works.onMember(ConfigMap, "shared")).toBeUndefined();
    expect(await works.applied()).toEqual([]);
    expect((await works.fleet.client.list(ManifestWork, { cluster: HUB })).items).toEqual([]);
  });

  test("an object of two works with different specs follows the later one, and the other reports it", async () => {
    const { fleet } = works;
    await works.create("first", [configMap("shared", { a: "1" })]);
    await works.create("second", [configMap("shared", { a: "2" })]);
    await fleet.run(60_000);

    expect((await works.onMember(ConfigMap, "shared"))?.data).toEqual({ a: "2" });
    expect(await works.condition("second", "Applied")).toBe("True AppliedManifestWorkComplete");
    expect(await works.manifestCondition("first", 0, "Applied")).toMatch(
      /^False AppliedManifestConflict .* is also held by ManifestWork member1\/second, which specifies other values/,
    );
    fleet.resetWrites();
    await fleet.run(300_000);
    expect(fleet.writes().filter(({ resource }) => resource === "configmaps")).toEqual([]);

    await works.remove("second");
    expect((await works.onMember(ConfigMap, "shared"))?.data).toEqual({ a: "1" });
    expect(await works.condition("first", "Applied")).toBe("True AppliedManifestWorkComplete");
  });
});

describe("a deleted work", () => {
  test("orphans its objects if configured", async () => {
    await works.create("kept", [configMap("kept")], { deleteOption: { propagationPolicy: "Orphan" } });
    expect((await works.onMember(ConfigMap, "kept"))?.metadata.ownerReferences ?? []).toEqual([]);

    await works.remove("kept");

    expect((await works.onMember(ConfigMap, "kept"))?.metadata.annotations ?? {}).toEqual({});
    expect((await works.onMember(ConfigMap, "kept"))?.data).toEqual({ a: "1" });
    expect(await works.applied()).toEqual([]);
  });

  test("orphans the objects it names, and deletes the others", async () => {
    await works.create("some", [configMap("kept"), configMap("gone")], {
      deleteOption: {
        propagationPolicy: "SelectivelyOrphan",
        selectivelyOrphans: {
          orphaningRules: [{ group: "", resource: "configmaps", namespace: "default", name: "kept" }],
        },
      },
    });

    await works.remove("some");

    expect(await works.onMember(ConfigMap, "kept")).toBeDefined();
    expect(await works.onMember(ConfigMap, "gone")).toBeUndefined();
  });

  test("waits for objects with a slow deletion, and reports it", async () => {
    const { fleet } = works;
    await works.create("slow", [
      { ...configMap("slow"), metadata: { name: "slow", namespace: "default", finalizers: ["example.dev/wait"] } },
    ]);

    await works.remove("slow");
    expect(await works.condition("slow", "Deleting")).toBe("True WorkDeleting");
    expect(await works.applied()).toHaveLength(1);

    await fleet.client.patch(
      ConfigMap,
      { cluster: MEMBER, namespace: "default", name: "slow" },
      { metadata: { finalizers: null } },
      { type: "merge" },
    );
    await fleet.run(5_000);
    expect((await fleet.client.list(ManifestWork, { cluster: HUB })).items).toEqual([]);
    expect(await works.applied()).toEqual([]);
  });

  test("leaves an object alone that replaced its own under the same name", async () => {
    const { fleet } = works;
    await works.create("settings", [configMap("settings")], {
      manifestConfigs: [treat("", "configmaps", "settings", { updateStrategy: { type: "CreateOnly" } })],
    });
    await fleet.client.patch(
      ConfigMap,
      { cluster: MEMBER, namespace: "default", name: "settings" },
      { metadata: { ownerReferences: null } },
      { type: "merge" },
    );
    await fleet.client.delete(ManifestWork, { cluster: HUB, namespace: MEMBER, name: "settings" });
    await fleet.client.delete(ConfigMap, { cluster: MEMBER, namespace: "default", name: "settings" });
    await fleet.client.create(ConfigMap, MEMBER, configMap("settings", { a: "theirs" }) as never);
    await fleet.run(5_000);

    expect((await works.onMember(ConfigMap, "settings"))?.data).toEqual({ a: "theirs" });
  });
});

test("an AppliedManifestWork deleted on the member deletes its objects, and the work is applied again", async () => {
  const { fleet } = works;
  await works.create("settings", [configMap("settings")]);
  const [before] = await works.applied();
  const { uid } = (await works.onMember(ConfigMap, "settings"))?.metadata ?? {};

  await fleet.client.delete(AppliedManifestWork, { cluster: MEMBER, name: before?.metadata.name ?? "" });
  await fleet.run(10_000);

  const [after] = await works.applied();
  expect(after?.metadata.uid).not.toBe(before?.metadata.uid);
  expect((await works.onMember(ConfigMap, "settings"))?.metadata.uid).not.toBe(uid);
});

describe("a completed work", () => {
  const job: JsonObject = {
    apiVersion: "batch/v1",
    kind: "Job",
    metadata: { name: "once", namespace: "default" },
    spec: { template: { spec: { restartPolicy: "Never", containers: [{ name: "once", image: "once:1" }] } } },
  };
  const complete = {
    manifestConfigs: [
      treat("batch", "jobs", "once", {
        conditionRules: [{ condition: "Complete", type: "WellKnownConditions" }],
        updateStrategy: { type: "ServerSideApply" },
      }),
    ],
  };
  const finish = async (): Promise<void> => {
    const { fleet } = works;
    const running = await fleet.client.get(Job, { cluster: MEMBER, namespace: "default", name: "once" });
    const now = new Date(fleet.clock.now()).toISOString().replace(/\.\d+Z$/, "Z");
    const condition = (type: string): JsonObject => ({
      type,
      status: "True",
      reason: "CompletionsReached",
      message: "",
      lastProbeTime: now,
      lastTransitionTime: now,
    });
    await fleet.client.updateStatus(Job, MEMBER, {
      ...running,
      status: {
        ...running.status,
        active: 0,
        ready: 0,
        succeeded: 1,
        startTime: now,
        completionTime: now,
        uncountedTerminatedPods: {},
        conditions: [condition("SuccessCriteriaMet"), condition("Complete")],
      },
    } as never);
    await fleet.run(2_000);
  };
  beforeEach(async () => {
    works = await startWorkFleet({ nodes: 0 });
  });

  test("is not touched again, even if its spec changes", async () => {
    await works.create("once", [job], complete);
    expect(await works.condition("once", "Complete")).toBe("False ConditionRulesAggregated");
    expect(await works.condition("once", "Progressing")).toBe("True ConditionRulesAggregated");

    await finish();
    expect(await works.condition("once", "Complete")).toBe("True ConditionRulesAggregated");
    expect(await works.condition("once", "Progressing")).toBe("False ConditionRulesAggregated");
    await works.patch("once", { spec: { workload: { manifests: [job, configMap("late")] } } });

    expect(await works.onMember(ConfigMap, "late")).toBeUndefined();
    expect(await works.condition("once", "Complete")).toBe("True ConditionRulesAggregated");
  });

  test("is deleted after its TTL", async () => {
    await works.create("once", [job], {
      ...complete,
      deleteOption: { propagationPolicy: "Foreground", ttlSecondsAfterFinished: 60 },
    });
    await finish();
    await works.fleet.run(50_000);
    expect(await works.condition("once", "Complete")).toBe("True ConditionRulesAggregated");

    await works.fleet.run(20_000);

    expect((await works.fleet.client.list(ManifestWork, { cluster: HUB })).items).toEqual([]);
    expect(await works.onMember(Job, "once")).toBeUndefined();
  });
});

test("a work with required labels is applied while its cluster has them", async () => {
  const { fleet } = works;
  const label = async (value: string | null): Promise<void> => {
    await fleet.client.patch(
      ManagedCluster,
      { cluster: HUB, name: MEMBER },
      { metadata: { labels: { monitoring: value } } },
      { type: "merge" },
    );
    await fleet.run(5_000);
  };
  await works.create(
    "monitoring",
    [configMap("agent")],
    {},
    { annotations: { "ocm.io/conditional-deployment": "true", "ocm.io/required-labels": "monitoring=enabled" } },
  );
  expect(await works.condition("monitoring", "Applied")).toBe("False ClusterLabelsNotMatched");
  expect(await works.onMember(ConfigMap, "agent")).toBeUndefined();

  await label("enabled");
  expect(await works.condition("monitoring", "Applied")).toBe("True AppliedManifestWorkComplete");
  expect(await works.onMember(ConfigMap, "agent")).toBeDefined();

  await label(null);
  expect(await works.condition("monitoring", "Applied")).toBe("False ClusterLabelsNotMatched");
  expect(await works.onMember(ConfigMap, "agent")).toBeUndefined();
});
