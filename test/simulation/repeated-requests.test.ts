/**
 * What people change back and forth within minutes is a request each time. Only changes that Flotilla makes without one
 * are an oscillation, which stops writes to a member (docs/adr/0032).
 */
import { afterEach, expect, test } from "vitest";
import type { Kind } from "@flotilla/apimachinery";
import type { Json, JsonObject } from "@flotilla/base";
import { FleetRollout } from "@flotilla/flotilla";
import { Cluster, PropagationPolicy, Work, WorkloadRebalancer } from "@flotilla/karmada";
import { ConfigMap, Deployment, Namespace } from "@flotilla/kubernetes";
import { CloneSet } from "@flotilla/openkruise";
import { makeCloneSet, makeDeployment, makePolicy } from "@flotilla/testing/builders.ts";
import type { TestFleet } from "@flotilla/testing/fleet/fleet.ts";
import { createStrategy, startShop, WEB as web } from "./shop-fleet.ts";

const MEMBERS = ["member1", "member2"];

let fleet: TestFleet;
afterEach(() => fleet.stop());

async function start(labels?: Record<string, string>): Promise<void> {
  const policy = makePolicy("shop/all")
    .selects("apps/v1", "Deployment")
    .with(({ spec }) => {
      spec.resourceSelectors.push({ apiVersion: "apps.kruise.io/v1beta1", kind: "CloneSet" });
      spec.resourceSelectors.push({ apiVersion: "v1", kind: "ConfigMap" });
    })
    .weights({ member1: 1, member2: 1 });
  fleet = await startShop(MEMBERS, policy.build());
  const { client } = fleet;
  await createStrategy(client, { waves: [{ name: "all" }], maxUnavailable: 1 });
  const cloneSet = makeCloneSet("shop/web").replicas(6).build();
  cloneSet.metadata.labels = labels;
  await client.create(CloneSet, "hub", cloneSet);
  await client.create(Deployment, "hub", makeDeployment("shop/web").replicas(4).build());
  await client.create(ConfigMap, "hub", {
    apiVersion: "v1",
    kind: "ConfigMap",
    metadata: { name: "web", namespace: "shop" },
    data: { debug: "off" },
  });
  await fleet.run(20_000);
}

const patch = (kind: Kind, body: JsonObject, key: { cluster: string; name: string; namespace?: string } = web) =>
  fleet.client.patch(kind, key, body, { type: "merge" });

/** The Works that a member does not have. */
async function stopped(): Promise<string[]> {
  const { items } = await fleet.client.list(Work, { cluster: "hub" });
  return items.flatMap(({ metadata, status }) =>
    (status?.conditions ?? [])
      .filter(({ type, status: value }) => type === "Applied" && value === "False")
      .map(({ reason, message }) => `${metadata.namespace}/${metadata.name}: ${reason}: ${message}`),
  );
}

const TOGGLES = 6;
const toggled: Record<string, (isOn: boolean) => Promise<unknown>> = {
  "the data of a ConfigMap, which has no generation": (isOn) =>
    patch(ConfigMap, { data: { debug: isOn ? "on" : "off" } }),
  "the labels of a template": (isOn) => patch(Deployment, { metadata: { labels: { tier: isOn ? "a" : "b" } } }),
  "the labels of a namespace": (isOn) =>
    patch(Namespace, { metadata: { labels: { tier: isOn ? "a" : "b" } } }, { cluster: "hub", name: "shop" }),
  "the pause of a template": (isOn) => patch(Deployment, { spec: { paused: isOn } }),
  "the weights of a policy": (isOn) => {
    const { placement } = makePolicy("shop/all")
      .weights({ member1: 1, member2: isOn ? 3 : 1 })
      .build().spec;
    return patch(PropagationPolicy, { spec: { placement } } as unknown as JsonObject, { ...web, name: "all" });
  },
};

test.each(Object.entries(toggled))("%s may be changed back and forth by a person", async (_what, toggle) => {
  await start();

  for (let times = 0; times < TOGGLES; times++) {
    await toggle(times % 2 === 0);
    await fleet.run(20_000);
  }

  expect(await stopped()).toEqual([]);
});

test("a member may be drained and uncordoned again and again", async () => {
  await start();
  const drain: Json = [{ key: "flotilla.dev/drain", effect: "NoExecute" }];

  for (let times = 0; times < TOGGLES; times++) {
    await patch(Cluster, { spec: { taints: times % 2 === 0 ? drain : [] } }, { cluster: "hub", name: "member2" });
    await fleet.client.create(WorkloadRebalancer, "hub", {
      apiVersion: "apps.karmada.io/v1alpha1",
      kind: "WorkloadRebalancer",
      metadata: { name: `again-${times}` },
      spec: { workloads: [{ apiVersion: "apps/v1", kind: "Deployment", namespace: "shop", name: "web" }] },
    });
    await fleet.run(30_000);
  }

  expect(await stopped()).toEqual([]);
});

test("a release may be paused and resumed again and again, and completes", async () => {
  await start({ release: "careful" });
  await patch(CloneSet, { spec: { template: { spec: { containers: [{ name: "web", image: "web:2" }] } } } });
  await fleet.run(1_000);
  const { items } = await fleet.client.list(FleetRollout, { cluster: "hub", namespace: "shop" });
  const name = items.find(({ spec }) => spec.number === 2)?.metadata.name ?? "";
  const key = { ...web, name };

  for (let times = 0; times < TOGGLES; times++) {
    await patch(FleetRollout, { spec: { paused: true } }, key);
    await fleet.run(1_000);
    await patch(FleetRollout, { spec: { paused: false } }, key);
    await fleet.run(200);
  }
  expect(await stopped()).toEqual([]);
  await fleet.run(60_000);

  expect((await fleet.client.get(FleetRollout, key)).status).toMatchObject({ phase: "Succeeded", updated: 6 });
});
