/** A template that opts out of management on some members from the start: those keep what they have. */
import { afterEach, expect, test } from "vitest";
import { PropagationPolicy, ResourceBinding } from "@flotilla/karmada";
import { Deployment, Namespace } from "@flotilla/kubernetes";
import { startTestFleet } from "@flotilla/testing/fleet/fleet.ts";
import type { TestFleet } from "@flotilla/testing/fleet/fleet.ts";
import { makeDeployment, makePolicy } from "@flotilla/testing/builders.ts";
import { runCommand } from "./run-command.ts";

let fleet: TestFleet;
afterEach(() => fleet.stop());

test("the status of the other members is reported, and nothing is missing", async () => {
  fleet = await startTestFleet({ members: ["member1", "member2"], nodes: 1 });
  await fleet.client.create(Namespace, "hub", { apiVersion: "v1", kind: "Namespace", metadata: { name: "shop" } });
  await fleet.run(5_000);
  await fleet.client.create(Deployment, "member1", makeDeployment("shop/web").replicas(1).build());
  const policy = makePolicy("shop/all").selects("apps/v1", "Deployment").duplicates("member1", "member2");
  await fleet.client.create(PropagationPolicy, "hub", policy.build());
  const web = makeDeployment("shop/web").replicas(2);
  web.with(({ metadata }) => (metadata.annotations = { "flotilla.dev/unmanaged": "member1" }));
  await fleet.client.create(Deployment, "hub", web.build());

  await fleet.run(180_000);

  const [binding] = (await fleet.client.list(ResourceBinding, { cluster: "hub" })).items;
  expect(binding?.status?.aggregatedStatus).toMatchObject([
    { clusterName: "member2", applied: true, health: "Healthy", status: { readyReplicas: 2 } },
  ]);
  expect(binding?.status?.conditions).toContainEqual(expect.objectContaining({ type: "FullyApplied", status: "True" }));
  expect(binding?.status?.conditions).toContainEqual(expect.objectContaining({ type: "Healthy", status: "True" }));
  const key = { namespace: "shop", name: "web" };
  const { status } = await fleet.client.get(Deployment, { cluster: "hub", ...key });
  expect(status?.readyReplicas).toBe(2);
  expect(status?.conditions).toContainEqual(expect.objectContaining({ type: "Available", status: "True" }));
  expect((await fleet.client.get(Deployment, { cluster: "member1", ...key })).spec.replicas).toBe(1);
  expect((await runCommand(fleet, "status")).text).toContain("No problems found");
});
