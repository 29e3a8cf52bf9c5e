/**
 * `flotilla adopt` against running members: their workloads stay unchanged, whatever the kind, and releasing them
 * changes nothing either.
 */
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { CloneSet } from "@flotilla/openkruise";
import { ClusterRole, ConfigMap, Deployment, HorizontalPodAutoscaler, Secret } from "@flotilla/kubernetes";
import { PropagationPolicy, ResourceBinding } from "@flotilla/karmada";
import type { KubernetesObject } from "@flotilla/apimachinery";
import { createKindResolver } from "@flotilla/client";
import { makeCloneSet, makeDeployment, makePolicy } from "@flotilla/testing/builders.ts";
import { SETTLED_MS, startAdoptionFleet } from "./adoption-fleet.ts";
import type { AdoptionFleet } from "./adoption-fleet.ts";

let fleet: AdoptionFleet;
beforeEach(async () => {
  fleet = await startAdoptionFleet();
});
afterEach(() => fleet.stop());

const on = (cluster: string) => ({ cluster, namespace: "shop", name: "web" });
const statefulSet = (replicas: number, more: object = {}): KubernetesObject =>
  ({
    apiVersion: "apps.kruise.io/v1beta1",
    kind: "StatefulSet",
    metadata: { namespace: "shop", name: "web" },
    spec: {
      replicas,
      serviceName: "web",
      selector: { matchLabels: { app: "web" } },
      template: { metadata: { labels: { app: "web" } }, spec: { containers: [{ name: "web", image: "web:1" }] } },
      ...more,
    },
  }) as unknown as KubernetesObject;
const service = {
  apiVersion: "v1",
  kind: "Service",
  metadata: { namespace: "shop", name: "web" },
  spec: { selector: { app: "web" }, ports: [{ port: 80, targetPort: 8080 }] },
} as unknown as KubernetesObject;
const job = (): KubernetesObject =>
  ({
    apiVersion: "batch/v1",
    kind: "Job",
    metadata: { namespace: "shop", name: "web" },
    spec: { template: { spec: { restartPolicy: "Never", containers: [{ name: "web", image: "web:1" }] } } },
  }) as unknown as KubernetesObject;
const deployment = (replicas: number): Deployment => makeDeployment("shop/web").replicas(replicas).build();
const cloneSet = (replicas: number): CloneSet => makeCloneSet("shop/web").replicas(replicas).build();

describe("adopting and releasing change no pod:", () => {
  const cases: Record<
    string,
    { members: Record<string, KubernetesObject[]>; argv: string[]; apiVersion: string; kind: string; pods: number }
  > = {
    "a Deployment on one member": {
      members: { member1: [deployment(3)] },
      argv: ["deployment", "web", "--from", "member1"],
      apiVersion: "apps/v1",
      kind: "Deployment",
      pods: 3,
    },
    "a finished Job on one member": {
      members: { member1: [job()] },
      argv: ["job", "web", "--from", "member1"],
      apiVersion: "batch/v1",
      kind: "Job",
      pods: 1,
    },
    "a finished Job on two members": {
      members: { member1: [job()], member2: [job()] },
      argv: ["job", "web", "--from", "member1,member2"],
      apiVersion: "batch/v1",
      kind: "Job",
      pods: 2,
    },
    "a CloneSet of 6 and 4 on two members": {
      members: { member1: [cloneSet(6)], member2: [cloneSet(4)] },
      argv: ["cloneset", "web", "--from", "member1,member2"],
      apiVersion: "apps.kruise.io/v1beta1",
      kind: "CloneSet",
      pods: 10,
    },
    "an Advanced StatefulSet on one member": {
      members: { member2: [statefulSet(3)] },
      argv: ["statefulsets.apps.kruise.io", "web", "--from", "member2"],
      apiVersion: "apps.kruise.io/v1beta1",
      kind: "StatefulSet",
      pods: 3,
    },
    "an Advanced StatefulSet whose ordinals are divided over two members": {
      members: { member1: [statefulSet(3)], member2: [statefulSet(2, { reserveOrdinals: ["0-2"] })] },
      argv: ["statefulsets.apps.kruise.io/web", "--from", "member1,member2"],
      apiVersion: "apps.kruise.io/v1beta1",
      kind: "StatefulSet",
      pods: 5,
    },
    "a Deployment with its Service": {
      members: { member1: [deployment(2), service], member2: [deployment(1), service] },
      argv: ["deployment/web", "service/web", "--from", "member1", "--from", "member2"],
      apiVersion: "apps/v1",
      kind: "Deployment",
      pods: 3,
    },
  };
  for (const [behaviour, { members, argv, apiVersion, kind, pods }] of Object.entries(cases)) {
    test(behaviour, async () => {
      for (const [cluster, objects] of Object.entries(members)) await fleet.create(cluster, ...objects);
      await fleet.run(SETTLED_MS);
      const before = await fleet.running();
      expect(before.filter((line) => line.includes('["web:1"],[0]'))).toHaveLength(pods);
      fleet.resetWrites();

      const text = await fleet.adopt(argv);

      expect(text).toMatch(/is adopted\n {2}member\d \(\d+\): (unchanged|no pod changed)\n/);
      expect(await fleet.running()).toEqual(before);
      expect(fleet.writes().filter(({ resource }) => resource === "pods")).toEqual([]);
      const { items } = await fleet.client.list(ResourceBinding, { cluster: "hub", namespace: "shop" });
      expect(items.map(({ spec }) => spec.clusters?.map(({ name }) => name).sort())).toEqual(
        items.map(() => Object.keys(members)),
      );

      const template = await createKindResolver({ client: fleet.client, cluster: "hub" }).resolve({ apiVersion, kind });
      await fleet.client.patch(
        template,
        on("hub"),
        { metadata: { annotations: { "flotilla.dev/unmanaged": "true" } } },
        { type: "merge" },
      );
      await fleet.run(SETTLED_MS);
      await fleet.client.delete(template, on("hub"));
      await fleet.run(SETTLED_MS);

      expect(await fleet.running()).toEqual(before);
      expect(
        (await fleet.client.get(template, on(Object.keys(members)[0] ?? ""))).metadata.labels ?? {},
      ).not.toHaveProperty("karmada.io/managed");
    });
  }
});

