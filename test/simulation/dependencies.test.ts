/** Dependencies of workloads follow them to their members, and are removed when no workload needs them. */
import { afterEach, expect, test } from "vitest";
import {
  Cluster,
  ClusterPropagationPolicy,
  PropagationPolicy,
  ResourceBinding,
  ResourceInterpreterCustomization,
} from "@flotilla/karmada";
import { ClusterRole, ConfigMap, Deployment, Event, Namespace, Secret } from "@flotilla/kubernetes";
import { UnreachableError } from "@flotilla/client";
import { createLastingEngine, startTestFleet } from "@flotilla/testing/fleet/fleet.ts";
import type { TestFleet, TestFleetOptions } from "@flotilla/testing/fleet/fleet.ts";
import { makeDeployment, makePolicy } from "@flotilla/testing/builders.ts";

const SETTLED_MS = 20_000;

let fleet: TestFleet;
afterEach(() => fleet.stop());

const configMap = (name: string, labels: Record<string, string> = {}): ConfigMap => ({
  apiVersion: "v1",
  kind: "ConfigMap",
  metadata: { namespace: "shop", name, labels },
  data: { colour: "blue" },
});
const needing = (path: string, ...maps: string[]): Deployment =>
  makeDeployment(path)
    .replicas(2)
    .with(({ spec }) => {
      const [container] = spec.template.spec?.containers ?? [];
      if (container) container.envFrom = maps.map((name) => ({ configMapRef: { name } }));
    })
    .build();
const policy = (
  name: string,
  workload: string,
  clusters: string[],
  change: (spec: PropagationPolicy["spec"]) => void = () => {},
): PropagationPolicy =>
  makePolicy(`shop/${name}`)
    .selects("apps/v1", "Deployment", workload)
    .duplicates(...clusters)
    .with(({ spec }) => {
      spec.propagateDeps = true;
      change(spec);
    })
    .build();

async function start(options: Partial<TestFleetOptions> = {}): Promise<void> {
  fleet = await startTestFleet({ members: ["member1", "member2", "member3"], ...options });
  await fleet.client.create(Namespace, "hub", { apiVersion: "v1", kind: "Namespace", metadata: { name: "shop" } });
}
const where = async (name: string): Promise<string[]> => {
  const found: string[] = [];
  for (const cluster of ["member1", "member2", "member3"]) {
    const { items } = await fleet.client.list(ConfigMap, { cluster, namespace: "shop" });
    if (items.some(({ metadata }) => metadata.name === name)) found.push(cluster);
  }
  return found;
};
const bindingOf = (name: string): Promise<unknown> =>
  fleet.client.get(ResourceBinding, { cluster: "hub", namespace: "shop", name: `${name}-configmap` });
async function expectSilence(): Promise<void> {
  fleet.resetWrites();
  await fleet.run(60_000);
  expect(fleet.writes()).toEqual([]);
}

test("a ConfigMap follows the Deployment that needs it, also when it is created later, and is removed with it", async () => {
  await start();
  await fleet.client.create(PropagationPolicy, "hub", policy("web", "web", ["member1", "member2"]));
  await fleet.client.create(Deployment, "hub", needing("shop/web", "settings"));
  await fleet.run(SETTLED_MS);
  expect(await where("settings")).toEqual([]);

  await fleet.client.create(ConfigMap, "hub", configMap("settings"));
  await fleet.run(SETTLED_MS);
  expect(await where("settings")).toEqual(["member1", "member2"]);
  expect(await bindingOf("settings")).toMatchObject({
    metadata: {
      labels: { "resourcebinding.karmada.io/depended-by-8546649456": expect.any(String) },
      ownerReferences: [{ kind: "ConfigMap", name: "settings" }],
    },
    spec: {
      requiredBy: [
        {
          namespace: "shop",
          name: "web-deployment",
          clusters: [
            { name: "member1", replicas: 2 },
            { name: "member2", replicas: 2 },
          ],
        },
      ],
      conflictResolution: "Abort",
    },
  });
  await expectSilence();

  await fleet.client.delete(Deployment, { cluster: "hub", namespace: "shop", name: "web" });
  await fleet.run(SETTLED_MS);
  expect(await where("settings")).toEqual([]);
  await expect(bindingOf("settings")).rejects.toThrow("not found");
  expect((await fleet.client.get(ConfigMap, { cluster: "hub", namespace: "shop", name: "settings" })).data).toEqual({
    colour: "blue",
  });
});

