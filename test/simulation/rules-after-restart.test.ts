/** Rules that failed before the hub stopped: what commands print after it has started again. */
import { afterEach, expect, test } from "vitest";
import { UnreachableError } from "@flotilla/client";
import type { Transport } from "@flotilla/client";
import { PropagationPolicy, ResourceInterpreterCustomization } from "@flotilla/karmada";
import { Deployment, Event, Namespace } from "@flotilla/kubernetes";
import { createLastingEngine, startTestFleet } from "@flotilla/testing/fleet/fleet.ts";
import type { TestFleet } from "@flotilla/testing/fleet/fleet.ts";
import { makeDeployment, makePolicy } from "@flotilla/testing/builders.ts";
import { runCommand } from "./run-command.ts";

const SETTLED_MS = 20_000;
const WEB = { cluster: "hub", namespace: "shop", name: "web" };
const MINE = { cluster: "hub", name: "mine" };
const EVENTS = "events";

let engine = createLastingEngine();
/** The process is stopped: only users still write. */
let isDown = false;
let fleet: TestFleet;
afterEach(() => fleet.stop());

const wrap = (transport: Transport, part: string): Transport => ({
  ...transport,
  send: (request, signal) =>
    isDown && (part === EVENTS || part === "match")
      ? Promise.reject(new UnreachableError("the hub is stopping"))
      : transport.send(request, signal),
});

const rule = (luaScript: string) => ({
  apiVersion: "config.karmada.io/v1alpha1",
  kind: "ResourceInterpreterCustomization",
  metadata: { name: "mine" },
  spec: { target: { apiVersion: "apps/v1", kind: "Deployment" }, customizations: { replicaResource: { luaScript } } },
});

/** A Deployment for which a rule fails. */
async function start(): Promise<void> {
  engine = createLastingEngine();
  isDown = false;
  fleet = await startTestFleet({ members: ["member1"], engine, wrap });
  const { client } = fleet;
  await client.create(Namespace, "hub", { apiVersion: "v1", kind: "Namespace", metadata: { name: "shop" } });
  await client.create(ResourceInterpreterCustomization, "hub", rule(`function GetReplicas(obj) error("no idea") end`));
  await client.create(
    PropagationPolicy,
    "hub",
    makePolicy("shop/web").selects("apps/v1", "Deployment", "web").duplicates("member1").build(),
  );
  await client.create(Deployment, "hub", makeDeployment("shop/web").replicas(2).build());
  await fleet.run(SETTLED_MS);
}

/** Stops the hub, while which the user acts, and starts it again. */
async function restart(act: () => Promise<unknown>): Promise<void> {
  isDown = true;
  await act();
  await fleet.run(1_000);
  const { clock } = fleet;
  await fleet.stop();
  isDown = false;
  fleet = await startTestFleet({ members: ["member1"], engine, clock, wrap });
  await fleet.run(SETTLED_MS);
}

const status = async (): Promise<string> => (await runCommand(fleet, "status", "-n", "shop")).text;
const why = async (): Promise<string> => (await runCommand(fleet, "why", "deployment/web", "-n", "shop")).text;
const reasons = async (): Promise<(string | undefined)[]> =>
  (await fleet.client.list(Event, { cluster: "hub", namespace: "shop" })).items
    .filter(({ involvedObject }) => involvedObject.kind === "Deployment")
    .map(({ reason }) => reason);

test("a rule that was mended while the hub was stopped is not called failed after the restart", async () => {
  await start();
  expect(await status()).toContain("no idea");

  await restart(() =>
    fleet.client.patch(
      ResourceInterpreterCustomization,
      MINE,
      { spec: rule(`function GetReplicas(obj) return 2, nil end`).spec },
      { type: "merge" },
    ),
  );

  expect(await status()).not.toContain("no idea");
  expect(await why()).not.toContain("no idea");
  expect(await reasons()).toEqual(["GetReplicasFailed", "GetReplicasSucceed"]);
});

test("a rule that was deleted while the hub was stopped is not called failed after the restart", async () => {
  await start();

  await restart(() => fleet.client.delete(ResourceInterpreterCustomization, MINE));

  expect(await status()).not.toContain("no idea");
  expect(await why()).not.toContain("no idea");
});

test("a rule that still fails after a restart is called failed", async () => {
  await start();

  await restart(() => Promise.resolve());

  expect(await status()).toContain("no idea");
  expect(await why()).toContain("no idea");
});

test("a rule that failed for an object that was deleted is not called failed", async () => {
  await start();

  await fleet.client.delete(Deployment, WEB);
  await fleet.run(SETTLED_MS);

  expect(await status()).not.toContain("no idea");
});