test("replicas add up, and the policy weights members by their replicas", async () => {
  await fleet.create("member1", cloneSet(6));
  await fleet.create("member2", cloneSet(4));
  await fleet.run(SETTLED_MS);

  await fleet.adopt(["cloneset", "web", "--from", "member1,member2"]);

  expect((await fleet.client.get(CloneSet, on("hub"))).spec.replicas).toBe(10);
  const [policy] = (await fleet.client.list(PropagationPolicy, { cluster: "hub", namespace: "shop" })).items;
  expect(policy?.spec).toMatchObject({
    conflictResolution: "Overwrite",
    preserveResourcesOnDeletion: true,
    resourceSelectors: [{ kind: "CloneSet", name: "web" }],
  });
  expect(
    policy?.spec.placement?.replicaScheduling?.weightPreference?.staticWeightList?.map(({ targetCluster, weight }) => [
      targetCluster.clusterNames,
      weight,
    ]),
  ).toEqual([
    [["member1"], 6],
    [["member2"], 4],
  ]);
  await fleet.client.patch(CloneSet, on("hub"), { spec: { replicas: 20 } }, { type: "merge" });
  await fleet.run(SETTLED_MS);
  expect((await fleet.client.get(CloneSet, on("member1"))).spec.replicas).toBe(12);
});

test("a rollout stopped at its partition stays there after adoption, and continues from the hub", async () => {
  const release = (replicas: number, partition: number) => ({
    spec: {
      replicas,
      template: { spec: { containers: [{ name: "web", image: "web:2" }] } },
      updateStrategy: { rollingUpdate: { partition } },
    },
  });
  await fleet.create("member1", cloneSet(6));
  await fleet.create("member2", cloneSet(4));
  await fleet.run(SETTLED_MS);
  await fleet.client.patch(CloneSet, on("member1"), release(6, 3), { type: "merge" });
  await fleet.client.patch(CloneSet, on("member2"), release(4, 2), { type: "merge" });
  await fleet.run(60_000);
  const before = await fleet.running();
  expect(before.filter((line) => line.includes('["web:1"]'))).toHaveLength(5);

  await fleet.adopt(["cloneset", "web", "--from", "member1,member2"]);

  expect(await fleet.running()).toEqual(before);
  expect((await fleet.client.get(CloneSet, on("hub"))).spec.updateStrategy?.rollingUpdate?.partition).toBe(5);
  await fleet.client.patch(
    CloneSet,
    on("hub"),
    { spec: { updateStrategy: { rollingUpdate: { partition: 0 } } } },
    { type: "merge" },
  );
  await fleet.run(60_000);
  expect((await fleet.running()).filter((line) => line.includes('["web:1"]'))).toEqual([]);
});

