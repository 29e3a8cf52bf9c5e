/**
 * A member outside the hub's process that sends too much, beside a member that behaves: the first is cut off alone,
 * with its reason where an administrator looks, and is used again when it behaves.
 */
import { afterEach, beforeEach, expect, test } from "vitest";
import { findCondition } from "@flotilla/apimachinery";
import type { JsonObject } from "@flotilla/base";
import { find, ResponseLimitError, UnreachableError } from "@flotilla/client";
import type { Transport, TransportWatchEvent } from "@flotilla/client";
import { Cluster, PropagationPolicy, Work } from "@flotilla/karmada";
import { Deployment, Event, Namespace } from "@flotilla/kubernetes";
import { makeDeployment, makePolicy } from "@flotilla/testing/builders.ts";
import { startTestFleet } from "@flotilla/testing/fleet/fleet.ts";
import { joinPushMember } from "@flotilla/testing/fleet/join-push-member.ts";
import type { TestFleet } from "@flotilla/testing/fleet/fleet.ts";

const FAR = "far";
const THERE = "member1";
const USER = { name: "hub", groups: ["system:masters", "system:authenticated"] };
const MINUTE = 60_000;
/** Both fleets have clocks of their own, which advance in turn. */
const STEP_MS = 10_000;
const LIMITS = { objects: 500, bytes: 4 * 1024 * 1024 };

type Attack = "none" | "long object" | "endless pods" | "large pods" | "no metadata";
let attack: Attack;
/** Ends the member's watches. */
let wire: AbortController;
let podsSent: number;
let member: TestFleet;
let hub: TestFleet;

const pod = (name: string, text: string): JsonObject => ({
  apiVersion: "v1",
  kind: "Pod",
  metadata: { name, namespace: "flood", uid: name, resourceVersion: "1" },
  spec: { containers: [{ name: text, image: "x" }] },
});

/** Pods without end, a hundred per event, until the reader stops. */
async function* flood(signal: AbortSignal, text: string): AsyncGenerator<TransportWatchEvent[]> {
  while (!signal.aborted) {
    yield Array.from({ length: 100 }, () => ({ type: "ADDED", object: pod(`p${podsSent++}`, text) }));
    await new Promise((resolve) => setImmediate(resolve));
  }
}

async function connect(): Promise<Transport> {
  const inner = member.hub.server.transport(USER);
  const there = <T extends { path: { cluster: string } }>(request: T): T => ({
    ...request,
    path: { ...request.path, cluster: THERE },
  });
  return {
    async send(request, signal) {
      // What the transport over a network throws; test/contract/network/hostile-server.test.ts shows that.
      if (attack === "long object")
        throw new ResponseLimitError("get deployments shop/web: the response is longer than 4194304 bytes");
      const answer = await inner.send(there(request), signal);
      return attack === "no metadata" ? { kind: answer["kind"] ?? "" } : answer;
    },
    async *watch(request, given) {
      const signal = AbortSignal.any([given, wire.signal]);
      if (attack === "no metadata") yield [{ type: "ADDED", object: { kind: "Pod" } }];
      const isFlood = attack === "endless pods" || attack === "large pods";
      if (isFlood && request.path.resource === "pods")
        yield* flood(signal, attack === "large pods" ? "x".repeat(100_000) : "main");
      else yield* inner.watch(there(request), signal);
      if (!given.aborted) throw new UnreachableError("the wire is cut");
    },
    raw: (request, signal) => inner.raw({ ...request, cluster: THERE }, signal),
    close: async () => {},
  };
}

async function run(ms: number): Promise<void> {
  for (let leftMs = ms; leftMs > 0; leftMs -= STEP_MS) {
    await hub.run(STEP_MS);
    await member.run(STEP_MS);
  }
  await hub.settle();
}

const deploymentAt = (fleet: TestFleet, cluster: string): Promise<Deployment | undefined> =>
  find(fleet.client, Deployment, { cluster, namespace: "shop", name: "web" }) as Promise<Deployment | undefined>;
