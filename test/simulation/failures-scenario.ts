/**
 * A scenario of a few minutes that exercises every stage of the pipeline, in both scopes, for tests that disturb it:
 * the actions of users and members in each chapter, the checks after it, and the expected final state whatever happened
 * in between.
 */
import { expect } from "vitest";
import {
  Cluster,
  clusterNameOf,
  ClusterPropagationPolicy,
  ClusterResourceBinding,
  PropagationPolicy,
  ResourceBinding,
  Work,
  WorkloadRebalancer,
} from "@flotilla/karmada";
import { ClusterRole, ConfigMap, Deployment, Namespace } from "@flotilla/kubernetes";
import { isConditionTrue } from "@flotilla/apimachinery";
import { copy } from "@flotilla/base";
import type { DeepReadonly } from "@flotilla/base";
import { find } from "@flotilla/client";
import type { TestFleet } from "@flotilla/testing/fleet/fleet.ts";
import { makeDeployment, makePolicy } from "@flotilla/testing/builders.ts";

export const MEMBERS = ["member1", "member2"];
const ROLE = { apiVersion: "rbac.authorization.k8s.io/v1", kind: "ClusterRole" } as const;
const ONE = [{ spreadByField: "cluster", minGroups: 1, maxGroups: 1 }] as const;

export interface Chapter {
  name: string;
  act(fleet: TestFleet): Promise<void>;
  /** How long it takes without disturbances. */
  runMs: number;
  /** Checks the result. */
  check?(fleet: TestFleet): Promise<void>;
}

const key = (name: string, cluster = "hub") => ({ cluster, namespace: "shop", name });
const targetsOf = async ({ client }: TestFleet, name: string): Promise<string[]> =>
  ((await client.get(ResourceBinding, key(`${name}-deployment`))).spec.clusters ?? []).map((target) => target.name);

/** Plays the members' controllers: reports all requested replicas as ready. */
async function reportAll({ client }: TestFleet): Promise<void> {
  for (const cluster of MEMBERS) {
    for (const deployment of (await client.list(Deployment, { cluster, namespace: "shop" })).items) {
      const replicas = deployment.spec.replicas ?? 0;
      await client.updateStatus(Deployment, cluster, {
        ...copy(deployment),
        status: {
          observedGeneration: deployment.metadata.generation,
          replicas,
          updatedReplicas: replicas,
          readyReplicas: replicas,
          availableReplicas: replicas,
        },
      });
    }
  }
}

async function taintTarget(fleet: TestFleet): Promise<void> {
  const [from = ""] = await targetsOf(fleet, "web");
  await fleet.client.patch(
    Cluster,
    { cluster: "hub", name: from },
    { spec: { taints: [{ key: "drain", effect: "NoExecute" }] } },
    { type: "merge" },
  );
}

