/**
 * Karmada's own pods on the hub: present from the start without stored objects, with the logs of the components of this
 * process that do their work.
 */
import { afterEach, expect, test } from "vitest";
import { Deployment, Event, Namespace, Pod } from "@flotilla/kubernetes";
import { PropagationPolicy, ResourceInterpreterCustomization } from "@flotilla/karmada";
import { startTestFleet } from "@flotilla/testing/fleet/fleet.ts";
import type { TestFleet } from "@flotilla/testing/fleet/fleet.ts";
import { makeDeployment, makePolicy } from "@flotilla/testing/builders.ts";

let fleet: TestFleet;
afterEach(() => fleet.stop());

const NAMESPACE = "karmada-system";
const podOf = (component: string): string => `${component}-5d8c6f7b94-m4n8g`;

async function logOf(pod: string): Promise<string[]> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of (
    await fleet.client.raw({ cluster: "hub", method: "GET", path: `/api/v1/namespaces/${NAMESPACE}/pods/${pod}/log` })
  ).body)
    chunks.push(chunk);
  return Buffer.concat(chunks).toString().split("\n").filter(Boolean);
}

test("the hub shows Karmada's components, without any writes", async () => {
  fleet = await startTestFleet({ members: ["m1"], nodes: 1 });
  await fleet.run(60_000);
  fleet.resetWrites();

  await fleet.run(600_000);

  const { items } = await fleet.client.list(Pod, { cluster: "hub", namespace: NAMESPACE });
  expect(items.map(({ metadata, status }) => `${metadata.name} ${status?.phase}`)).toEqual(
    ["karmada-aggregated-apiserver", "karmada-controller-manager", "karmada-scheduler", "karmada-webhook"].map(
      (name) => `${podOf(name)} Running`,
    ),
  );
  expect(fleet.writes().filter(({ cluster }) => cluster === "hub")).toEqual([]);
});

test("the logs of the scheduler and the controllers contain their own lines", async () => {
  fleet = await startTestFleet({ members: ["m1"], nodes: 1 });
  await fleet.client.create(Namespace, "hub", { apiVersion: "v1", kind: "Namespace", metadata: { name: "shop" } });
  await fleet.client.create(PropagationPolicy, "hub", makePolicy("shop/web").selects("apps/v1", "Deployment").build());
  await fleet.client.create(Deployment, "hub", makeDeployment("shop/web").replicas(2).build());
  await fleet.run(10_000);

  const scheduler = await logOf(podOf("karmada-scheduler"));
  const controllers = await logOf(podOf("karmada-controller-manager"));

  expect(scheduler[0]).toBe(
    "2024-05-01T12:00:00.000Z INFO karmada-scheduler of hub runs inside Flotilla; the following lines are its log messages about hub",
  );
  expect(scheduler.slice(1).every((line) => line.includes("controller=schedule"))).toBe(true);
  expect(scheduler.filter((line) => line.includes("key=shop/web-deployment")).length).toBeGreaterThan(0);
  expect(controllers.filter((line) => line.includes("controller=dispatch")).length).toBeGreaterThan(0);
  expect(controllers.filter((line) => line.includes("controller=ocm-"))).toEqual([]);
});

test("an interpreter script that fails is in the log of the webhook, and an event of the object", async () => {
  fleet = await startTestFleet({ members: ["m1"], nodes: 1 });
  await fleet.client.create(Namespace, "hub", { apiVersion: "v1", kind: "Namespace", metadata: { name: "shop" } });
  await fleet.client.create(ResourceInterpreterCustomization, "hub", {
    apiVersion: "config.karmada.io/v1alpha1",
    kind: "ResourceInterpreterCustomization",
    metadata: { name: "health" },
    spec: {
      target: { apiVersion: "apps/v1", kind: "Deployment" },
      customizations: {
        healthInterpretation: { luaScript: "function InterpretHealth(o) return o.status.nowhere.ready end" },
      },
    },
  });
  await fleet.client.create(PropagationPolicy, "hub", makePolicy("shop/web").selects("apps/v1", "Deployment").build());
  await fleet.client.create(Deployment, "hub", makeDeployment("shop/web").replicas(2).build());
  await fleet.run(60_000);

  const lines = (await logOf(podOf("karmada-webhook"))).filter((line) => line.includes("key=shop/web "));
  const events = (await fleet.client.list(Event, { cluster: "hub", namespace: "shop" })).items.filter(
    ({ reason, involvedObject }) => reason === "InterpretHealthFailed" && involvedObject.name === "web",
  );

  expect(lines).toHaveLength(1);
  expect(lines[0]).toMatch(
    /WARN interpreter rule failed .*kind=Deployment reason=InterpretHealthFailed error=.*with key 'ready'/,
  );
  expect(events.map(({ message }) => message)).toEqual([expect.stringMatching(/^on m1: .*with key 'ready'/)]);
});
