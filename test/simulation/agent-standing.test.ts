/**
 * An agent with only the permissions that an administrator grants on a hub: accepted, removed, accepted again, and
 * never locked out of work it has to finish.
 */
import { beforeEach, afterEach, expect, test } from "vitest";
import {
  createRealMember,
  introduce,
  managedClusterIdentity,
  runAgent,
  registrationStateOf as standingOf,
} from "@flotilla/flotilla";
import type { Agent } from "@flotilla/flotilla";
import { Cluster, PropagationPolicy, Work } from "@flotilla/karmada";
import { ConfigMap, Deployment, Namespace } from "@flotilla/kubernetes";
import { ManagedCluster, ManifestWork } from "@flotilla/ocm";
import { createSeededRandom, messageOf } from "@flotilla/base";
import type { Log } from "@flotilla/base";
import { createClient, find } from "@flotilla/client";
import type { Client, Transport } from "@flotilla/client";
import { isConditionTrue } from "@flotilla/apimachinery";
import { startTestFleet } from "@flotilla/testing/fleet/fleet.ts";
import type { TestFleet } from "@flotilla/testing/fleet/fleet.ts";
import { makeDeployment, makePolicy } from "@flotilla/testing/builders.ts";
import { reconcileUntilQuiet } from "@flotilla/testing/reconcile-until-quiet.ts";
import { runClock } from "@flotilla/testing/run-clock.ts";

const MINUTE_MS = 60_000;
const PARIS = { cluster: "hub", name: "paris" };
const ADMIN = { name: "admin", groups: ["system:masters", "system:authenticated"] };
const { commonName, organizations } = managedClusterIdentity("paris", "agent1");

let hub: TestFleet;
/** The joining cluster, in a separate process. */
let far: TestFleet;
let stops: (() => Promise<void>)[];
const serving = new Set<Agent>();
let said: string[];

const log: Log = {
  debug: () => {},
  info: () => {},
  warn: (message, fields) =>
    void said.push(fields?.["error"] === undefined ? message : `${message}: ${messageOf(fields["error"])}`),
  error: (message) => void said.push(message),
  with: () => log,
};

beforeEach(async () => {
  far = await startTestFleet({ members: ["paris"], seed: 7 });
  beforePairing = async () => {};
  hub = await startTestFleet({ members: [], clock: far.clock, wrap });
  stops = [];
  said = [];
});
afterEach(async () => {
  for (const stop of stops) await stop();
  await hub.stop();
  await far.stop();
});

/** Called before the two registrations of a member are paired, which writes their agreement to the ManagedCluster. */
let beforePairing: () => Promise<void>;
const wrap = (transport: Transport): Transport => ({
  ...transport,
  async send(request, signal) {
    if (request.verb === "patch" && JSON.stringify(request.body).includes("flotilla.dev/paired-state"))
      await beforePairing();
    return transport.send(request, signal);
  },
});

const as = (part: string, name: string, ...groups: string[]): Client =>
  createClient({
    transport: hub.hub.server.transport({ name, groups: [...groups, "system:authenticated"] }),
    fieldManager: `flotilla-${part}`,
  });

/** Returns a function that stops it. */
function startAgent(seed = 3): () => Promise<void> {
  const stopping = new AbortController();
  const shared = { clock: far.clock, random: createSeededRandom(seed), log };
  const members = createRealMember({
    cluster: "paris",
    id: "paris-id",
    transport: far.hub.server.transport(ADMIN),
    ...shared,
  });
  const introduction = { hub: "hub", cluster: "paris", id: "paris-id", server: "https://paris.example.com", ca: "" };
  const bootstrap = as(
    "agent",
    "system:bootstrap:abcdef",
    "system:bootstrappers",
    "system:bootstrappers:managedcluster",
  );
  let current: Agent | undefined;
  const ended = runAgent(
    {
      hub: "hub",
      cluster: "paris",
      clientFor: (part) => as(part, commonName, ...organizations),
      members,
      origin: { hubHash: "0".repeat(64), agentID: "agent1" },
      standing: (introduces, signal) => (introduces ? introduce : standingOf)(bootstrap, introduction, signal),
      onServing(_faces, agent) {
        if (current) serving.delete(current);
        serving.add((current = agent));
      },
      ...shared,
    },
    stopping.signal,
  );
  const stop = async (): Promise<void> => {
    stopping.abort();
    if (current) serving.delete(current);
    await ended;
    members.close();
  };
  stops.push(stop);
  return stop;
}

