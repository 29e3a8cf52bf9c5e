/** A fleet that restarts on its data continues: it finds everything in place and writes nothing. */
import { expect, test } from "vitest";
import { CloneSet } from "@flotilla/openkruise";
import { Deployment, Namespace } from "@flotilla/kubernetes";
import { PropagationPolicy } from "@flotilla/karmada";
import { createLastingEngine, startTestFleet } from "@flotilla/testing/fleet/fleet.ts";
import { makeCloneSet, makeDeployment, makePolicy } from "@flotilla/testing/builders.ts";

test("a converged fleet that restarts writes nothing", async () => {
  // The process restarts; the store stays.
  const engine = createLastingEngine();
  const options = { members: ["member1", "member2"], nodes: 2, engine };
  const first = await startTestFleet(options);
  await first.client.create(Namespace, "hub", { apiVersion: "v1", kind: "Namespace", metadata: { name: "shop" } });
  await first.client.create(
    PropagationPolicy,
    "hub",
    makePolicy("shop/all")
      .selects("apps/v1", "Deployment")
      .selects("apps.kruise.io/v1beta1", "CloneSet")
      .weights({ member1: 2, member2: 1 })
      .build(),
  );
  await first.client.create(Deployment, "hub", makeDeployment("shop/web").replicas(3).build());
  await first.client.create(CloneSet, "hub", makeCloneSet("shop/cart").replicas(6).build());
  await first.run(30_000);
  expect((await first.client.get(CloneSet, { cluster: "hub", namespace: "shop", name: "cart" })).status).toMatchObject({
    readyReplicas: 6,
  });
  await first.stop();

  const second = await startTestFleet(options);
  await second.run(120_000);

  expect(second.writes()).toEqual([]);
  await second.stop();
});
