/**
 * The pipeline from a user's view: what is applied on the hub, and the resulting state on the members and back on the
 * hub.
 */
import { afterEach, describe, expect, test } from "vitest";
import { CloneSet } from "@flotilla/openkruise";
import { Cluster, OverridePolicy, PropagationPolicy, ResourceBinding, Work } from "@flotilla/karmada";
import { ConfigMap, CustomResourceDefinition, Deployment, Namespace } from "@flotilla/kubernetes";
import { inVersion } from "@flotilla/apimachinery";
import type { CloneSetV1alpha1 } from "@flotilla/openkruise";
import type { Kind, KubernetesObject } from "@flotilla/apimachinery";
import type { DeepReadonly } from "@flotilla/base";
import { find as findObject } from "@flotilla/client";
import { startTestFleet } from "@flotilla/testing/fleet/fleet.ts";
import type { TestFleet } from "@flotilla/testing/fleet/fleet.ts";
import { makeBinding, makeCloneSet, makeDeployment, makePolicy } from "@flotilla/testing/builders.ts";

const SETTLED_MS = 10_000;
const clusters = { member1: 2, member2: 1, member3: 1 };

let fleet: TestFleet;
afterEach(() => fleet.stop());

async function start(nodes = 0): Promise<void> {
  fleet = await startTestFleet({ members: Object.keys(clusters), nodes });
  await fleet.client.create(Namespace, "hub", { apiVersion: "v1", kind: "Namespace", metadata: { name: "shop" } });
  await fleet.run(1_000);
}
const apply = async (policy: PropagationPolicy): Promise<void> =>
  void (await fleet.client.create(PropagationPolicy, "hub", policy));
const deploymentPolicy = (): ReturnType<typeof makePolicy> =>
  makePolicy("shop/all").selects("apps/v1", "Deployment").weights(clusters);

const find = <T extends KubernetesObject>(
  kind: Kind<T>,
  cluster: string,
  name: string,
): Promise<DeepReadonly<T> | undefined> => findObject(fleet.client, kind, { cluster, namespace: "shop", name });

async function onMembers<T extends KubernetesObject, V>(
  kind: Kind<T>,
  name: string,
  read: (object: DeepReadonly<T>) => V,
): Promise<(V | undefined)[]> {
  const objects = await Promise.all(Object.keys(clusters).map((cluster) => find(kind, cluster, name)));
  return objects.map((object) => object && read(object));
}