test("a dependency of two workloads is on the clusters of both, and stays for the remaining one; a conflict is reported", async () => {
  await start();
  await fleet.client.create(ConfigMap, "hub", configMap("settings"));
  await fleet.client.create(PropagationPolicy, "hub", policy("web", "web", ["member1"]));
  await fleet.client.create(
    PropagationPolicy,
    "hub",
    policy("api", "api", ["member2"], (spec) => (spec.conflictResolution = "Overwrite")),
  );
  await fleet.client.create(Deployment, "hub", needing("shop/web", "settings"));
  await fleet.client.create(Deployment, "hub", needing("shop/api", "settings"));
  await fleet.run(SETTLED_MS);

  expect(await where("settings")).toEqual(["member1", "member2"]);
  expect(await bindingOf("settings")).toMatchObject({
    spec: { conflictResolution: "Overwrite", requiredBy: [{ name: "api-deployment" }, { name: "web-deployment" }] },
  });
  const messages = (await fleet.client.list(Event, { cluster: "hub", namespace: "shop" })).items
    .filter(({ reason }) => reason === "DependencyPolicyConflict")
    .map(({ message }) => message);
  expect(messages).toEqual([
    "Dependency policy conflict detected: ConflictResolution conflicted (Overwrite vs Abort).",
  ]);

  await fleet.client.delete(Deployment, { cluster: "hub", namespace: "shop", name: "api" });
  await fleet.run(SETTLED_MS);
  expect(await where("settings")).toEqual(["member1"]);
  expect(await bindingOf("settings")).toMatchObject({
    spec: { conflictResolution: "Abort", requiredBy: [{ name: "web-deployment" }] },
  });
});

test("a dependency that a policy propagates as well keeps the policy's clusters when no workload needs it", async () => {
  await start();
  await fleet.client.create(ConfigMap, "hub", configMap("settings"));
  await fleet.client.create(
    PropagationPolicy,
    "hub",
    makePolicy("shop/maps").selects("v1", "ConfigMap", "settings").duplicates("member3").build(),
  );
  await fleet.client.create(PropagationPolicy, "hub", policy("web", "web", ["member1"]));
  await fleet.client.create(Deployment, "hub", needing("shop/web", "settings"));
  await fleet.run(SETTLED_MS);
  expect(await where("settings")).toEqual(["member1", "member3"]);

  await fleet.client.patch(
    PropagationPolicy,
    { cluster: "hub", namespace: "shop", name: "web" },
    { spec: { propagateDeps: false } },
    { type: "merge" },
  );
  await fleet.run(SETTLED_MS);

  expect(await where("settings")).toEqual(["member3"]);
  expect(await bindingOf("settings")).toMatchObject({ spec: { clusters: [{ name: "member3" }] } });
  await expectSilence();
});

test("a workload that changes its dependencies releases the previous ones", async () => {
  await start();
  await fleet.client.create(ConfigMap, "hub", configMap("old"));
  await fleet.client.create(ConfigMap, "hub", configMap("new"));
  await fleet.client.create(PropagationPolicy, "hub", policy("web", "web", ["member1"]));
  await fleet.client.create(Deployment, "hub", needing("shop/web", "old"));
  await fleet.run(SETTLED_MS);

  const web = await fleet.client.get(Deployment, { cluster: "hub", namespace: "shop", name: "web" });
  await fleet.client.update(Deployment, "hub", { ...web, spec: needing("shop/web", "new").spec });
  await fleet.run(SETTLED_MS);

  expect([await where("old"), await where("new")]).toEqual([[], ["member1"]]);
});