test("dependencies of a workload are adopted with it on request, and reported otherwise", async () => {
  const settings = {
    apiVersion: "v1",
    kind: "ConfigMap",
    metadata: { namespace: "shop", name: "settings" },
    data: { colour: "blue" },
  } as KubernetesObject;
  const password = {
    apiVersion: "v1",
    kind: "Secret",
    metadata: { namespace: "shop", name: "password" },
    data: { word: "c2VjcmV0" },
  } as KubernetesObject;
  const needing = makeDeployment("shop/web")
    .with(({ spec }) =>
      Object.assign(spec.template.spec?.containers[0] ?? {}, {
        envFrom: [{ configMapRef: { name: "settings" } }, { secretRef: { name: "password" } }],
      }),
    )
    .build();
  for (const cluster of ["member1", "member2"]) await fleet.create(cluster, settings, password, needing);
  await fleet.run(SETTLED_MS);
  const before = await fleet.running();

  const reported = await fleet.adopt(["deployment", "web", "--from", "member1,member2", "--dry-run"]);
  const text = await fleet.adopt(["deployment", "web", "--from", "member1,member2", "--deps"]);

  expect(reported).toContain(
    "Deployment shop/web depends on ConfigMap settings, Secret password, which stay unmanaged on the members; --deps adopts them too",
  );
  expect(text).toContain("ConfigMap shop/settings is adopted");
  expect(text).not.toContain("c2VjcmV0");
  expect(await fleet.running()).toEqual(before);
  for (const cluster of ["member1", "member2"]) {
    expect(
      (await fleet.client.get(ConfigMap, { cluster, namespace: "shop", name: "settings" })).metadata.labels,
    ).toMatchObject({ "karmada.io/managed": "true" });
    expect((await fleet.client.get(Secret, { cluster, namespace: "shop", name: "password" })).data).toEqual({
      word: "c2VjcmV0",
    });
  }
});

test("replicas managed by a member's autoscaler stay with it", async () => {
  await fleet.create("member1", deployment(3));
  await fleet.client.create(HorizontalPodAutoscaler, "member1", {
    apiVersion: "autoscaling/v2",
    kind: "HorizontalPodAutoscaler",
    metadata: { namespace: "shop", name: "web" },
    spec: {
      minReplicas: 3,
      maxReplicas: 9,
      scaleTargetRef: { apiVersion: "apps/v1", kind: "Deployment", name: "web" },
    },
  });
  await fleet.run(SETTLED_MS);
  const scaled = async (text: string): Promise<void> => {
    // Between the plan and the final check.
    if (text.startsWith("waiting for the hub"))
      await fleet.client.patch(Deployment, on("member1"), { spec: { replicas: 4 } }, { type: "merge" });
  };

  await fleet.adopt(["deployment", "web", "--from", "member1"], { onProgress: (text) => void scaled(text) });

  expect((await fleet.client.get(Deployment, on("member1"))).spec.replicas).toBe(4);
  expect((await fleet.client.get(Deployment, on("member1"))).metadata.labels).toMatchObject({
    "karmada.io/managed": "true",
  });
});

test("all objects of a type are adopted in place, except for those owned by a controller", async () => {
  await fleet.create("member1", deployment(1), makeDeployment("shop/api").replicas(2).build());
  await fleet.create("member2", makeDeployment("shop/api").replicas(1).build());
  await fleet.run(SETTLED_MS);
  const before = await fleet.running();

  await fleet.adopt(["deployment", "--all", "--from", "member1,member2"]);
  const nothing = await fleet.adopt(["replicaset", "--all", "--from", "member1,member2"]);

  expect(await fleet.running()).toEqual(before);
  expect(
    (await fleet.client.list(ResourceBinding, { cluster: "hub", namespace: "shop" })).items.map(
      ({ metadata, spec }) => [metadata.name, spec.clusters?.map(({ name, replicas }) => `${name}=${replicas}`)],
    ),
  ).toEqual([
    ["api-deployment", ["member1=2", "member2=1"]],
    ["web-deployment", ["member1=1"]],
  ]);
  expect(nothing).toBe("Nothing to do.\n");
});

