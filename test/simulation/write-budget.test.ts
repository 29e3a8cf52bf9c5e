/** Budgets are counts first: what a workload costs in API writes, and that a converged fleet writes nothing. */
import { afterEach, expect, test } from "vitest";
import { Deployment, Namespace, PropagationPolicy } from "../../src/api/index.ts";
import { copy } from "../../src/base/index.ts";
import { startTestFleet } from "../../src/testing/fleet/index.ts";
import type { TestFleet } from "../../src/testing/fleet/index.ts";
import { makeDeployment, makePolicy } from "../../src/testing/index.ts";

/** From the user's apply until the hub shows the members' status, on two members, the user's own write included. */
const WRITES_PER_WORKLOAD = 12;
const MINUTE_MS = 60_000;

let fleet: TestFleet | undefined;
afterEach(async () => {
  await fleet?.stop();
  fleet = undefined;
});

/** What a member's own controllers would report once all replicas are ready. */
async function reportReady({ client }: TestFleet, cluster: string, name: string): Promise<void> {
  const deployment = await client.get(Deployment, { cluster, namespace: "shop", name });
  const replicas = deployment.spec.replicas ?? 0;
  const status = { observedGeneration: deployment.metadata.generation, replicas, updatedReplicas: replicas, readyReplicas: replicas, availableReplicas: replicas };
  await client.updateStatus(Deployment, cluster, { ...copy(deployment), status });
}

test("a workload on two members costs at most 12 writes until its status is back, and none in the minute after", async () => {
  fleet = await startTestFleet({ members: ["member1", "member2"] });
  const { client } = fleet;
  await client.create(Namespace, "hub", { apiVersion: "v1", kind: "Namespace", metadata: { name: "shop" } });
  await client.create(PropagationPolicy, "hub", makePolicy("shop/all").selects("apps/v1", "Deployment").weights({ member1: 2, member2: 1 }).build());
  await fleet.run(MINUTE_MS);
  fleet.resetWrites();

  await client.create(Deployment, "hub", makeDeployment("shop/web").replicas(6).build());
  await fleet.settle();
  await reportReady(fleet, "member1", "web");
  await reportReady(fleet, "member2", "web");
  await fleet.run(5_000);

  const seen = await client.get(Deployment, { cluster: "hub", namespace: "shop", name: "web" });
  expect(seen.status).toMatchObject({ replicas: 6, readyReplicas: 6, availableReplicas: 6, observedGeneration: seen.metadata.generation });
  // The members' status is written by their own controllers, which this test stands in for.
  const pipeline = fleet.writes().filter(({ cluster, subresource }) => !(cluster !== "hub" && subresource === "status"));
  const total = pipeline.reduce((sum, { count }) => sum + count, 0);
  expect(total, pipeline.map(({ part, cluster, verb, resource, subresource, count }) => `${count} × ${part} ${verb} ${resource}/${subresource} on ${cluster}`).join("\n")).toBeLessThanOrEqual(WRITES_PER_WORKLOAD);

  fleet.resetWrites();
  await fleet.run(MINUTE_MS);
  expect(fleet.writes()).toEqual([]);
});