const settle = (): Promise<void> =>
  reconcileUntilQuiet({
    managers: [...hub.hub.managers, ...far.hub.managers, ...[...serving].map(({ manager }) => manager)],
    server: hub.hub,
    others: [far.hub, ...serving],
  });
/** An agent's startup cannot be waited for, so it gets a few event loop turns now and then. */
async function run(ms: number): Promise<void> {
  for (const end = far.clock.now() + ms; far.clock.now() < end;) {
    for (let turn = 0; turn < 20; turn++) await new Promise((resolve) => setImmediate(resolve));
    await runClock(far.clock, Math.min(end - far.clock.now(), 1_000), settle);
  }
}
const accept = (): Promise<unknown> =>
  hub.client.patch(ManagedCluster, PARIS, { spec: { hubAcceptsClient: true } }, { type: "merge" });
const isReady = async (): Promise<boolean> =>
  isConditionTrue((await find(hub.client, Cluster, PARIS))?.status?.conditions, "Ready");
const apis = async (): Promise<boolean[]> => [
  (await find(hub.client, ManagedCluster, PARIS)) !== undefined,
  (await find(hub.client, Cluster, PARIS)) !== undefined,
];

/** Starts an agent for Karmada and OCM; the returned function stops it. */
async function join(): Promise<() => Promise<void>> {
  const stop = startAgent();
  await run(5_000);
  await accept();
  await run(MINUTE_MS);
  expect(await isReady()).toBe(true);
  return stop;
}
async function distribute(): Promise<void> {
  const manifest = {
    apiVersion: "v1",
    kind: "ConfigMap",
    metadata: { namespace: "default", name: "settings" },
    data: { from: "hub" },
  };
  await hub.client.create(ManifestWork, "hub", {
    apiVersion: "work.open-cluster-management.io/v1",
    kind: "ManifestWork",
    metadata: { namespace: "paris", name: "settings" },
    spec: { workload: { manifests: [manifest] } },
  });
}
async function propagate(): Promise<void> {
  await hub.client.create(Namespace, "hub", { apiVersion: "v1", kind: "Namespace", metadata: { name: "shop" } });
  await hub.client.create(
    PropagationPolicy,
    "hub",
    makePolicy("shop/all").selects("apps/v1", "Deployment").weights({ paris: 1 }).build(),
  );
  await hub.client.create(Deployment, "hub", makeDeployment("shop/web").replicas(2).build());
}
const settings = (): Promise<unknown> =>
  find(far.client, ConfigMap, { cluster: "paris", namespace: "default", name: "settings" });
const web = (): Promise<unknown> => find(far.client, Deployment, { cluster: "paris", namespace: "shop", name: "web" });

test("a cluster that was deleted on the hub is reported once, stays out, and requests to join again when its agent restarts", async () => {
  const stop = await join();
  said = [];
  await hub.client.delete(ManagedCluster, PARIS);
  await run(MINUTE_MS);

  expect(await apis()).toEqual([false, false]);
  expect(said.filter((line) => line.includes("cluster paris was removed from the hub")).length).toBeGreaterThan(0);
  said = [];
  await run(60 * MINUTE_MS);
  expect(said.length).toBeLessThan(12);
  expect(await apis()).toEqual([false, false]);

  await stop();
  startAgent();
  await run(5_000);
  expect((await hub.client.get(ManagedCluster, PARIS)).spec.hubAcceptsClient).toBe(false);
  await accept();
  await run(2 * MINUTE_MS);
  expect(await isReady()).toBe(true);
});

