/** Replicas that an autoscaler on a member decides: plan, why and status have the numbers of the member. */
import { expect, test } from "vitest";
import type { JsonObject } from "@flotilla/base";
import { PropagationPolicy } from "@flotilla/karmada";
import { Deployment, HorizontalPodAutoscaler, Namespace } from "@flotilla/kubernetes";
import { makeDeployment, makePolicy } from "@flotilla/testing/builders.ts";
import { endsWithTest } from "@flotilla/testing/ends-with-test.ts";
import { startTestFleet } from "@flotilla/testing/fleet/fleet.ts";
import { planInput } from "../../packages/cli/src/explain/plan-input.ts";
import { runCommand } from "./run-command.ts";

const { signal } = new AbortController();
const SETTLED_MS = 60_000;
const web = { namespace: "shop", name: "web" };

test("replicas that an autoscaler on a member decides are those of the member in plan, why and status", async () => {
  const fleet = endsWithTest(await startTestFleet({ members: ["member1", "member2"], nodes: 1 }));
  const { client } = fleet;
  await client.create(Namespace, "hub", { apiVersion: "v1", kind: "Namespace", metadata: { name: "shop" } });
  const policy = makePolicy("shop/all").selects("apps/v1", "Deployment").weights({ member1: 1, member2: 1 }).build();
  await client.create(PropagationPolicy, "hub", policy);
  await client.create(Deployment, "hub", makeDeployment("shop/web").replicas(4).build());
  await fleet.run(SETTLED_MS);
  await client.create(HorizontalPodAutoscaler, "member2", {
    apiVersion: "autoscaling/v2",
    kind: "HorizontalPodAutoscaler",
    metadata: { namespace: "shop", name: "busy" },
    spec: {
      scaleTargetRef: { apiVersion: "apps/v1", kind: "Deployment", name: "web" },
      minReplicas: 5,
      maxReplicas: 9,
    },
  });
  await client.patch(Deployment, { cluster: "member2", ...web }, { spec: { replicas: 5 } }, { type: "merge" });
  await fleet.run(SETTLED_MS);

  const wanted = makeDeployment("shop/web").replicas(6).build();
  const input = { manifests: [wanted as unknown as JsonObject], without: [], namespace: "shop" };
  const { changes, notes } = await planInput(client, input, fleet.clock, signal);
  const withImage = makeDeployment("shop/web").replicas(6).image("web:2").build();
  const both = await planInput(
    client,
    { ...input, manifests: [withImage as unknown as JsonObject] },
    fleet.clock,
    signal,
  );
  await client.patch(Deployment, { cluster: "hub", ...web }, { spec: { replicas: 6 } }, { type: "merge" });
  await fleet.run(SETTLED_MS);
  const why = await runCommand(fleet, "why", "deployment/web", "-n", "shop");
  const status = await runCommand(fleet, "status", "-n", "shop");

  expect(changes.map(({ cluster, fields }) => ({ cluster, fields }))).toEqual([
    { cluster: "member1", fields: [{ path: "spec.replicas", before: 2, after: 3 }] },
  ]);
  expect(notes).toContain(
    "Deployment shop/web on member2 stays: spec.replicas is left to HorizontalPodAutoscaler busy: 5, the hub asks for 3",
  );
  expect(both.changes.find(({ cluster }) => cluster === "member2")).toMatchObject({
    fields: [{ path: expect.stringContaining("image"), after: "web:2" }],
    note: "spec.replicas is left to HorizontalPodAutoscaler busy: 5",
  });
  expect((await client.get(Deployment, { cluster: "member2", ...web })).spec.replicas).toBe(5);
  expect(why.text).toContain("member2: 5 replicas, applied, healthy");
  expect(why.text).toContain("on member   spec.replicas: 3 → 5, left to HorizontalPodAutoscaler busy there");
  expect(status.text).toContain("member1=3 member2=3 (runs 5)");
});
