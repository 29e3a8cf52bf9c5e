/** A released object is not changed any more, but still runs for the template: the hub keeps showing its status. */
import { afterEach, expect, test } from "vitest";
import { Deployment, Namespace } from "@flotilla/kubernetes";
import { PropagationPolicy } from "@flotilla/karmada";
import { startTestFleet } from "@flotilla/testing/fleet/fleet.ts";
import type { TestFleet } from "@flotilla/testing/fleet/fleet.ts";
import { makeDeployment, makePolicy } from "@flotilla/testing/builders.ts";

const SETTLED_MS = 20_000;
const WEB = { cluster: "hub", namespace: "shop", name: "web" };

let fleet: TestFleet;
afterEach(() => fleet.stop());

test("the status of a released object is on the hub until it is deleted", async () => {
  fleet = await startTestFleet({ members: ["member1", "member2"], nodes: 1 });
  await fleet.client.create(Namespace, "hub", { apiVersion: "v1", kind: "Namespace", metadata: { name: "shop" } });
  await fleet.client.create(
    PropagationPolicy,
    "hub",
    makePolicy("shop/all").selects("apps/v1", "Deployment").weights({ member1: 1, member2: 1 }).build(),
  );
  await fleet.client.create(Deployment, "hub", makeDeployment("shop/web").replicas(4).build());
  await fleet.run(SETTLED_MS);
  const status = async (): Promise<unknown> => (await fleet.client.get(Deployment, WEB)).status;
  await fleet.client.patch(
    Deployment,
    WEB,
    { metadata: { annotations: { "flotilla.dev/unmanaged": "member1" } } },
    { type: "merge" },
  );
  await fleet.run(SETTLED_MS);
  expect(await status()).toMatchObject({ replicas: 4, readyReplicas: 4 });

  await fleet.client.patch(Deployment, { ...WEB, cluster: "member1" }, { spec: { replicas: 5 } }, { type: "merge" });
  await fleet.run(SETTLED_MS);
  expect(await status()).toMatchObject({ replicas: 7, readyReplicas: 7 });

  await fleet.client.delete(Deployment, { ...WEB, cluster: "member1" });
  await fleet.run(SETTLED_MS);
  expect(await status()).toMatchObject({ replicas: 2, readyReplicas: 2 });
  fleet.resetWrites();
  await fleet.run(60_000);
  expect(fleet.writes()).toEqual([]);
});
