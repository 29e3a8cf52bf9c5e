/** Policies tell in their status what became of their objects, in few writes however many objects move. */
import { afterEach, expect, test } from "vitest";
import { Deployment, Namespace, PropagationPolicy, ResourceBinding } from "../../src/api/index.ts";
import { createSeededRandom, silentLog } from "../../src/base/index.ts";
import { createInformers, createManager, createStatusWriter, idOfKey, keyOf } from "../../src/runtime/index.ts";
import { createPolicyStatusController } from "../../src/propagation/match/policy-status-controller.ts";
import { createPolicyTally } from "../../src/propagation/match/policy-tally.ts";
import { startTestFleet } from "../../src/testing/fleet/index.ts";
import type { TestFleet } from "../../src/testing/fleet/index.ts";
import { makeDeployment, makePolicy, reconcileUntilQuiet } from "../../src/testing/index.ts";

const SETTLED_MS = 20_000;
let stopping: AbortController;
let fleet: TestFleet;
let settle: () => Promise<void>;
afterEach(async () => {
  stopping.abort();
  await fleet.stop();
});

/** A fleet with a second writer of the policies' status on a clock of its own, so that its writes are counted apart. */
async function start(): Promise<void> {
  stopping = new AbortController();
  fleet = await startTestFleet({ members: ["member1", "member2"] });
  const { client, clock } = fleet;
  const informers = createInformers({ client, clock, random: createSeededRandom(1), log: silentLog, scope: { cluster: "hub" } });
  const tally = createPolicyTally();
  informers.of(ResourceBinding).subscribe(({ object, deleted }) => tally.bind(idOfKey(keyOf("hub", object)), deleted ? undefined : object));
  const policies = informers.of(PropagationPolicy);
  const policyStatus = createStatusWriter({ client, kind: PropagationPolicy, lister: policies, clock, windowMs: 50, log: silentLog });
  const manager = createManager({ client, informers, clock, log: silentLog });
  manager.add(createPolicyStatusController({ hub: "hub", kind: PropagationPolicy, policies, tally, policyStatus, clock }));
  manager.start(stopping.signal);
  await manager.whenSynced(stopping.signal);
  settle = () => reconcileUntilQuiet({ managers: [...fleet.hub.managers, manager], server: { isQuiet: () => fleet.hub.isQuiet() && policyStatus.isQuiet() } });
  await client.create(Namespace, "hub", { apiVersion: "v1", kind: "Namespace", metadata: { name: "shop" } });
}

async function run(ms: number): Promise<void> {
  const { clock } = fleet;
  await settle();
  const end = clock.now() + ms;
  for (let due = clock.nextDue(); due !== undefined && due <= end; due = clock.nextDue()) {
    clock.advance(Math.max(0, due - clock.now()));
    await settle();
  }
  clock.advance(end - clock.now());
  await settle();
}

const statusWrites = (): number =>
  fleet
    .writes()
    .filter(({ resource, subresource }) => resource === "propagationpolicies.policy.karmada.io" && subresource === "status")
    .reduce((sum, { count }) => sum + count, 0);

test("forty workloads of one policy cost it a handful of writes, and none when all is quiet", async () => {
  await start();
  await fleet.client.create(PropagationPolicy, "hub", makePolicy("shop/all").selects("apps/v1", "Deployment").duplicates("member1", "member2").build());
  await run(SETTLED_MS);
  fleet.resetWrites();
  for (let index = 0; index < 40; index++) await fleet.client.create(Deployment, "hub", makeDeployment(`shop/web-${index}`).build());
  await run(SETTLED_MS);

  expect((await fleet.client.get(PropagationPolicy, { cluster: "hub", namespace: "shop", name: "all" })).status).toMatchObject({
    observedGeneration: 1,
    matched: 40,
    scheduled: 40,
    applied: 40,
    clusters: ["member1", "member2"],
    conditions: [{ type: "Matched", status: "True" }, { type: "Scheduled", status: "True" }, { type: "FullyApplied", status: "True" }],
  });
  expect(statusWrites()).toBeLessThanOrEqual(4);
  fleet.resetWrites();
  await run(10 * 60_000);
  expect(fleet.writes()).toEqual([]);
});

test("a policy that nothing fits says which object and why, and that it matched nothing once the object is gone", async () => {
  await start();
  const key = { cluster: "hub", namespace: "shop", name: "all" };
  await fleet.client.create(PropagationPolicy, "hub", makePolicy("shop/all").selects("apps/v1", "Deployment").duplicates("nowhere").build());
  await fleet.client.create(Deployment, "hub", makeDeployment("shop/web").build());
  await run(SETTLED_MS);
  expect((await fleet.client.get(PropagationPolicy, key)).status).toMatchObject({ matched: 1, scheduled: 0, problems: [{ kind: "Deployment", name: "web", reason: "NoClusterFit" }] });

  await fleet.client.delete(Deployment, { cluster: "hub", namespace: "shop", name: "web" });
  await run(SETTLED_MS);

  const { status } = await fleet.client.get(PropagationPolicy, key);
  expect(status).toMatchObject({ matched: 0, conditions: [{ type: "Matched", status: "False", reason: "NothingMatched" }, {}, {}] });
  expect(status).not.toHaveProperty("problems");
});