export const story: readonly Chapter[] = [
  {
    name: "workloads and policies are applied",
    async act({ client }) {
      await client.create(Namespace, "hub", { apiVersion: "v1", kind: "Namespace", metadata: { name: "shop" } });
      const web = makePolicy("shop/web")
        .selects("apps/v1", "Deployment", "web")
        .with(({ spec }) => {
          spec.propagateDeps = true;
          spec.failover = { cluster: { purgeMode: "Gracefully" } };
          spec.placement = { clusterAffinity: { clusterNames: MEMBERS }, spreadConstraints: [...ONE] };
        });
      await client.create(PropagationPolicy, "hub", web.build());
      await client.create(
        PropagationPolicy,
        "hub",
        makePolicy("shop/api").selects("apps/v1", "Deployment", "api").weights({ member1: 1, member2: 1 }).build(),
      );
      await client.create(ClusterPropagationPolicy, "hub", {
        apiVersion: "policy.karmada.io/v1alpha1",
        kind: "ClusterPropagationPolicy",
        metadata: { name: "roles" },
        spec: {
          resourceSelectors: [{ ...ROLE, name: "reader" }],
          failover: { cluster: {} },
          placement: { clusterAffinity: { clusterNames: MEMBERS }, spreadConstraints: [...ONE] },
        },
      });
      await client.create(ConfigMap, "hub", {
        apiVersion: "v1",
        kind: "ConfigMap",
        metadata: { namespace: "shop", name: "settings" },
        data: { colour: "blue" },
      });
      await client.create(
        Deployment,
        "hub",
        makeDeployment("shop/web")
          .replicas(2)
          .with(
            ({ spec }) =>
              (spec.template.spec = {
                containers: [{ name: "web", image: "web:1", envFrom: [{ configMapRef: { name: "settings" } }] }],
              }),
          )
          .build(),
      );
      await client.create(Deployment, "hub", makeDeployment("shop/api").replicas(4).build());
      await client.create(ClusterRole, "hub", { ...ROLE, metadata: { name: "reader" }, rules: [] });
    },
    runMs: 15_000,
    async check(fleet) {
      const [target = ""] = await targetsOf(fleet, "web");
      expect((await find(fleet.client, ConfigMap, key("settings", target)))?.data).toEqual({ colour: "blue" });
      expect(await targetsOf(fleet, "api")).toEqual(MEMBERS);
    },
  },
  { name: "members report", act: reportAll, runMs: 10_000 },
  {
    name: "a member must be left",
    act: taintTarget,
    runMs: 15_000,
    check: async (fleet) =>
      expect((await fleet.client.get(ResourceBinding, key("web-deployment"))).spec.gracefulEvictionTasks).toHaveLength(
        1,
      ),
  },
  {
    name: "the replacement is up",
    act: reportAll,
    runMs: 15_000,
    async check(fleet) {
      const { metadata, spec } = await fleet.client.get(ResourceBinding, key("web-deployment"));
      expect(spec.gracefulEvictionTasks ?? []).toEqual([]);
      expect(JSON.parse(metadata.annotations?.["flotilla.dev/moves"] ?? "[]")).toMatchObject([
        { cause: "TaintUntolerated", ending: "Replaced" },
      ]);
      const [target = ""] = await targetsOf(fleet, "web");
      for (const member of MEMBERS)
        expect((await find(fleet.client, ConfigMap, key("settings", member))) !== undefined).toBe(member === target);
    },
  },
  {
    name: "all members may be used, and workloads are rebalanced",
    async act({ client }) {
      for (const name of MEMBERS)
        await client.patch(Cluster, { cluster: "hub", name }, { spec: { taints: [] } }, { type: "merge" });
      await client.create(WorkloadRebalancer, "hub", {
        apiVersion: "apps.karmada.io/v1alpha1",
        kind: "WorkloadRebalancer",
        metadata: { name: "again" },
        spec: {
          workloads: [
            { apiVersion: "apps/v1", kind: "Deployment", namespace: "shop", name: "api" },
            { ...ROLE, name: "reader" },
          ],
        },
      });
    },
    runMs: 15_000,
    check: async ({ client }) =>
      expect(
        (await client.get(WorkloadRebalancer, { cluster: "hub", name: "again" })).status?.observedWorkloads?.map(
          ({ result }) => result,
        ),
      ).toEqual(["Successful", "Successful"]),
  },
  {
    name: "templates and a policy change",
    async act({ client }) {
      await client.patch(Deployment, key("api"), { spec: { replicas: 6 } }, { type: "merge" });
      await client.patch(
        PropagationPolicy,
        key("api"),
        { metadata: { annotations: { "flotilla.dev/drift": "report" } } },
        { type: "merge" },
      );
      await client.patch(ConfigMap, key("settings"), { data: { colour: "red" } }, { type: "merge" });
    },
    runMs: 15_000,
    async check(fleet) {
      const [target = ""] = await targetsOf(fleet, "web");
      expect((await find(fleet.client, ConfigMap, key("settings", target)))?.data).toEqual({ colour: "red" });
    },
  },
  { name: "members report again", act: reportAll, runMs: 10_000 },
  {
    name: "what is no longer wanted is deleted",
    async act({ client }) {
      await client.delete(Deployment, key("web"));
      await client.delete(ClusterRole, { cluster: "hub", name: "reader" });
    },
    runMs: 30_000,
  },
];

