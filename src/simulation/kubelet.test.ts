import { afterEach, expect, test } from "vitest";
import { Pod } from "../api/index.ts";
import { createFakeClock, createSeededRandom, silentLog } from "../base/index.ts";
import type { DeepReadonly } from "../base/index.ts";
import { createInformers, createManager } from "../runtime/index.ts";
import { createFakeClient, reconcileUntilQuiet } from "../testing/index.ts";
import { createSimulation } from "./index.ts";

const stops: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const stop of stops.splice(0)) await stop();
});

async function startMembers(...clusters: string[]) {
  const clock = createFakeClock();
  const client = createFakeClient({ clock });
  const informers = createInformers({ client, clock, log: silentLog, scope: { cluster: "*", where: (cluster) => cluster !== "hub" }, random: createSeededRandom(1) });
  const simulation = createSimulation({ client, informers, clock, times: { startMs: 2_000, restartMs: 3_000 } });
  const manager = createManager({ client, informers, clock, log: silentLog });
  manager.add(...simulation.controllers);
  for (const cluster of clusters) await simulation.ensureNodes(cluster, 2);
  manager.start(new AbortController().signal);
  stops.push(async () => {
    await manager.stop();
    informers.close();
  });
  return {
    client,
    simulation,
    get: (cluster: string, name: string): Promise<DeepReadonly<Pod>> => client.get(Pod, { cluster, namespace: "shop", name }),
    async pass(ms: number): Promise<void> {
      await reconcileUntilQuiet({ managers: [manager], server: client });
      clock.advance(ms);
      await reconcileUntilQuiet({ managers: [manager], server: client });
    },
  };
}
const makePod = (name: string, image = "web:1"): Pod => ({ apiVersion: "v1", kind: "Pod", metadata: { name, namespace: "shop" }, spec: { containers: [{ name: "main", image }] } });
const readiness = ({ status }: DeepReadonly<Pod>): string | undefined => status?.conditions?.find(({ type }) => type === "Ready")?.status;

test("a pod has a node at once and runs after the time it takes to start", async () => {
  const members = await startMembers("paris");
  await members.client.create(Pod, "paris", makePod("a"));

  await members.pass(1_999);
  const early = await members.get("paris", "a");
  await members.pass(1);
  const started = await members.get("paris", "a");

  expect([early.spec.nodeName, early.status?.phase]).toEqual(["node-000", undefined]);
  expect([started.status?.phase, readiness(started)]).toEqual(["Running", "True"]);
});

test("pods of different members do not count against each other", async () => {
  const members = await startMembers("paris", "oslo");
  for (const cluster of ["paris", "oslo"]) for (const name of ["a", "b"]) await members.client.create(Pod, cluster, makePod(name));

  await members.pass(0);

  const nodes = await Promise.all(["paris", "oslo"].map(async (cluster) => [(await members.get(cluster, "a")).spec.nodeName, (await members.get(cluster, "b")).spec.nodeName].toSorted((x, y) => ((x ?? "") < (y ?? "") ? -1 : 1))));
  expect(nodes).toEqual([
    ["node-000", "node-001"],
    ["node-000", "node-001"],
  ]);
});

test("a pod whose image changes is not ready while its container restarts", async () => {
  const members = await startMembers("paris");
  await members.client.create(Pod, "paris", makePod("a"));
  await members.pass(2_000);
  const running = await members.get("paris", "a");

  await members.client.update(Pod, "paris", { ...running, spec: { ...running.spec, containers: [{ name: "main", image: "web:2" }] } });
  await members.pass(0);
  const restarting = readiness(await members.get("paris", "a"));
  await members.pass(3_000);
  const restarted = await members.get("paris", "a");

  expect([restarting, readiness(restarted), restarted.status?.containerStatuses?.[0]?.restartCount]).toEqual(["False", "True", 1]);
});

test("a pod that fits nowhere is placed when a node appears", async () => {
  const members = await startMembers("paris");
  const picky = makePod("a");
  await members.client.create(Pod, "paris", { ...picky, spec: { ...picky.spec, nodeSelector: { "kubernetes.io/hostname": "node-002" } } });

  await members.pass(60_000);
  const waiting = await members.get("paris", "a");
  await members.simulation.ensureNodes("paris", 3);
  await members.pass(2_000);
  const placed = await members.get("paris", "a");

  expect(waiting.status?.conditions).toMatchObject([{ type: "PodScheduled", status: "False", reason: "Unschedulable" }]);
  expect([placed.spec.nodeName, readiness(placed)]).toEqual(["node-002", "True"]);
});

test("asking for nodes that are there writes nothing", async () => {
  const members = await startMembers("paris");
  const before = members.client.writes.length;

  await members.simulation.ensureNodes("paris", 2);

  expect(members.client.writes).toHaveLength(before);
});
