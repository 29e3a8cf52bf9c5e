/**
 * Nothing in memory grows with objects that are gone: a fleet is filled and emptied ten times, with Works and
 * ManifestWorks, on a push and a pull member, and the heap holds no more after the tenth round than after the second.
 * The same for workloads, and for what objects are in: namespaces, CRDs and members.
 */
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { expect, test } from "vitest";
import { dynamicKind, HUB } from "@flotilla/apimachinery";
import { ConfigMap, CustomResourceDefinition, Deployment, Namespace } from "@flotilla/kubernetes";
import { ManifestWork } from "@flotilla/ocm";
import { Cluster, PropagationPolicy } from "@flotilla/karmada";
import type { JsonObject } from "@flotilla/base";
import { endsWithTest } from "@flotilla/testing/ends-with-test.ts";
import { startTestFleet, type TestFleet } from "@flotilla/testing/fleet/fleet.ts";
import { makeDeployment, makePolicy } from "@flotilla/testing/builders.ts";

const MEMBERS = ["pushed", "pulled"];
const ROUNDS = 10;
/** Objects of each API, member and round. */
const OBJECTS = 10;
/** Each object weighs this much, so that one that is held stands out from the events and statuses of a round. */
const PAYLOAD_BYTES = 128 * 1024;
/**
 * What eight rounds may add. The API server's history of events has a bound of its own and adds about 5 MiB, whatever
 * the objects weigh; holding the objects of one API on one member would add 10 MiB more.
 */
const MAX_GROWTH_BYTES = 8 * 1024 * 1024;

setFlagsFromString("--expose-gc");
const collectGarbage = runInNewContext("gc") as () => void;

async function heapBytes(): Promise<number> {
  // Weak references are cleared, and their finalizers run, between turns of the event loop.
  for (let turn = 0; turn < 3; turn++) {
    collectGarbage();
    await new Promise((resolve) => setImmediate(resolve));
  }
  return process.memoryUsage().heapUsed;
}

const configMap = (name: string, version: string): ConfigMap & JsonObject => ({
  apiVersion: "v1",
  kind: "ConfigMap",
  metadata: { name, namespace: "default", labels: { version } },
  data: { payload: name.padEnd(PAYLOAD_BYTES, ".") },
});
const names = (api: string, round: number): string[] =>
  Array.from({ length: OBJECTS }, (_, index) => `${api}-${round}-${index}`);

async function fill({ client, run }: TestFleet, round: number): Promise<void> {
  for (const name of names("karmada", round)) await client.create(ConfigMap, HUB, configMap(name, "1"));
  for (const namespace of MEMBERS)
    for (const name of names("ocm", round))
      await client.create(ManifestWork, HUB, {
        apiVersion: "work.open-cluster-management.io/v1",
        kind: "ManifestWork",
        metadata: { name, namespace },
        spec: { workload: { manifests: [configMap(name, "1")] } },
      });
  await run(5_000);
}

/** A second version of everything, so that objects are not only created but also compared and changed. */
async function change({ client, run }: TestFleet, round: number): Promise<void> {
  const labels = { metadata: { labels: { version: "2" } } };
  for (const name of names("karmada", round))
    await client.patch(ConfigMap, { cluster: HUB, namespace: "default", name }, labels, { type: "merge" });
  for (const namespace of MEMBERS)
    for (const name of names("ocm", round))
      await client.patch(
        ManifestWork,
        { cluster: HUB, namespace, name },
        { spec: { workload: { manifests: [configMap(name, "2")] } } },
        { type: "merge" },
      );
  await run(5_000);
}

async function empty({ client, run }: TestFleet, round: number): Promise<void> {
  for (const name of names("karmada", round))
    await client.delete(ConfigMap, { cluster: HUB, namespace: "default", name });
  for (const namespace of MEMBERS)
    for (const name of names("ocm", round)) await client.delete(ManifestWork, { cluster: HUB, namespace, name });
  await run(60_000);
}

const delivered = async ({ client }: TestFleet, version: string): Promise<number[]> =>
  Promise.all(
    MEMBERS.map(
      async (cluster) =>
        (await client.list(ConfigMap, { cluster, namespace: "default", labelSelector: `version=${version}` })).items
          .length,
    ),
  );

test("a fleet that is filled and emptied ten times holds no more than after the second time", async () => {
  const fleet = endsWithTest(await startTestFleet({ members: MEMBERS, pull: ["pulled"], kruise: "none" }));
  await fleet.client.create(
    PropagationPolicy,
    HUB,
    makePolicy("default/everything")
      .with(({ spec }) => (spec.resourceSelectors = [{ apiVersion: "v1", kind: "ConfigMap" }]))
      .build(),
  );
  const heaps: number[] = [];

  for (let round = 0; round < ROUNDS; round++) {
    await fill(fleet, round);
    await change(fleet, round);
    expect(await delivered(fleet, "2")).toEqual([2 * OBJECTS, 2 * OBJECTS]);
    await empty(fleet, round);
    expect(await delivered(fleet, "2")).toEqual([0, 0]);
    if (round === 1 || round === ROUNDS - 1) heaps.push(await heapBytes());
  }

  const [second = 0, last = 0] = heaps;
  expect(last - second).toBeLessThan(MAX_GROWTH_BYTES);
}, 120_000);