test("cluster-scoped workloads have dependencies too, also by labels; the hub's own objects are never propagated", async () => {
  await start();
  const luaScript = `function GetDependencies(obj)
    return {
      { apiVersion = "v1", kind = "ConfigMap", namespace = "shop", labelSelector = { matchLabels = { for = "role" } } },
      { apiVersion = "v1", kind = "Secret", namespace = "karmada-cluster", name = "credentials" },
    }
  end`.replace("{ for =", "{ ['for'] =");
  await fleet.client.create(ResourceInterpreterCustomization, "hub", {
    apiVersion: "config.karmada.io/v1alpha1",
    kind: "ResourceInterpreterCustomization",
    metadata: { name: "roles" },
    spec: {
      target: { apiVersion: "rbac.authorization.k8s.io/v1", kind: "ClusterRole" },
      customizations: { dependencyInterpretation: { luaScript } },
    },
  });
  await fleet.client.create(Secret, "hub", {
    apiVersion: "v1",
    kind: "Secret",
    metadata: { namespace: "karmada-cluster", name: "credentials" },
  });
  await fleet.client.create(ConfigMap, "hub", configMap("first", { for: "role" }));
  await fleet.client.create(ConfigMap, "hub", configMap("other"));
  await fleet.client.create(ClusterPropagationPolicy, "hub", {
    apiVersion: "policy.karmada.io/v1alpha1",
    kind: "ClusterPropagationPolicy",
    metadata: { name: "roles" },
    spec: {
      resourceSelectors: [{ apiVersion: "rbac.authorization.k8s.io/v1", kind: "ClusterRole", name: "shopper" }],
      propagateDeps: true,
      placement: { clusterAffinity: { clusterNames: ["member2"] } },
    },
  });
  await fleet.client.create(ClusterRole, "hub", {
    apiVersion: "rbac.authorization.k8s.io/v1",
    kind: "ClusterRole",
    metadata: { name: "shopper" },
    rules: [],
  });
  await fleet.run(SETTLED_MS);
  expect([await where("first"), await where("other")]).toEqual([["member2"], []]);
  expect((await fleet.client.list(Secret, { cluster: "member2", namespace: "karmada-cluster" })).items).toEqual([]);
  expect(await bindingOf("first")).toMatchObject({
    spec: { requiredBy: [{ name: "shopper-clusterrole", clusters: [{ name: "member2" }] }] },
  });

  await fleet.client.patch(
    ConfigMap,
    { cluster: "hub", namespace: "shop", name: "first" },
    { metadata: { labels: { for: null } } },
    { type: "merge" },
  );
  await fleet.client.patch(
    ConfigMap,
    { cluster: "hub", namespace: "shop", name: "other" },
    { metadata: { labels: { for: "role" } } },
    { type: "merge" },
  );
  await fleet.run(SETTLED_MS);
  expect([await where("first"), await where("other")]).toEqual([[], ["member2"]]);
});

test("a dependency stays on a member that is being left until the workload is deleted there", async () => {
  await start();
  await fleet.client.create(ConfigMap, "hub", configMap("settings"));
  await fleet.client.create(
    PropagationPolicy,
    "hub",
    policy("web", "web", [], (spec) => {
      spec.failover = { cluster: { purgeMode: "Gracefully" } };
      spec.placement = {
        clusterAffinity: { clusterNames: ["member1", "member2"] },
        spreadConstraints: [{ spreadByField: "cluster", minGroups: 1, maxGroups: 1 }],
      };
    }),
  );
  await fleet.client.create(Deployment, "hub", needing("shop/web", "settings"));
  await fleet.run(SETTLED_MS);
  const [from = ""] = await where("settings");
  const to = from === "member1" ? "member2" : "member1";

  await fleet.client.patch(
    Cluster,
    { cluster: "hub", name: from },
    { spec: { taints: [{ key: "drain", effect: "NoExecute" }] } },
    { type: "merge" },
  );
  await fleet.run(SETTLED_MS);
  expect(await where("settings")).toEqual(["member1", "member2"]);

  await fleet.run(600_000);
  expect(await where("settings")).toEqual([to]);
});

test("a restarted fleet keeps dependencies in place, and releases those that became unneeded while it was stopped", async () => {
  const engine = createLastingEngine();
  await start({ engine });
  await fleet.client.create(ConfigMap, "hub", configMap("settings"));
  await fleet.client.create(PropagationPolicy, "hub", policy("web", "web", ["member1"]));
  await fleet.client.create(Deployment, "hub", needing("shop/web", "settings"));
  await fleet.run(SETTLED_MS);
  await fleet.stop();

  fleet = await startTestFleet({ members: ["member1", "member2", "member3"], engine });
  await fleet.run(60_000);
  expect(fleet.writes()).toEqual([]);

  const web = { cluster: "hub", namespace: "shop", name: "web-deployment" };
  await fleet.stop();
  // The annotation is removed while the fleet is stopped.
  fleet = await startTestFleet({
    members: ["member1", "member2", "member3"],
    engine,
    wrap: (transport, part) =>
      part === "dependencies"
        ? { ...transport, send: () => Promise.resolve().then(() => Promise.reject(new UnreachableError("not yet"))) }
        : transport,
  });
  await fleet.client.patch(
    ResourceBinding,
    web,
    { metadata: { annotations: { "resourcebinding.karmada.io/dependencies": null } }, spec: { propagateDeps: false } },
    { type: "merge" },
  );
  await fleet.client.patch(
    PropagationPolicy,
    { cluster: "hub", namespace: "shop", name: "web" },
    { spec: { propagateDeps: false } },
    { type: "merge" },
  );
  await fleet.run(SETTLED_MS);
  expect(await where("settings")).toEqual(["member1"]);
  await fleet.stop();

  fleet = await startTestFleet({ members: ["member1", "member2", "member3"], engine });
  await fleet.run(SETTLED_MS);
  expect(await where("settings")).toEqual([]);
});
