/**
 * Works that the hub's own API server does not store: an admission policy of the hub denies them for one member. The
 * others get theirs, the binding names the cause, and delivery continues soon after the policy is gone.
 */
import { afterEach, beforeEach, expect, test } from "vitest";
import { findCondition } from "@flotilla/apimachinery";
import { PropagationPolicy, ResourceBinding } from "@flotilla/karmada";
import {
  Deployment,
  Event,
  Namespace,
  ValidatingAdmissionPolicy,
  ValidatingAdmissionPolicyBinding,
} from "@flotilla/kubernetes";
import { find } from "@flotilla/client";
import { startTestFleet } from "@flotilla/testing/fleet/fleet.ts";
import type { TestFleet } from "@flotilla/testing/fleet/fleet.ts";
import { makeDeployment, makePolicy } from "@flotilla/testing/builders.ts";
import { freeze } from "./health-manifests.ts";

const SETTLED_MS = 20_000;
const KEY = { namespace: "shop", name: "web" };
let fleet: TestFleet;
beforeEach(async () => {
  fleet = await startTestFleet({ members: ["member1", "member2"], nodes: 1 });
  const { client } = fleet;
  await client.create(Namespace, "hub", { apiVersion: "v1", kind: "Namespace", metadata: { name: "shop" } });
  const [policy, binding] = freeze("shop", "member1");
  await client.create(ValidatingAdmissionPolicy, "hub", policy as unknown as ValidatingAdmissionPolicy);
  await client.create(ValidatingAdmissionPolicyBinding, "hub", binding as unknown as ValidatingAdmissionPolicyBinding);
  await fleet.run(1_000);
  await client.create(
    PropagationPolicy,
    "hub",
    makePolicy("shop/web").selects("apps/v1", "Deployment", "web").duplicates("member1", "member2").build(),
  );
  await client.create(Deployment, "hub", makeDeployment("shop/web").replicas(2).build());
  await fleet.run(2 * SETTLED_MS);
});
afterEach(() => fleet.stop());

const bindingOf = () =>
  fleet.client.get(ResourceBinding, { cluster: "hub", namespace: "shop", name: "web-deployment" });
const conditionOf = async (type: string) => findCondition((await bindingOf()).status?.conditions, type);
const thaw = () => fleet.client.delete(ValidatingAdmissionPolicyBinding, { cluster: "hub", name: "freeze-shop" });

test("the binding names the member and the cause, and the member that has its copy is summed", async () => {
  const { status } = await bindingOf();
  const template = await fleet.client.get(Deployment, { cluster: "hub", ...KEY });

  expect(await conditionOf("Dispatched")).toMatchObject({
    status: "False",
    reason: "WorksRejected",
    message:
      "member1: the hub cannot write the Work: ValidatingAdmissionPolicy 'freeze-shop' with binding 'freeze-shop' " +
      "denied request: change freeze on member1; these members keep what they have",
  });
  expect(await conditionOf("FullyApplied")).toMatchObject({ status: "False" });
  expect(status?.aggregatedStatus?.map(({ clusterName, applied }) => ({ clusterName, applied }))).toEqual([
    { clusterName: "member2", applied: true },
  ]);
  expect(template.status).toMatchObject({ readyReplicas: 2 });
});

test("delivery continues within seconds after the cause is gone, however long it lasted", async () => {
  await fleet.run(30 * 60_000);
  await thaw();
  await fleet.run(SETTLED_MS);

  expect(await find(fleet.client, Deployment, { cluster: "member1", ...KEY })).toBeDefined();
  expect(await conditionOf("Dispatched")).toMatchObject({ status: "True" });
  expect(await conditionOf("FullyApplied")).toMatchObject({ status: "True" });
});

test("events report the failure once, and its end", async () => {
  await fleet.run(2 * SETTLED_MS);
  await thaw();
  await fleet.run(SETTLED_MS);

  const { items } = await fleet.client.list(Event, { cluster: "hub", namespace: "shop" });
  expect(
    items.map(({ involvedObject, reason, count }) => `${involvedObject.kind} ${reason} ${count}`).toSorted(),
  ).toEqual([
    "Deployment SyncWorkFailed 1",
    "Deployment SyncWorkSucceed 1",
    "ResourceBinding SyncWorkFailed 1",
    "ResourceBinding SyncWorkSucceed 1",
  ]);
});

test("a Work that stays denied is tried six times a minute, and nothing else is written", async () => {
  fleet.resetWrites();

  await fleet.run(60_000);

  const writes = fleet.writes().filter(({ part }) => part === "dispatch" || part === "aggregate");
  expect(writes.map(({ part, verb, resource, count }) => `${part} ${verb} ${resource} ${count}`)).toEqual([
    "dispatch create works.work.karmada.io 6",
  ]);
});