/** The histories of the API server fill and empty with some rounds in between: the smallest heap after the last ones counts. */
const LAST = 3;
/** Workloads and custom objects of each round. */
const COPIES = 4;

/** What is in this round only; nothing has the name of an earlier one. */
function ofRound(round: number) {
  const namespace = `shop-${round}`;
  const guest = `guest-${round}`;
  const group = `round${round}.example`;
  const thing = dynamicKind({ group, version: "v1", kind: "Thing", plural: "things", scope: "Namespaced" });
  const payload = { payload: namespace.padEnd(PAYLOAD_BYTES, ".") };
  return { namespace, guest, group, thing, payload };
}

async function open({ client, hub, run }: TestFleet, round: number): Promise<void> {
  const { namespace, guest, group, thing, payload } = ofRound(round);
  await hub.addMembers([guest], (name) => `https://${name}.example.com`, new AbortController().signal);
  await client.create(Namespace, HUB, {
    apiVersion: "v1",
    kind: "Namespace",
    metadata: { name: namespace, annotations: payload },
  });
  for (const cluster of [HUB, ...MEMBERS, guest])
    await client.create(CustomResourceDefinition, cluster, {
      apiVersion: "apiextensions.k8s.io/v1",
      kind: "CustomResourceDefinition",
      metadata: { name: `things.${group}`, annotations: payload },
      spec: {
        group,
        scope: "Namespaced",
        names: { plural: "things", kind: "Thing" },
        versions: [
          {
            name: "v1",
            served: true,
            storage: true,
            schema: {
              openAPIV3Schema: { type: "object", "x-kubernetes-preserve-unknown-fields": true },
            },
            subresources: { status: {} },
          },
        ],
      },
    });
  await run(1_000);
  await client.create(
    PropagationPolicy,
    HUB,
    makePolicy(`${namespace}/everything`)
      .with(
        ({ spec }) =>
          (spec.resourceSelectors = [
            { apiVersion: "apps/v1", kind: "Deployment" },
            { apiVersion: `${group}/v1`, kind: "Thing" },
          ]),
      )
      .build(),
  );
  for (let copy = 0; copy < COPIES; copy++) {
    await client.create(
      Deployment,
      HUB,
      makeDeployment(`${namespace}/web-${copy}`)
        .with(({ metadata }) => (metadata.annotations = payload))
        .build(),
    );
    await client.create(thing, HUB, {
      apiVersion: `${group}/v1`,
      kind: "Thing",
      metadata: { name: `thing-${copy}`, namespace },
      spec: payload,
    });
  }
  await run(10_000);
}

async function close({ client, hub, run }: TestFleet, round: number): Promise<void> {
  const { namespace, guest, group } = ofRound(round);
  await client.delete(Namespace, { cluster: HUB, name: namespace });
  await run(5_000);
  await client.delete(Cluster, { cluster: HUB, name: guest });
  await run(30_000);
  await hub.server.removeCluster(guest);
  for (const cluster of [HUB, ...MEMBERS])
    await client.delete(CustomResourceDefinition, { cluster, name: `things.${group}` });
  await run(60_000);
}

/** The groups whose objects are requested in ten minutes in which nothing happens. */
async function askedInTenMinutes(fleet: TestFleet, asked: Set<string>): Promise<string[]> {
  await fleet.run(60_000);
  asked.clear();
  await fleet.run(600_000);
  return [...asked];
}

test("workloads, namespaces, CRDs and members that come and go leave nothing behind", async () => {
  const asked = new Set<string>();
  const fleet = endsWithTest(
    await startTestFleet({
      members: MEMBERS,
      pull: ["pulled"],
      kruise: "none",
      wrap: (transport) => ({
        ...transport,
        send(request, signal) {
          asked.add(request.path.group);
          return transport.send(request, signal);
        },
        watch(request, signal) {
          asked.add(request.path.group);
          return transport.watch(request, signal);
        },
      }),
    }),
  );
  const heaps: number[] = [];

  for (let round = 0; round < ROUNDS; round++) {
    await open(fleet, round);
    const { namespace, guest, thing } = ofRound(round);
    for (const cluster of [...MEMBERS, guest])
      expect([
        (await fleet.client.list(Deployment, { cluster, namespace })).items.length,
        (await fleet.client.list(thing, { cluster, namespace })).items.length,
      ]).toEqual([COPIES, COPIES]);
    await close(fleet, round);
    expect(fleet.hub.server.clusters().toSorted()).toEqual([HUB, ...MEMBERS].toSorted());
    if (round === 1 || round >= ROUNDS - LAST) heaps.push(await heapBytes());
  }

  const [second = 0, ...last] = heaps;
  expect((await askedInTenMinutes(fleet, asked)).filter((group) => group.endsWith(".example"))).toEqual([]);
  expect(Math.min(...last) - second).toBeLessThan(MAX_GROWTH_BYTES);
}, 240_000);
