/**
 * What the hub says of a template whose release waits, is paused, returns or has returned: its status, its binding, and
 * `flotilla wait`.
 */
import { afterEach, expect, test } from "vitest";
import { findCondition } from "@flotilla/apimachinery";
import type { Kind, KubernetesObject } from "@flotilla/apimachinery";
import { copy } from "@flotilla/base";
import type { JsonObject } from "@flotilla/base";
import { FleetRollout } from "@flotilla/flotilla";
import { ResourceBinding } from "@flotilla/karmada";
import { Deployment, StatefulSet } from "@flotilla/kubernetes";
import { CloneSet } from "@flotilla/openkruise";
import { makeCloneSet, makeDeployment, makePolicy } from "@flotilla/testing/builders.ts";
import type { TestFleet } from "@flotilla/testing/fleet/fleet.ts";
import { runCommand } from "./run-command.ts";
import { createStrategy, releaseImage, startShop, WEB as web } from "./shop-fleet.ts";

const MEMBERS = ["member1", "member2", "member3"];

let fleet: TestFleet;
afterEach(() => fleet.stop());

interface Started {
  kind: Kind;
  object: KubernetesObject;
  strategy?: JsonObject;
}

async function start({ kind, object, strategy }: Started): Promise<void> {
  const policy = makePolicy("shop/all").selects(object.apiVersion, object.kind);
  fleet = await startShop(MEMBERS, policy.weights(Object.fromEntries(MEMBERS.map((name) => [name, 1]))).build());
  await createStrategy(fleet.client, {
    waves: [
      { name: "first", clusters: { names: ["member1"] } },
      { name: "rest", before: [{ approval: {} }] },
    ],
    ...strategy,
  });
  object.metadata.labels = { release: "careful" };
  await fleet.client.create(kind, "hub", object);
  await fleet.run(20_000);
}

const deployment = makeDeployment("shop/web").replicas(6).build();
const KINDS: Record<"Deployment" | "StatefulSet" | "CloneSet", () => Started> = {
  Deployment: () => ({ kind: Deployment, object: copy(deployment) }),
  StatefulSet: () => ({
    kind: StatefulSet,
    object: {
      ...copy(deployment),
      kind: "StatefulSet",
      spec: { ...copy(deployment.spec), serviceName: "web" },
    } as KubernetesObject,
  }),
  CloneSet: () => ({ kind: CloneSet, object: makeCloneSet("shop/web").replicas(6).build() }),
};

const release = (kind: Kind, image: string, fault?: string): Promise<unknown> =>
  releaseImage(fleet.client, kind, image, fault);
const newest = async (): Promise<FleetRollout> => {
  const { items } = await fleet.client.list(FleetRollout, { cluster: "hub", namespace: "shop" });
  return items.toSorted((a, b) => b.spec.number - a.spec.number)[0] as FleetRollout;
};
const change = async (spec: JsonObject): Promise<unknown> =>
  fleet.client.patch(FleetRollout, { ...web, name: (await newest()).metadata.name }, { spec }, { type: "merge" });

interface Said {
  updatedReplicas?: number;
  currentRevision?: string;
  updateRevision?: string;
  conditions?: { type: string; status: string; reason?: string; message?: string }[];
}
const statusOf = async (kind: Kind): Promise<Said> =>
  ((await fleet.client.get(kind, web)) as unknown as { status?: Said }).status ?? {};
const progressing = async (kind: Kind) => findCondition((await statusOf(kind)).conditions, "Progressing");
const released = async (kind: string) => {
  const name = `web-${kind.toLowerCase()}`;
  return findCondition((await fleet.client.get(ResourceBinding, { ...web, name })).status?.conditions, "Released");
};
async function wait(kind: string): Promise<string> {
  const ended = runCommand(fleet, "wait", `${kind.toLowerCase()}/web`, "-n", "shop", "--timeout", "5").then(
    ({ text }) => text,
    (error: unknown) => (error instanceof Error ? error.message : String(error)),
  );
  await fleet.run(7_000);
  return ended;
}

