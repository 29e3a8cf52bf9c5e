/** A fleet that restarts on its data continues: it finds everything in place and writes nothing. */
import { expect, test } from "vitest";
import { CloneSet } from "@flotilla/openkruise";
import { findCondition } from "@flotilla/apimachinery";
import { ConfigMap, Deployment, Namespace } from "@flotilla/kubernetes";
import { Cluster, PropagationPolicy, ResourceBinding } from "@flotilla/karmada";
import { createLastingEngine, startTestFleet } from "@flotilla/testing/fleet/fleet.ts";
import { makeCloneSet, makeDeployment, makePolicy } from "@flotilla/testing/builders.ts";

test("a converged fleet that restarts writes nothing", async () => {
  // The process restarts; the store stays.
  const engine = createLastingEngine();
  const options = { members: ["member1", "member2"], nodes: 2, engine };
  const first = await startTestFleet(options);
  await first.client.create(Namespace, "hub", { apiVersion: "v1", kind: "Namespace", metadata: { name: "shop" } });
  await first.client.create(
    PropagationPolicy,
    "hub",
    makePolicy("shop/all")
      .selects("apps/v1", "Deployment")
      .selects("apps.kruise.io/v1beta1", "CloneSet")
      .weights({ member1: 2, member2: 1 })
      .build(),
  );
  await first.client.create(Deployment, "hub", makeDeployment("shop/web").replicas(3).build());
  await first.client.create(CloneSet, "hub", makeCloneSet("shop/cart").replicas(6).build());
  await first.run(30_000);
  expect((await first.client.get(CloneSet, { cluster: "hub", namespace: "shop", name: "cart" })).status).toMatchObject({
    readyReplicas: 6,
  });
  await first.stop();

  const second = await startTestFleet(options);
  await second.run(120_000);

  expect(second.writes()).toEqual([]);
  await second.stop();
});

test("a hub that restarts while a member is unreachable keeps what it knows of that member, and marks it as stale", async () => {
  const engine = createLastingEngine();
  const options = { members: ["member1", "member2"], nodes: 2, engine };
  const key = { cluster: "hub", namespace: "shop" };
  const first = await startTestFleet(options);
  const { client } = first;
  await client.create(Namespace, "hub", { apiVersion: "v1", kind: "Namespace", metadata: { name: "shop" } });
  await client.create(
    PropagationPolicy,
    "hub",
    makePolicy("shop/all")
      .selects("apps/v1", "Deployment")
      .selects("v1", "ConfigMap")
      .duplicates("member1", "member2")
      .build(),
  );
  await client.create(Deployment, "hub", makeDeployment("shop/web").replicas(2).build());
  await client.create(Deployment, "hub", makeDeployment("shop/late").replicas(2).build());
  const conf = { apiVersion: "v1" as const, kind: "ConfigMap" as const, metadata: { namespace: "shop", name: "conf" } };
  await client.create(ConfigMap, "hub", { ...conf, data: { a: "1" } });
  await first.run(30_000);
  await client.patch(ConfigMap, { ...key, name: "conf" }, { data: { a: "2" } }, { type: "merge" });
  await client.patch(Deployment, { ...key, name: "web" }, { spec: { replicas: 3 } }, { type: "merge" });
  await first.run(30_000);
  await client.patch(
    Cluster,
    { cluster: "hub", name: "member2" },
    { metadata: { annotations: { "simulation.flotilla.dev/fault": "unreachable" } } },
    { type: "merge" },
  );
  await first.run(60_000);
  await client.patch(Deployment, { ...key, name: "late" }, { spec: { replicas: 3 } }, { type: "merge" });
  await first.run(10_000);
  await first.stop();

  const second = await startTestFleet(options);
  await second.run(120_000);

  const applied = await Promise.all(
    ["conf-configmap", "web-deployment", "late-deployment"].map(async (name) => {
      const { status } = await second.client.get(ResourceBinding, { ...key, name });
      const said = ["FullyApplied", "Stale"].map((type) => findCondition(status?.conditions, type)?.status);
      return [name, ...said].join(" ");
    }),
  );
  expect(applied).toEqual(["conf-configmap True ", "web-deployment True True", "late-deployment False True"]);
  await second.stop();
});