test("an existing policy is used if it keeps the object in place", async () => {
  await fleet.create(
    "hub",
    makePolicy("shop/all").selects("apps/v1", "Deployment").weights({ member1: 2, member2: 1 }).build(),
  );
  await fleet.create("member1", deployment(4));
  await fleet.create("member2", deployment(2));
  await fleet.run(SETTLED_MS);
  const before = await fleet.running();

  await fleet.adopt(["deployment", "web", "--from", "member1,member2", "--policy", "all"]);

  expect(await fleet.running()).toEqual(before);
  expect((await fleet.client.list(PropagationPolicy, { cluster: "hub" })).items).toHaveLength(1);
});

test("a cluster-scoped object is adopted with a ClusterPropagationPolicy", async () => {
  const role = {
    apiVersion: "rbac.authorization.k8s.io/v1",
    kind: "ClusterRole",
    metadata: { name: "reader" },
    rules: [{ apiGroups: [""], resources: ["pods"], verbs: ["get"] }],
  } as KubernetesObject;
  for (const cluster of ["member1", "member2"]) await fleet.create(cluster, role);

  const text = await fleet.adopt(["clusterrole/reader", "--from", "member1,member2"]);

  expect(text).toContain("ClusterRole reader: with ClusterPropagationPolicy reader-");
  for (const cluster of ["member1", "member2"])
    expect((await fleet.client.get(ClusterRole, { cluster, name: "reader" })).metadata.labels).toMatchObject({
      "karmada.io/managed": "true",
    });
});

test("deleting the template keeps all workloads running and deletes the policies created for it", async () => {
  const needing = (replicas: number): Deployment =>
    makeDeployment("shop/web")
      .replicas(replicas)
      .with(({ spec }) =>
        Object.assign(spec.template.spec?.containers[0] ?? {}, { envFrom: [{ configMapRef: { name: "settings" } }] }),
      )
      .build();
  for (const [cluster, replicas] of [
    ["member1", 3],
    ["member2", 1],
  ] as const)
    await fleet.create(
      cluster,
      {
        apiVersion: "v1",
        kind: "ConfigMap",
        metadata: { namespace: "shop", name: "settings" },
        data: { colour: cluster },
      } as KubernetesObject,
      needing(replicas),
    );
  await fleet.run(SETTLED_MS);
  const before = await fleet.running();
  await fleet.adopt(["deployment", "web", "--from", "member1,member2", "--deps", "--overrides"]);

  await fleet.client.delete(Deployment, on("hub"));
  await fleet.run(SETTLED_MS);

  expect(await fleet.running()).toEqual(before);
  expect((await fleet.client.get(ConfigMap, { cluster: "member2", namespace: "shop", name: "settings" })).data).toEqual(
    { colour: "member2" },
  );
  expect((await fleet.client.list(PropagationPolicy, { cluster: "hub" })).items).toEqual([]);
  await fleet.adopt(["deployment", "web", "--from", "member1"]);
  expect(await fleet.running()).toEqual(before);
});

/**
 * The requests of `karmadactl promote deployment web -n shop -C member1`: the stripped object, then a policy for that
 * one member.
 */
test("a stock promote changes no pod", async () => {
  await fleet.create("member1", deployment(3));
  await fleet.run(SETTLED_MS);
  const before = await fleet.running();
  const { status: _status, metadata, ...rest } = await fleet.client.get(Deployment, on("member1"));
  const { "deployment.kubernetes.io/revision": _revision, ...annotations } = metadata.annotations ?? {};

  await fleet.create("hub", {
    ...rest,
    metadata: {
      namespace: "shop",
      name: "web",
      annotations: { ...annotations, "work.karmada.io/conflict-resolution": "overwrite" },
    },
  });
  await fleet.create("hub", {
    apiVersion: "policy.karmada.io/v1alpha1",
    kind: "PropagationPolicy",
    metadata: { namespace: "shop", name: "web-5fc9dcb4b8" },
    spec: {
      resourceSelectors: [{ apiVersion: "apps/v1", kind: "Deployment", name: "web" }],
      placement: { clusterAffinity: { clusterNames: ["member1"] } },
      conflictResolution: "Overwrite",
      preserveResourcesOnDeletion: true,
    },
  } as unknown as KubernetesObject);
  await fleet.run(SETTLED_MS);

  expect((await fleet.client.get(Deployment, on("member1"))).metadata.labels).toMatchObject({
    "karmada.io/managed": "true",
  });
  expect(await fleet.running()).toEqual(before);
  expect(await fleet.adopt(["deployment", "web", "--from", "member1"])).toContain(
    "Deployment shop/web is already adopted",
  );
});