/** At any time: no orphaned copy runs, and no more replicas than requested besides those being evicted. */
export async function expectNoOrphans({ client }: TestFleet): Promise<void> {
  const bindings = [
    ...(await client.list(ResourceBinding, { cluster: "hub" })).items,
    ...(await client.list(ClusterResourceBinding, { cluster: "hub" })).items,
  ] as DeepReadonly<ResourceBinding>[];
  const wanted = new Set(
    bindings.flatMap(({ metadata, spec }) => {
      const places = [
        ...(spec.clusters ?? []),
        ...(spec.requiredBy ?? []).flatMap(({ clusters = [] }) => clusters),
      ].map(({ name }) => name);
      return [...places, ...(spec.gracefulEvictionTasks ?? []).map(({ fromCluster }) => fromCluster)].map(
        (cluster) => `${metadata.namespace ?? ""}/${metadata.name} ${cluster}`,
      );
    }),
  );
  const works = (await client.list(Work, { cluster: "hub" })).items.filter(
    ({ metadata }) => !metadata.labels?.["flotilla.dev/namespace"] && !metadata.deletionTimestamp,
  );
  const owners = works.map(
    ({ metadata: { annotations = {}, namespace = "" } }) =>
      `${annotations["resourcebinding.karmada.io/namespace"] ?? ""}/` +
      `${annotations["resourcebinding.karmada.io/name"] ?? annotations["clusterresourcebinding.karmada.io/name"] ?? ""} ` +
      (clusterNameOf(namespace) ?? ""),
  );
  expect(owners.filter((owner) => !wanted.has(owner))).toEqual([]);
  for (const { metadata, spec, status } of bindings) {
    // A workload that cannot be scheduled stays unchanged, even if its division changed.
    const isPlaced =
      status?.schedulerObservedGeneration === metadata.generation && isConditionTrue(status?.conditions, "Scheduled");
    if (isPlaced && spec.placement?.replicaScheduling?.replicaSchedulingType === "Divided")
      expect(spec.clusters?.reduce((sum, { replicas = 0 }) => sum + replicas, 0)).toBe(spec.replicas);
  }
}

/** The expected final state of the scenario. */
export async function expectEnd(fleet: TestFleet): Promise<void> {
  const { client } = fleet;
  const onMembers = await Promise.all(
    MEMBERS.map(async (cluster) => ({
      deployments: (await client.list(Deployment, { cluster, namespace: "shop" })).items.map(
        ({ metadata, spec }) => `${metadata.name}=${spec.replicas}`,
      ),
      configMaps: (await client.list(ConfigMap, { cluster, namespace: "shop" })).items
        .map(({ metadata }) => metadata.name)
        .filter((name) => name === "settings"),
      role: (await find(client, ClusterRole, { cluster, name: "reader" })) !== undefined,
    })),
  );
  expect(onMembers).toEqual(MEMBERS.map(() => ({ deployments: ["api=3"], configMaps: [], role: false })));
  expect((await client.get(Deployment, key("api"))).status).toMatchObject({ replicas: 6, readyReplicas: 6 });
  expect((await client.list(ResourceBinding, { cluster: "hub" })).items.map(({ metadata }) => metadata.name)).toEqual([
    "api-deployment",
  ]);
  expect((await client.list(ClusterResourceBinding, { cluster: "hub" })).items).toEqual([]);
  const works = (await client.list(Work, { cluster: "hub" })).items.filter(
    ({ metadata }) => !metadata.labels?.["flotilla.dev/namespace"],
  );
  expect(works.map(({ metadata }) => metadata.namespace)).toEqual(MEMBERS.map((member) => `karmada-es-${member}`));
  expect(await client.get(ResourceBinding, key("api-deployment"))).toMatchObject({
    status: {
      conditions: expect.arrayContaining([
        expect.objectContaining({ type: "FullyApplied", status: "True" }),
      ]) as unknown,
    },
  });
}
