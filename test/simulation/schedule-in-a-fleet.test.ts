import { expect, onTestFinished, test } from "vitest";
import { Deployment, Namespace } from "@flotilla/kubernetes";
import { PropagationPolicy, ResourceBinding } from "@flotilla/karmada";
import { startTestFleet } from "@flotilla/testing/fleet/fleet.ts";
import { makeDeployment, makePolicy } from "@flotilla/testing/builders.ts";

/** A simulated node takes 110 pods, two of which belong to OpenKruise. */
const PODS_PER_MEMBER = 108;

test("an unschedulable workload waits without retries, and runs when another one frees capacity", async () => {
  const fleet = await startTestFleet({ members: ["member1", "member2"], nodes: 1 });
  onTestFinished(() => fleet.stop());
  const policy = makePolicy("shop/all")
    .selects("apps/v1", "Deployment")
    .with(({ spec }) => {
      spec.placement = {
        replicaScheduling: { replicaSchedulingType: "Divided", replicaDivisionPreference: "Aggregated" },
      };
    });
  const clustersOf = async (name: string): Promise<unknown> =>
    (await fleet.client.get(ResourceBinding, { cluster: "hub", namespace: "shop", name: `${name}-deployment` })).spec
      .clusters;
  await fleet.client.create(Namespace, "hub", { apiVersion: "v1", kind: "Namespace", metadata: { name: "shop" } });
  await fleet.client.create(PropagationPolicy, "hub", policy.build());
  await fleet.client.create(
    Deployment,
    "hub",
    makeDeployment("shop/first")
      .replicas(PODS_PER_MEMBER + 50)
      .build(),
  );
  await fleet.run(60_000);
  expect(await clustersOf("first")).toEqual([
    { name: "member1", replicas: 79 },
    { name: "member2", replicas: 79 },
  ]);

  await fleet.client.create(Deployment, "hub", makeDeployment("shop/second").replicas(70).build());
  await fleet.run(60_000);
  expect(await clustersOf("second")).toBeUndefined();
  fleet.resetWrites();
  await fleet.run(120_000);
  expect(fleet.writes()).toEqual([]);

  await fleet.client.patch(
    Deployment,
    { cluster: "hub", namespace: "shop", name: "first" },
    { spec: { replicas: 20 } },
    { type: "merge" },
  );
  await fleet.run(60_000);

  expect(await clustersOf("second")).toEqual([{ name: expect.any(String), replicas: 70 }]);
});