const ready = async (name: string): Promise<string> => {
  const { status } = await hub.client.get(Cluster, { cluster: "hub", name });
  const found = findCondition(status?.conditions ?? [], "Ready");
  return `${found?.status} ${found?.reason} ${found?.message}`;
};
const imageAt = async (fleet: TestFleet, cluster: string): Promise<string | undefined> =>
  (await deploymentAt(fleet, cluster))?.spec.template.spec?.containers[0]?.image;
const setImage = (image: string): Promise<unknown> =>
  hub.client.patch(
    Deployment,
    { cluster: "hub", namespace: "shop", name: "web" },
    { spec: { template: { spec: { containers: [{ name: "main", image }] } } } },
    { type: "merge" },
  );

/** The member behaves otherwise from now on, also on watches. */
function begin(next: Attack): void {
  attack = next;
  const before = wire;
  wire = new AbortController();
  before.abort();
}

beforeEach(async () => {
  attack = "none";
  wire = new AbortController();
  podsSent = 0;
  member = await startTestFleet({ members: [THERE], nodes: 1, kruise: "none" });
  hub = await startTestFleet({
    members: ["near"],
    nodes: 1,
    kruise: "none",
    connectMember: connect,
    memberLimits: LIMITS,
  });
  await joinPushMember(hub.client, "hub", FAR);
  await hub.client.create(Namespace, "hub", { apiVersion: "v1", kind: "Namespace", metadata: { name: "shop" } });
  await hub.client.create(
    PropagationPolicy,
    "hub",
    makePolicy("shop/web")
      .selects("apps/v1", "Deployment")
      .weights({ near: 1, [FAR]: 1 })
      .build(),
  );
  await hub.client.create(Deployment, "hub", makeDeployment("shop/web").replicas(2).image("web:1").build());
  await run(MINUTE);
});
afterEach(async () => {
  await hub.stop();
  await member.stop();
});

const attacks: Record<Exclude<Attack, "none" | "no metadata">, { says: string }> = {
  "long object": { says: "the response is longer than 4194304 bytes" },
  "endless pods": { says: "its watched objects are more than 500 objects together (the last: pods)" },
  "large pods": { says: "its watched objects are more than 4194304 bytes of objects together (the last: pods)" },
};
for (const [name, { says }] of Object.entries(attacks)) {
  test(`${name}: the member alone is cut off, with the reason, and is used again when it behaves`, async () => {
    const before = [await imageAt(hub, "near"), await imageAt(member, THERE), await ready(FAR)];
    begin(name as Attack);
    await setImage("web:2");
    await run(2 * MINUTE);
    const during = [await imageAt(hub, "near"), await ready("near")];
    const reason = await ready(FAR);
    const events = (await hub.client.list(Event, { cluster: "hub" })).items.filter(
      ({ reason: type, ...event }) => type === "ClusterCutOff" && JSON.stringify(event).includes(FAR),
    );

    begin("none");
    await run(5 * MINUTE);

    expect(before).toEqual(["web:1", "web:1", expect.stringContaining("True")]);
    expect(during).toEqual(["web:2", expect.stringContaining("True")]);
    expect(reason).toContain(says);
    expect(events.map(({ message }) => message)[0]).toContain(says);
    expect(podsSent).toBeLessThan(20_000);
    expect(await ready(FAR)).toContain("True");
    expect(await imageAt(member, THERE)).toBe("web:2");
  });
}

test("objects without metadata are reported as an invalid response of that member", async () => {
  begin("no metadata");
  await setImage("web:2");
  await run(MINUTE);
  const works = (await hub.client.list(Work, { cluster: "hub", namespace: "karmada-es-far" })).items;
  const applied = works
    .map(({ status }) => findCondition(status?.conditions ?? [], "Applied")?.message)
    .filter((message) => message?.includes("without valid metadata"));
  const near = await imageAt(hub, "near");
  begin("none");
  await run(2 * MINUTE);

  expect(applied).toHaveLength(1);
  expect(near).toBe("web:2");
  expect(await imageAt(member, THERE)).toBe("web:2");
});