describe("a Deployment under a policy with weights", () => {
  test("is divided over the members, and the hub shows the aggregated status", async () => {
    await start(3);
    await apply(deploymentPolicy().build());

    await fleet.client.create(Deployment, "hub", makeDeployment("shop/web").replicas(8).build());
    await fleet.run(SETTLED_MS);

    expect(await onMembers(Deployment, "web", ({ spec }) => spec.replicas)).toEqual([4, 2, 2]);
    const web = await find(Deployment, "hub", "web");
    expect(web?.status).toMatchObject({
      replicas: 8,
      readyReplicas: 8,
      updatedReplicas: 8,
      availableReplicas: 8,
      observedGeneration: web?.metadata.generation,
    });
    expect((await find(ResourceBinding, "hub", "web-deployment"))?.status?.conditions).toMatchObject([
      { type: "FullyApplied", status: "True" },
      { type: "Healthy", status: "True" },
      { type: "Scheduled", status: "True" },
    ]);
  });

  test("propagates a template change to every member", async () => {
    await start();
    await apply(deploymentPolicy().build());
    await fleet.client.create(Deployment, "hub", makeDeployment("shop/web").replicas(4).build());
    await fleet.run(SETTLED_MS);

    await fleet.client.patch(
      Deployment,
      { cluster: "hub", namespace: "shop", name: "web" },
      { spec: { template: { spec: { containers: [{ name: "web", image: "web:2" }] } } } },
      { type: "strategic" },
    );
    await fleet.run(SETTLED_MS);

    expect(await onMembers(Deployment, "web", ({ spec }) => spec.template.spec?.containers[0]?.image)).toEqual([
      "web:2",
      "web:2",
      "web:2",
    ]);
  });

  test("is divided again when it is scaled, and a member without replicas loses its copy", async () => {
    await start();
    await apply(deploymentPolicy().build());
    await fleet.client.create(Deployment, "hub", makeDeployment("shop/web").replicas(8).build());
    await fleet.run(SETTLED_MS);

    await fleet.client.patch(
      Deployment,
      { cluster: "hub", namespace: "shop", name: "web" },
      { spec: { replicas: 1 } },
      { type: "merge" },
    );
    await fleet.run(SETTLED_MS);

    expect(await onMembers(Deployment, "web", ({ spec }) => spec.replicas)).toEqual([1, undefined, undefined]);
  });

  test("loses a field on the members that is removed from the template", async () => {
    await start();
    await apply(deploymentPolicy().build());
    await fleet.client.create(
      Deployment,
      "hub",
      makeDeployment("shop/web")
        .replicas(4)
        .with(({ spec }) => (spec.minReadySeconds = 5))
        .build(),
    );
    await fleet.run(SETTLED_MS);

    await fleet.client.patch(
      Deployment,
      { cluster: "hub", namespace: "shop", name: "web" },
      { spec: { minReadySeconds: null } },
      { type: "merge" },
    );
    await fleet.run(SETTLED_MS);

    expect(await onMembers(Deployment, "web", ({ spec }) => spec.minReadySeconds)).toEqual([
      undefined,
      undefined,
      undefined,
    ]);
  });

  test("is deleted everywhere when it is deleted on the hub", async () => {
    await start();
    await apply(deploymentPolicy().build());
    await fleet.client.create(Deployment, "hub", makeDeployment("shop/web").replicas(4).build());
    await fleet.run(SETTLED_MS);

    await fleet.client.delete(Deployment, { cluster: "hub", namespace: "shop", name: "web" });
    await fleet.run(SETTLED_MS);

    expect(await onMembers(Deployment, "web", () => true)).toEqual([undefined, undefined, undefined]);
    expect(await find(ResourceBinding, "hub", "web-deployment")).toBeUndefined();
    expect(
      (await fleet.client.list(Work, { cluster: "hub", namespace: "karmada-es-member1" })).items.map(
        ({ metadata }) => metadata.name,
      ),
    ).toEqual([expect.stringMatching(/^shop-/)]);
  });

  test("keeps running when its policy is deleted", async () => {
    await start();
    await apply(deploymentPolicy().build());
    await fleet.client.create(Deployment, "hub", makeDeployment("shop/web").replicas(4).build());
    await fleet.run(SETTLED_MS);

    await fleet.client.delete(PropagationPolicy, { cluster: "hub", namespace: "shop", name: "all" });
    await fleet.run(SETTLED_MS);

    expect(await onMembers(Deployment, "web", ({ spec }) => spec.replicas)).toEqual([2, 1, 1]);
    expect((await find(Deployment, "hub", "web"))?.metadata.labels ?? {}).not.toHaveProperty(
      "propagationpolicy.karmada.io/permanent-id",
    );
    expect((await find(ResourceBinding, "hub", "web-deployment"))?.metadata.labels).not.toHaveProperty(
      "propagationpolicy.karmada.io/permanent-id",
    );
  });

  test("created before its policy is claimed by it", async () => {
    await start();
    await fleet.client.create(Deployment, "hub", makeDeployment("shop/web").replicas(4).build());
    await fleet.run(SETTLED_MS);

    await apply(deploymentPolicy().build());
    await fleet.run(SETTLED_MS);

    expect(await onMembers(Deployment, "web", ({ spec }) => spec.replicas)).toEqual([2, 1, 1]);
  });

  test("a Deployment under a policy with weights without a fitting cluster reports why", async () => {
    await start();
    await apply(makePolicy("shop/all").selects("apps/v1", "Deployment").weights({ elsewhere: 1 }).build());

    await fleet.client.create(Deployment, "hub", makeDeployment("shop/web").build());
    await fleet.run(SETTLED_MS);

    expect((await find(ResourceBinding, "hub", "web-deployment"))?.status?.conditions).toMatchObject([
      {
        type: "Scheduled",
        status: "False",
        reason: "NoClusterFit",
        message: "0/3 clusters are available: 3 cluster(s) did not match the placement cluster affinity constraint.",
      },
    ]);
  });
});

