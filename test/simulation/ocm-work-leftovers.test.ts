/** Objects of works that the hub no longer has: they stay, unless configured otherwise. */
import { expect, test } from "vitest";
import { HUB } from "@flotilla/apimachinery";
import { AppliedManifestWork, ManifestWork } from "@flotilla/ocm";
import { ConfigMap, Namespace } from "@flotilla/kubernetes";
import { createSeededRandom, silentLog } from "@flotilla/base";
import { createKindResolver, find } from "@flotilla/client";
import { createDelivery, createInterpreter, createObserver, createWork } from "@flotilla/flotilla";
import { createInformers, createManager } from "@flotilla/controller-runtime";
import { reconcileUntilQuiet } from "@flotilla/testing/reconcile-until-quiet.ts";
import { configMap, MEMBER, startWorkFleet, type WorkFleet } from "./ocm-work-fleet.ts";

const HOUR_MS = 3_600_000;

interface TestAgent {
  settle(ms: number): Promise<void>;
  stop(): Promise<void>;
}

/** An agent for a cluster that the hub does not reach, which removes unknown works after an hour. */
function startAgent({ fleet }: WorkFleet, cluster: string): TestAgent {
  const { client, clock } = fleet;
  const shared = { client, clock, random: createSeededRandom(1), log: silentLog };
  const informers = createInformers({ ...shared, scope: { cluster: HUB } });
  const memberInformers = createInformers({ ...shared, scope: { cluster } });
  const delivery = createDelivery({
    client,
    cluster,
    kinds: createKindResolver({ client, cluster }),
    observer: createObserver(memberInformers),
    clock,
  });
  const manager = createManager({ client, informers, clock, log: silentLog });
  const part = createWork({
    hub: HUB,
    informers,
    memberInformers,
    memberFor: (name) =>
      name === cluster ? { delivery, client, cluster, dryRunAs: () => Promise.resolve() } : undefined,
    origin: { hubHash: "h", agentID: "agent" },
    interpreter: createInterpreter(),
    statusClient: client,
    followClusters: false,
    evictionGraceMs: HOUR_MS,
    ...shared,
  });
  manager.add(...part.controllers);
  const stopping = new AbortController();
  manager.start(stopping.signal);
  const quiet = (): Promise<void> =>
    reconcileUntilQuiet({
      managers: [...fleet.hub.managers, manager],
      server: { isQuiet: () => fleet.hub.isQuiet() && part.isQuiet() },
    });
  return {
    async settle(ms) {
      const end = clock.now() + ms;
      await quiet();
      for (let due = clock.nextDue(); due !== undefined && due <= end; due = clock.nextDue()) {
        clock.advance(Math.max(0, due - clock.now()));
        await quiet();
      }
      clock.advance(end - clock.now());
      await quiet();
    },
    async stop() {
      stopping.abort();
      await manager.stop();
      await part.close();
      informers.close();
      memberInformers.close();
    },
  };
}

test("an AppliedManifestWork without a work stays forever, and deletes its objects when a user deletes it", async () => {
  const works = await startWorkFleet();
  const { fleet } = works;
  await works.create("settings", [configMap("settings")]);
  const [applied] = await works.applied();
  // Like one left by an agent of another hub.
  const copy = await fleet.client.create(AppliedManifestWork, MEMBER, {
    apiVersion: "work.open-cluster-management.io/v1",
    kind: "AppliedManifestWork",
    metadata: { name: `${applied?.spec.hubHash}-lost`, finalizers: [...(applied?.metadata.finalizers ?? [])] },
    spec: {
      ...applied?.spec,
      hubHash: applied?.spec.hubHash ?? "",
      agentID: applied?.spec.agentID ?? "",
      manifestWorkName: "lost",
    },
  });
  const held = await fleet.client.create(ConfigMap, MEMBER, {
    ...configMap("lost"),
    metadata: {
      name: "lost",
      namespace: "default",
      ownerReferences: [
        { apiVersion: copy.apiVersion, kind: copy.kind, name: copy.metadata.name, uid: copy.metadata.uid ?? "" },
      ],
    },
  } as never);
  await fleet.client.patch(
    AppliedManifestWork,
    { cluster: MEMBER, name: copy.metadata.name },
    {
      status: {
        appliedResources: [
          {
            group: "",
            version: "v1",
            resource: "configmaps",
            namespace: "default",
            name: "lost",
            uid: held.metadata.uid ?? "",
          },
        ],
      },
    },
    { type: "merge", subresource: "status" },
  );
  await fleet.run(2 * HOUR_MS);
  expect(await works.onMember(ConfigMap, "lost")).toBeDefined();

  await fleet.client.delete(AppliedManifestWork, { cluster: MEMBER, name: copy.metadata.name });
  await fleet.run(60_000);

  expect(await works.onMember(ConfigMap, "lost")).toBeUndefined();
  expect((await works.applied()).map(({ spec }) => spec.manifestWorkName)).toEqual(["settings"]);
});

test("an agent with an eviction grace period removes them after it, unless the work comes back before", async () => {
  const works = await startWorkFleet();
  const { client, hub } = works.fleet;
  await hub.server.addCluster("far", "member");
  await client.create(Namespace, HUB, { apiVersion: "v1", kind: "Namespace", metadata: { name: "far" } });
  const key = { cluster: HUB, namespace: "far", name: "settings" };
  const create = async (): Promise<void> =>
    void (await client.create(ManifestWork, HUB, {
      apiVersion: "work.open-cluster-management.io/v1",
      kind: "ManifestWork",
      metadata: { name: "settings", namespace: "far" },
      spec: { workload: { manifests: [configMap("settings")] } },
    }));
  const settings = (): Promise<unknown> =>
    find(client, ConfigMap, { cluster: "far", namespace: "default", name: "settings" });
  /** While the agent is down the hub loses the work without a trace, not even a deletion. */
  const lose = async (): Promise<TestAgent> => {
    await agent.stop();
    await client.patch(ManifestWork, key, { metadata: { finalizers: null } }, { type: "merge" });
    await client.delete(ManifestWork, key);
    return startAgent(works, "far");
  };
  let agent = startAgent(works, "far");
  await create();
  await agent.settle(5_000);
  expect(await settings()).toBeDefined();

  agent = await lose();
  await agent.settle(HOUR_MS / 2);
  await create();
  await agent.settle(2 * HOUR_MS);
  expect(await settings()).toBeDefined();
  expect(
    (await client.list(AppliedManifestWork, { cluster: "far" })).items[0]?.status?.evictionStartTime,
  ).toBeUndefined();

  agent = await lose();
  await agent.settle(HOUR_MS / 2);
  expect(await settings()).toBeDefined();
  await agent.settle(HOUR_MS);
  expect(await settings()).toBeUndefined();
  expect((await client.list(AppliedManifestWork, { cluster: "far" })).items).toEqual([]);
  await agent.stop();
});
