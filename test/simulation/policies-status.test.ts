/** Policies report the state of their objects in their status, in few writes however many objects change. */
import { afterEach, expect, test } from "vitest";
import { Deployment, Namespace } from "@flotilla/kubernetes";
import { PropagationPolicy } from "@flotilla/karmada";
import { startTestFleet } from "@flotilla/testing/fleet/fleet.ts";
import type { TestFleet } from "@flotilla/testing/fleet/fleet.ts";
import { makeDeployment, makePolicy } from "@flotilla/testing/builders.ts";

const SETTLED_MS = 20_000;
let fleet: TestFleet;
afterEach(() => fleet.stop());

async function start(): Promise<void> {
  fleet = await startTestFleet({ members: ["member1", "member2"] });
  await fleet.client.create(Namespace, "hub", { apiVersion: "v1", kind: "Namespace", metadata: { name: "shop" } });
}

const statusWrites = (): number =>
  fleet
    .writes()
    .filter(
      ({ resource, subresource }) => resource === "propagationpolicies.policy.karmada.io" && subresource === "status",
    )
    .reduce((sum, { count }) => sum + count, 0);

test("forty workloads of one policy cause a handful of status writes, and none when all is quiet", async () => {
  await start();
  await fleet.client.create(
    PropagationPolicy,
    "hub",
    makePolicy("shop/all").selects("apps/v1", "Deployment").duplicates("member1", "member2").build(),
  );
  await fleet.run(SETTLED_MS);
  fleet.resetWrites();
  for (let index = 0; index < 40; index++)
    await fleet.client.create(Deployment, "hub", makeDeployment(`shop/web-${index}`).build());
  await fleet.run(SETTLED_MS);

  expect(
    (await fleet.client.get(PropagationPolicy, { cluster: "hub", namespace: "shop", name: "all" })).status,
  ).toMatchObject({
    observedGeneration: 1,
    matched: 40,
    scheduled: 40,
    applied: 40,
    clusters: ["member1", "member2"],
    conditions: [
      { type: "Matched", status: "True" },
      { type: "Scheduled", status: "True" },
      { type: "FullyApplied", status: "True" },
    ],
  });
  expect(statusWrites()).toBeLessThanOrEqual(4);
  fleet.resetWrites();
  await fleet.run(10 * 60_000);
  expect(fleet.writes()).toEqual([]);
});

test("a policy without a fitting cluster reports the object and the reason, and that it matched nothing once the object is deleted", async () => {
  await start();
  const key = { cluster: "hub", namespace: "shop", name: "all" };
  await fleet.client.create(
    PropagationPolicy,
    "hub",
    makePolicy("shop/all").selects("apps/v1", "Deployment").duplicates("nowhere").build(),
  );
  await fleet.client.create(Deployment, "hub", makeDeployment("shop/web").build());
  await fleet.run(SETTLED_MS);
  expect((await fleet.client.get(PropagationPolicy, key)).status).toMatchObject({
    matched: 1,
    scheduled: 0,
    problems: [{ kind: "Deployment", name: "web", reason: "NoClusterFit" }],
  });

  await fleet.client.delete(Deployment, { cluster: "hub", namespace: "shop", name: "web" });
  await fleet.run(SETTLED_MS);

  const { status } = await fleet.client.get(PropagationPolicy, key);
  expect(status).toMatchObject({
    matched: 0,
    conditions: [{ type: "Matched", status: "False", reason: "NothingMatched" }, {}, {}],
  });
  expect(status).not.toHaveProperty("problems");
});