describe("on a member", () => {
  test("drift is repaired", async () => {
    await start();
    await apply(deploymentPolicy().build());
    await fleet.client.create(Deployment, "hub", makeDeployment("shop/web").replicas(4).build());
    await fleet.run(SETTLED_MS);

    await fleet.client.patch(
      Deployment,
      { cluster: "member1", namespace: "shop", name: "web" },
      { spec: { replicas: 9 } },
      { type: "merge" },
    );
    await fleet.client.delete(Deployment, { cluster: "member2", namespace: "shop", name: "web" });
    await fleet.run(SETTLED_MS);

    expect(await onMembers(Deployment, "web", ({ spec }) => spec.replicas)).toEqual([2, 1, 1]);
  });

  test("an object that Flotilla did not create is left alone, and the hub reports a conflict", async () => {
    await start();
    await fleet.client.create(Deployment, "member1", makeDeployment("shop/web").image("theirs:1").build());
    await apply(deploymentPolicy().build());

    await fleet.client.create(Deployment, "hub", makeDeployment("shop/web").replicas(4).image("ours:1").build());
    await fleet.run(SETTLED_MS);

    expect(await onMembers(Deployment, "web", ({ spec }) => spec.template.spec?.containers[0]?.image)).toEqual([
      "theirs:1",
      "ours:1",
      "ours:1",
    ]);
    const binding = await find(ResourceBinding, "hub", "web-deployment");
    expect(binding?.status?.aggregatedStatus?.[0]).toMatchObject({
      clusterName: "member1",
      applied: false,
      appliedMessage: expect.stringContaining("already exists in the cluster member1"),
    });
  });

  test("such an object is adopted if the policy specifies Overwrite", async () => {
    await start();
    await fleet.client.create(Deployment, "member1", makeDeployment("shop/web").image("theirs:1").build());
    await apply(
      deploymentPolicy()
        .with(({ spec }) => (spec.conflictResolution = "Overwrite"))
        .build(),
    );

    await fleet.client.create(Deployment, "hub", makeDeployment("shop/web").replicas(4).image("ours:1").build());
    await fleet.run(SETTLED_MS);

    expect(await onMembers(Deployment, "web", ({ spec }) => spec.template.spec?.containers[0]?.image)).toEqual([
      "ours:1",
      "ours:1",
      "ours:1",
    ]);
  });

  test("an override changes only the copies it targets", async () => {
    await start();
    await apply(deploymentPolicy().build());
    await fleet.client.create(OverridePolicy, "hub", {
      apiVersion: "policy.karmada.io/v1alpha1",
      kind: "OverridePolicy",
      metadata: { namespace: "shop", name: "registry" },
      spec: {
        resourceSelectors: [{ apiVersion: "apps/v1", kind: "Deployment" }],
        overrideRules: [
          {
            targetCluster: { clusterNames: ["member2"] },
            overriders: {
              imageOverrider: [{ component: "Registry", operator: "replace", value: "mirror.example.com" }],
            },
          },
        ],
      },
    });

    await fleet.client.create(
      Deployment,
      "hub",
      makeDeployment("shop/web").replicas(4).image("registry.example.com/web:1").build(),
    );
    await fleet.run(SETTLED_MS);

    expect(await onMembers(Deployment, "web", ({ spec }) => spec.template.spec?.containers[0]?.image)).toEqual([
      "registry.example.com/web:1",
      "mirror.example.com/web:1",
      "registry.example.com/web:1",
    ]);
  });
});

test("an override that selects clusters by label follows a cluster that gets the label", async () => {
  await start();
  await apply(deploymentPolicy().build());
  await fleet.client.create(OverridePolicy, "hub", {
    apiVersion: "policy.karmada.io/v1alpha1",
    kind: "OverridePolicy",
    metadata: { namespace: "shop", name: "edge" },
    spec: {
      overrideRules: [
        {
          targetCluster: { labelSelector: { matchLabels: { edge: "yes" } } },
          overriders: { labelsOverrider: [{ operator: "add", value: { edge: "yes" } }] },
        },
      ],
    },
  });
  await fleet.client.create(Deployment, "hub", makeDeployment("shop/web").replicas(4).build());
  await fleet.run(SETTLED_MS);
  const labels = (): Promise<(string | undefined)[]> =>
    onMembers(Deployment, "web", ({ metadata }) => metadata.labels?.["edge"]);
  expect(await labels()).toEqual([undefined, undefined, undefined]);

  await fleet.client.patch(
    Cluster,
    { cluster: "hub", name: "member2" },
    { metadata: { labels: { edge: "yes" } } },
    { type: "merge" },
  );
  await fleet.run(SETTLED_MS);

  expect(await labels()).toEqual([undefined, "yes", undefined]);
});