async function releaseGauge(): Promise<string | undefined> {
  const { body } = await fleet.client.raw({ cluster: "hub", method: "GET", path: "/metrics" });
  const chunks: Uint8Array[] = [];
  for await (const chunk of body) chunks.push(chunk);
  return /^flotilla_fleetrollouts\{.*$/m.exec(Buffer.concat(chunks).toString())?.[0];
}

const ROLLBACK = { failure: { action: "Rollback" } };

test("a Deployment whose release waits, is paused or completes counts the pods of the new template, and wait says which wave it waits for", async () => {
  await start(KINDS.Deployment());
  await release(Deployment, "web:2");
  await fleet.run(20_000);

  expect((await newest()).status).toMatchObject({ updated: 2, waitingFor: "approval of rest" });
  expect(await statusOf(Deployment)).toMatchObject({ updatedReplicas: 2 });
  expect(await progressing(Deployment)).toMatchObject({
    status: "Unknown",
    reason: "ReleaseWaiting",
    message: expect.stringMatching(/^FleetRollout web-\w+ in wave rest \(2 of 2\) waits for approval of rest$/),
  });
  expect(await released("Deployment")).toMatchObject({ status: "False", reason: "Waiting" });
  expect(await wait("Deployment")).toMatch(/FleetRollout web-\w+ in wave rest \(2 of 2\) waits for approval of rest/);

  await change({ paused: true });
  await fleet.run(5_000);
  expect(await progressing(Deployment)).toMatchObject({ status: "Unknown", reason: "ReleasePaused" });
  expect(await wait("Deployment")).toMatch(/FleetRollout web-\w+ in wave rest \(2 of 2\) is paused/);

  await change({ paused: false, approvals: ["rest"] });
  await fleet.run(30_000);
  expect(await statusOf(Deployment)).toMatchObject({ updatedReplicas: 6 });
  expect(await progressing(Deployment)).toMatchObject({ status: "True", reason: "NewReplicaSetAvailable" });
  expect(await released("Deployment")).toMatchObject({ status: "True", reason: "Succeeded" });
  expect(await wait("Deployment")).toContain("Deployment shop/web is healthy on member3");
});

test.each(["Deployment", "CloneSet"] as const)("a %s whose release was rolled back is not complete", async (name) => {
  const started = KINDS[name]();
  const { kind } = started;
  await start({ ...started, strategy: ROLLBACK });
  await release(kind, "web:broken", "image-pull-error");
  await fleet.run(60_000);

  expect((await newest()).status).toMatchObject({ phase: "RolledBack", failure: { reason: "PodsFailing" } });
  expect((await statusOf(kind)).updatedReplicas ?? 0).toBe(0);
  expect(await progressing(kind)).toMatchObject({
    status: "False",
    reason: "ProgressDeadlineExceeded",
    message: expect.stringMatching(/^FleetRollout web-\w+ was rolled back: /),
  });
  expect(await released(name)).toMatchObject({ status: "False", reason: "RolledBack" });
  expect(await wait(name)).toMatch(/FleetRollout web-\w+ was rolled back: .*flotilla rollout/);
  expect(await releaseGauge()).toBe('flotilla_fleetrollouts{state="RolledBack"} 1');
});

test("a corrected template after a rollback is waited for, and ends well", async () => {
  await start({ ...KINDS.Deployment(), strategy: ROLLBACK });
  await release(Deployment, "web:broken", "image-pull-error");
  await fleet.run(60_000);
  await release(Deployment, "web:2");

  expect(await wait("Deployment")).not.toMatch(/rolled back/);
  await fleet.run(20_000);
  await change({ promotions: ["*"] });
  await fleet.run(30_000);

  expect(await statusOf(Deployment)).toMatchObject({ updatedReplicas: 6 });
  expect(await progressing(Deployment)).toMatchObject({ status: "True", reason: "NewReplicaSetAvailable" });
  expect(await released("Deployment")).toMatchObject({ status: "True" });
});

test("a StatefulSet has two revisions during a release, and one after it", async () => {
  await start(KINDS.StatefulSet());
  await release(StatefulSet, "web:2");
  await fleet.run(20_000);
  const during = await statusOf(StatefulSet);
  await change({ approvals: ["rest"] });
  await fleet.run(60_000);
  const after = await statusOf(StatefulSet);

  expect(during).toMatchObject({ updatedReplicas: 2, updateRevision: (await newest()).metadata.name });
  expect(during.currentRevision).not.toBe(during.updateRevision);
  expect(after).toMatchObject({ updatedReplicas: 6, currentRevision: after.updateRevision });
});

test("a CloneSet whose release a person pauses and continues twice completes, and is quiet while it is paused", async () => {
  await start({ ...KINDS.CloneSet(), strategy: { waves: [{ name: "all" }], maxUnavailable: 1 } });
  await release(CloneSet, "web:2");
  await fleet.run(1_000);
  for (let times = 0; times < 2; times++) {
    await change({ paused: true });
    await fleet.run(2_000);
    await change({ paused: false });
    await fleet.run(200);
  }
  await fleet.run(60_000);

  expect((await newest()).status).toMatchObject({ phase: "Succeeded", updated: 6 });
});
