/** Quotas of two clusters on one server: creations, deletions and changes show in their status. */
import { afterEach, expect, test } from "vitest";
import { dynamicKind, type KubernetesObject } from "@flotilla/apimachinery";
import { ConfigMap } from "../../configmap/configmap-kind.ts";
import { CustomResourceDefinition } from "../../customresourcedefinition/customresourcedefinition-kind.ts";
import { Namespace } from "../../namespace/namespace-kind.ts";
import { Pod } from "../../pod/pod-kind.ts";
import { ResourceQuota } from "../../resourcequota/resourcequota-kind.ts";
import { Secret } from "../../secret/secret-kind.ts";
import { ServiceAccount } from "../../serviceaccount/serviceaccount-kind.ts";
import { createSeededRandom, silentLog } from "@flotilla/base";
import { createClient } from "@flotilla/client";
import { createInformers, createManager } from "@flotilla/controller-runtime";
import { createTestServer } from "@flotilla/testing/api-server.ts";
import { countWrites } from "@flotilla/testing/count-writes.ts";
import { reconcileUntilQuiet } from "@flotilla/testing/reconcile-until-quiet.ts";
import { createQuotaController } from "./quota-controller.ts";

const profile = {
  builtIns: [Namespace, ConfigMap, Secret, ServiceAccount, Pod, ResourceQuota, CustomResourceDefinition],
  customs: [],
  objects: [
    { apiVersion: "v1", kind: "Namespace", metadata: { name: "shop" } },
    { apiVersion: "v1", kind: "ServiceAccount", metadata: { name: "default", namespace: "shop" } },
  ],
};
const Widget = dynamicKind({
  group: "example.com",
  version: "v1",
  kind: "Widget",
  plural: "widgets",
  scope: "Namespaced",
});
const stops: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const stop of stops.splice(0)) await stop();
});

const named = (kind: string, name: string, rest: object = {}): KubernetesObject => ({
  apiVersion: "v1",
  kind,
  metadata: { name, namespace: "shop" },
  ...rest,
});

async function start() {
  const { server, clock, transport } = await createTestServer({
    profiles: { p: profile },
    clusters: { hub: "p", member1: "p" },
  });
  const counter = countWrites(transport);
  const controllerClient = createClient({ transport: counter.transport, fieldManager: "controllers" });
  const informers = createInformers({
    client: controllerClient,
    clock,
    log: silentLog,
    scope: { cluster: "*" },
    random: createSeededRandom(1),
  });
  const manager = createManager({ client: controllerClient, informers, clock, log: silentLog });
  manager.add(createQuotaController({ client: controllerClient, informers, clock, log: silentLog, home: "hub" }));
  manager.start(new AbortController().signal);
  stops.push(async () => {
    await manager.stop();
    informers.close();
    await server.close();
  });
  const client = createClient({ transport, fieldManager: "user" });
  const settle = (): Promise<void> => reconcileUntilQuiet({ managers: [manager], server });
  return {
    client,
    clock,
    writes: counter,
    settle,
    async makeQuota(hard: Record<string, string>, cluster = "member1") {
      await client.create(ResourceQuota, cluster, named("ResourceQuota", "q", { spec: { hard } }));
      await settle();
    },
    async used(cluster = "member1") {
      return (await client.get(ResourceQuota, { cluster, namespace: "shop", name: "q" })).status?.used;
    },
  };
}

test("a new quota reports the existing usage of its own cluster", async () => {
  const { client, makeQuota, used } = await start();
  await client.create(ConfigMap, "member1", named("ConfigMap", "a"));
  await client.create(ConfigMap, "hub", named("ConfigMap", "b"));

  await makeQuota({ "count/configmaps": "5", secrets: "1" });

  expect(await used()).toEqual({ "count/configmaps": "1", secrets: "0" });
});

test("a deletion lowers the usage", async () => {
  const { client, makeQuota, settle, used } = await start();
  await makeQuota({ secrets: "1" });
  await client.create(Secret, "member1", named("Secret", "a"));
  await expect(client.create(Secret, "member1", named("Secret", "b"))).rejects.toThrow(/exceeded quota/);

  await client.delete(Secret, { cluster: "member1", namespace: "shop", name: "a" });
  await settle();

  expect(await used()).toEqual({ secrets: "0" });
  await client.create(Secret, "member1", named("Secret", "b"));
});

test("a changed limit applies at once", async () => {
  const { client, makeQuota, settle } = await start();
  await makeQuota({ secrets: "1" });

  await client.patch(
    ResourceQuota,
    { cluster: "member1", namespace: "shop", name: "q" },
    { spec: { hard: { secrets: "2" } } },
    { type: "merge" },
  );
  await settle();

  const { status } = await client.get(ResourceQuota, { cluster: "member1", namespace: "shop", name: "q" });
  expect(status).toEqual({ hard: { secrets: "2" }, used: { secrets: "0" } });
});

test("counts custom resources once they are served", async () => {
  const { client, clock, makeQuota, settle, used } = await start();
  await makeQuota({ "count/widgets.example.com": "5" });
  expect(await used()).toBeUndefined();

  const spec: CustomResourceDefinition["spec"] = {
    group: "example.com",
    scope: "Namespaced",
    names: { plural: "widgets", kind: "Widget" },
    versions: [{ name: "v1", served: true, storage: true, schema: { openAPIV3Schema: { type: "object" } } }],
  };
  await client.create(CustomResourceDefinition, "member1", {
    apiVersion: "apiextensions.k8s.io/v1",
    kind: "CustomResourceDefinition",
    metadata: { name: "widgets.example.com" },
    spec,
  });
  clock.advance(10_000);
  await settle();
  await client.create(Widget, "member1", {
    apiVersion: "example.com/v1",
    kind: "Widget",
    metadata: { name: "w", namespace: "shop" },
  });

  expect(await used()).toEqual({ "count/widgets.example.com": "1" });
});

test("corrects limits that a client wrote into the status", async () => {
  const { client, makeQuota, settle } = await start();
  await makeQuota({ secrets: "2" });
  const key = { cluster: "member1", namespace: "shop", name: "q" };

  await client.updateStatus(ResourceQuota, "member1", {
    ...(await client.get(ResourceQuota, key)),
    status: { hard: { secrets: "9" }, used: { secrets: "0" } },
  });
  await settle();

  expect((await client.get(ResourceQuota, key)).status).toEqual({ hard: { secrets: "2" }, used: { secrets: "0" } });
});

test("a pod that gets activeDeadlineSeconds moves to the Terminating scope", async () => {
  const { client, settle, used } = await start();
  await client.create(
    ResourceQuota,
    "member1",
    named("ResourceQuota", "q", { spec: { hard: { pods: "5" }, scopes: ["NotTerminating"] } }),
  );
  await settle();
  await client.create(
    Pod,
    "member1",
    named("Pod", "p", {
      spec: { automountServiceAccountToken: false, containers: [{ name: "main", image: "web:1" }] },
    }) as Pod,
  );
  const before = await used();

  await client.patch(
    Pod,
    { cluster: "member1", namespace: "shop", name: "p" },
    { spec: { activeDeadlineSeconds: 60 } },
    { type: "merge" },
  );
  await settle();

  expect([before, await used()]).toEqual([{ pods: "1" }, { pods: "0" }]);
});

test("writes nothing when the status is up to date", async () => {
  const { clock, makeQuota, settle, writes } = await start();
  await makeQuota({ secrets: "1", "count/configmaps": "1" });
  writes.reset();

  clock.advance(600_000);
  await settle();

  expect(writes.total()).toBe(0);
});