test("an override that cannot be applied is reported on the binding and blocks only its own member", async () => {
  await start();
  await apply(deploymentPolicy().build());
  await fleet.client.create(Deployment, "hub", makeDeployment("shop/web").replicas(4).build());
  await fleet.run(SETTLED_MS);

  await fleet.client.create(OverridePolicy, "hub", {
    apiVersion: "policy.karmada.io/v1alpha1",
    kind: "OverridePolicy",
    metadata: { namespace: "shop", name: "wrong" },
    spec: {
      overrideRules: [
        {
          targetCluster: { clusterNames: ["member2"] },
          overriders: { plaintext: [{ path: "/spec/nope/deeper", operator: "replace", value: 1 }] },
        },
      ],
    },
  } as unknown as OverridePolicy);
  await fleet.client.patch(
    Deployment,
    { cluster: "hub", namespace: "shop", name: "web" },
    { spec: { replicas: 8 } },
    { type: "merge" },
  );
  await fleet.run(SETTLED_MS);

  expect((await find(ResourceBinding, "hub", "web-deployment"))?.status?.conditions).toContainEqual(
    expect.objectContaining({
      type: "Dispatched",
      status: "False",
      message: expect.stringContaining("member2: applying override policy wrong"),
    }),
  );
  expect(await onMembers(Deployment, "web", ({ spec }) => spec.replicas)).toEqual([4, 1, 2]);
});

test("a deleted Work of a namespace is created again", async () => {
  await start();
  const works = async (): Promise<number> =>
    (await fleet.client.list(Work, { cluster: "hub", labelSelector: "flotilla.dev/namespace=shop" })).items.length;
  const [work] = (
    await fleet.client.list(Work, {
      cluster: "hub",
      namespace: "karmada-es-member1",
      labelSelector: "flotilla.dev/namespace=shop",
    })
  ).items;
  await fleet.client.delete(Work, { cluster: "hub", namespace: "karmada-es-member1", name: work?.metadata.name ?? "" });
  await fleet.run(SETTLED_MS);

  expect(await works()).toBe(3);
  expect((await fleet.client.get(Namespace, { cluster: "member1", name: "shop" })).status?.phase).toBe("Active");
});

test("a workload created with no replicas is reported as zero", async () => {
  await start();
  await apply(deploymentPolicy().build());

  await fleet.client.create(
    Deployment,
    "hub",
    makeDeployment("shop/web")
      .replicas(0)
      .with(({ spec }) =>
        Object.assign(spec.template.spec?.containers[0] ?? {}, { resources: { requests: { cpu: "100m" } } }),
      )
      .build(),
  );
  await fleet.run(SETTLED_MS);

  const web = await find(Deployment, "hub", "web");
  expect(web?.status).toEqual({ observedGeneration: web?.metadata.generation });
});

test("a workload scaled to zero is reported as zero", async () => {
  await start(3);
  await apply(deploymentPolicy().build());
  await fleet.client.create(
    Deployment,
    "hub",
    makeDeployment("shop/web")
      .replicas(4)
      .with(({ spec }) =>
        Object.assign(spec.template.spec?.containers[0] ?? {}, { resources: { requests: { cpu: "100m" } } }),
      )
      .build(),
  );
  await fleet.run(SETTLED_MS);

  await fleet.client.patch(
    Deployment,
    { cluster: "hub", namespace: "shop", name: "web" },
    { spec: { replicas: 0 } },
    { type: "merge" },
  );
  await fleet.run(SETTLED_MS);

  const web = await find(Deployment, "hub", "web");
  expect(web?.status).toEqual({ observedGeneration: web?.metadata.generation });
});

test("a suspended Work is not applied until it is resumed", async () => {
  await start();
  const manifest = {
    apiVersion: "v1",
    kind: "ConfigMap",
    metadata: { namespace: "shop", name: "settings" },
    data: { colour: "blue" },
  };
  const key = { cluster: "hub", namespace: "karmada-es-member1", name: "by-hand" };
  await fleet.client.create(Work, "hub", {
    apiVersion: "work.karmada.io/v1alpha1",
    kind: "Work",
    metadata: { namespace: key.namespace, name: key.name },
    spec: { suspendDispatching: true, workload: { manifests: [manifest] } },
  });
  await fleet.run(SETTLED_MS);
  expect(await find(ConfigMap, "member1", "settings")).toBeUndefined();
  expect((await fleet.client.get(Work, key)).status?.conditions).toMatchObject([
    { type: "Dispatching", status: "False", reason: "SuspendDispatching" },
  ]);

  await fleet.client.patch(Work, key, { spec: { suspendDispatching: false } }, { type: "merge" });
  await fleet.run(SETTLED_MS);

  expect((await find(ConfigMap, "member1", "settings"))?.data).toEqual({ colour: "blue" });
});