test("an agent that was denied and is accepted again resumes by itself", async () => {
  await join();
  await hub.client.patch(ManagedCluster, PARIS, { spec: { hubAcceptsClient: false } }, { type: "merge" });
  await run(5 * MINUTE_MS);
  expect(said.some((line) => line.includes("run 'flotilla accept paris' on the hub"))).toBe(true);

  await accept();
  await run(15 * MINUTE_MS);

  expect(await isReady()).toBe(true);
});

test("an unjoined member leaves within seconds, and keeps its workloads without labels", async () => {
  await join();
  await propagate();
  await distribute();
  await run(MINUTE_MS);
  expect([await web(), await settings()]).not.toContain(undefined);

  await hub.client.delete(Cluster, PARIS);
  await run(5_000);

  expect(await apis()).toEqual([false, false]);
  expect((await hub.client.list(Work, { cluster: "hub" })).items).toEqual([]);
  const left = (await web()) as Deployment | undefined;
  expect(Object.keys(left?.metadata.labels ?? {}).filter((label) => label.includes("karmada.io"))).toEqual([]);
  expect(await settings()).toBeDefined();
});

/** A write of the status before each write that pairs the registrations, which therefore conflicts. */
async function reportStatus(): Promise<void> {
  const cluster = await hub.client.get(ManagedCluster, PARIS);
  const version = { kubernetes: `v1.0.${cluster.metadata.resourceVersion}` };
  await hub.client.updateStatus(ManagedCluster, "hub", {
    ...cluster,
    status: { ...cluster.status, conditions: cluster.status?.conditions ?? [], version },
  });
}
const isAgreed = async (): Promise<boolean> =>
  (await hub.client.get(ManagedCluster, PARIS)).metadata.annotations?.["flotilla.dev/paired-state"] !== undefined;

test("registrations are paired after conflicts with status reports", async () => {
  beforePairing = reportStatus;
  await join();
  expect(await isAgreed()).toBe(false);

  beforePairing = async () => {};
  await run(1_000);

  expect(await isAgreed()).toBe(true);
});

test("a member leaves even if its registrations are not paired yet", async () => {
  beforePairing = reportStatus;
  await join();

  await hub.client.delete(Cluster, PARIS);
  await run(5_000);

  expect(await apis()).toEqual([false, false]);
});

test("a cluster that requests to join does not delay the unjoin of the one that has its name", async () => {
  await hub.client.create(Cluster, "hub", {
    apiVersion: "cluster.karmada.io/v1alpha1",
    kind: "Cluster",
    metadata: { name: "paris" },
    spec: { syncMode: "Pull" },
  });
  startAgent();
  await run(5_000);
  expect(await apis()).toEqual([true, true]);

  await hub.client.delete(Cluster, PARIS);
  await run(5_000);

  expect(await apis()).toEqual([true, false]);
});

test("a member whose ManagedCluster is deleted leaves within seconds, and its works are removed from it", async () => {
  await join();
  await propagate();
  await distribute();
  await run(MINUTE_MS);

  await hub.client.delete(ManagedCluster, PARIS);
  await run(10_000);

  expect(await apis()).toEqual([false, false]);
  expect([await web(), await settings()]).toEqual([expect.anything(), undefined]);
});

test("a deleted cluster namespace deletes its works and is created again", async () => {
  await join();
  await distribute();
  await run(MINUTE_MS);
  const before = (await hub.client.get(Namespace, PARIS)).metadata.uid;

  await hub.client.delete(Namespace, PARIS);
  await run(MINUTE_MS);

  expect([before, undefined]).not.toContain((await find(hub.client, Namespace, PARIS))?.metadata.uid);
  expect(await settings()).toBeUndefined();
  await distribute();
  await run(2 * MINUTE_MS);
  expect(await settings()).toBeDefined();
});

test("two agents of one cluster are both warned", async () => {
  await join();
  said = [];
  startAgent(4);
  await run(10 * MINUTE_MS);

  expect(said.filter((line) => line.startsWith("another agent serves this cluster too")).length).toBeGreaterThan(0);
  expect(said.filter((line) => line.startsWith("another agent serves this cluster too")).length).toBeLessThan(9);
});