describe("a CloneSet", () => {
  const v1alpha1 = inVersion<CloneSetV1alpha1 & KubernetesObject>(CloneSet, "v1alpha1");

  test.each(["v1alpha1", "v1beta1"])("a CloneSet in %s is divided, runs and reports", async (version) => {
    await start(3);
    await apply(makePolicy("shop/all").selects(`apps.kruise.io/${version}`, "CloneSet").weights(clusters).build());

    await fleet.client.create(inVersion(CloneSet, version), "hub", {
      ...makeCloneSet("shop/web").replicas(8).build(),
      apiVersion: `apps.kruise.io/${version}`,
    });
    await fleet.run(SETTLED_MS);

    expect(await onMembers(CloneSet, "web", ({ spec }) => spec.replicas)).toEqual([4, 2, 2]);
    expect(await onMembers(v1alpha1, "web", ({ spec }) => spec.replicas)).toEqual([4, 2, 2]);
    expect((await find(CloneSet, "hub", "web"))?.status).toMatchObject({
      replicas: 8,
      readyReplicas: 8,
      updatedReadyReplicas: 8,
      observedGeneration: 1,
    });
  });
});

test("an object without replicas is the same on every member", async () => {
  await start();
  await apply(
    makePolicy("shop/all")
      .selects("v1", "ConfigMap", "settings")
      .duplicates(...Object.keys(clusters))
      .build(),
  );

  await fleet.client.create(ConfigMap, "hub", {
    apiVersion: "v1",
    kind: "ConfigMap",
    metadata: { namespace: "shop", name: "settings" },
    data: { colour: "blue" },
  });
  await fleet.run(SETTLED_MS);

  expect(await onMembers(ConfigMap, "settings", ({ data }) => data)).toEqual([
    { colour: "blue" },
    { colour: "blue" },
    { colour: "blue" },
  ]);
});

test("bindings of a deleted kind do not block the others", async () => {
  await start();
  const definition = {
    group: "example.dev",
    scope: "Namespaced",
    names: { plural: "widgets", kind: "Widget" },
    versions: [
      {
        name: "v1",
        served: true,
        storage: true,
        schema: { openAPIV3Schema: { type: "object", "x-kubernetes-preserve-unknown-fields": true } },
      },
    ],
  };
  await fleet.client.create(CustomResourceDefinition, "hub", {
    apiVersion: "apiextensions.k8s.io/v1",
    kind: "CustomResourceDefinition",
    metadata: { name: "widgets.example.dev" },
    spec: definition,
  });
  const orphans = Array.from({ length: 100 }, (_, index) =>
    makeBinding({
      apiVersion: "example.dev/v1",
      kind: "Widget",
      metadata: { namespace: "shop", name: `widget-${index}` },
    })
      .targets("member1")
      .build(),
  );
  for (const binding of orphans) await fleet.client.create(ResourceBinding, "hub", binding);
  await fleet.run(1_000);
  await fleet.client.delete(CustomResourceDefinition, { cluster: "hub", name: "widgets.example.dev" });
  await fleet.run(1_000);

  await apply(deploymentPolicy().build());
  await fleet.client.create(Deployment, "hub", makeDeployment("shop/web").replicas(4).build());
  await fleet.run(SETTLED_MS);

  expect(await onMembers(Deployment, "web", ({ spec }) => spec.replicas)).toEqual([2, 1, 1]);
});

test("a namespace of the hub is propagated and deleted with it, but one that a member had stays", async () => {
  await start();
  await fleet.client.create(Namespace, "member1", { apiVersion: "v1", kind: "Namespace", metadata: { name: "tools" } });
  await fleet.client.create(Namespace, "hub", { apiVersion: "v1", kind: "Namespace", metadata: { name: "tools" } });
  await fleet.run(SETTLED_MS);
  const names = async (cluster: string): Promise<string[]> =>
    (await fleet.client.list(Namespace, { cluster })).items
      .map(({ metadata }) => metadata.name)
      .filter((name) => name === "tools");
  expect(await names("member2")).toEqual(["tools"]);

  await fleet.client.delete(Namespace, { cluster: "hub", name: "tools" });
  await fleet.run(SETTLED_MS);

  expect([await names("member1"), await names("member2")]).toEqual([["tools"], []]);
});

test("a namespace that opts out of propagation stays on the members with its contents", async () => {
  await start();
  await apply(deploymentPolicy().build());
  await fleet.client.create(Deployment, "hub", makeDeployment("shop/web").replicas(4).build());
  await fleet.run(SETTLED_MS);

  await fleet.client.patch(
    Namespace,
    { cluster: "hub", name: "shop" },
    { metadata: { labels: { "namespace.karmada.io/skip-auto-propagation": "true" } } },
    { type: "merge" },
  );
  await fleet.run(SETTLED_MS);

  expect(await onMembers(Deployment, "web", ({ spec }) => spec.replicas)).toEqual([2, 1, 1]);
});
