/** Autoscalers on members that decide fewer replicas than the share: health, waiting, and drains that end. */
import { expect, test } from "vitest";
import type { JsonObject } from "@flotilla/base";
import { findCondition } from "@flotilla/apimachinery";
import { PropagationPolicy, ResourceBinding } from "@flotilla/karmada";
import { Deployment, HorizontalPodAutoscaler, Namespace, Pod } from "@flotilla/kubernetes";
import { CloneSet } from "@flotilla/openkruise";
import { makeCloneSet, makeDeployment, makePolicy } from "@flotilla/testing/builders.ts";
import { endsWithTest } from "@flotilla/testing/ends-with-test.ts";
import { startTestFleet } from "@flotilla/testing/fleet/fleet.ts";
import type { TestFleet } from "@flotilla/testing/fleet/fleet.ts";
import { planInput } from "../../packages/cli/src/explain/plan-input.ts";
import { runCommand } from "./run-command.ts";

const MEMBERS = ["member1", "member2", "member3"];
const SETTLED_MS = 60_000;

/** Without requests, an autoscaler reports that it cannot compare their load with its target. */
function withRequests({ spec }: { spec: { template: { spec?: { containers: { resources?: unknown }[] } } } }): void {
  for (const container of spec.template.spec?.containers ?? []) container.resources = { requests: { cpu: "100m" } };
}

/** Each member has a share of three, of which its autoscaler keeps one. */
async function startAutoscaled(): Promise<TestFleet> {
  const fleet = endsWithTest(await startTestFleet({ members: MEMBERS, nodes: 2 }));
  const { client } = fleet;
  await client.create(Namespace, "hub", { apiVersion: "v1", kind: "Namespace", metadata: { name: "shop" } });
  const policy = makePolicy("shop/all")
    .selects("apps/v1", "Deployment")
    .with(({ spec }) => {
      spec.resourceSelectors.push(
        { apiVersion: "apps.kruise.io/v1alpha1", kind: "CloneSet" },
        { apiVersion: "autoscaling/v2", kind: "HorizontalPodAutoscaler" },
      );
      spec.placement = {
        replicaScheduling: { replicaSchedulingType: "Divided", replicaDivisionPreference: "Weighted" },
      };
    });
  await client.create(PropagationPolicy, "hub", policy.build());
  await client.create(Deployment, "hub", makeDeployment("shop/web").replicas(9).with(withRequests).build());
  await client.create(CloneSet, "hub", makeCloneSet("shop/game").replicas(9).with(withRequests).build());
  for (const scaleTargetRef of [
    { apiVersion: "apps/v1", kind: "Deployment", name: "web" },
    { apiVersion: "apps.kruise.io/v1alpha1", kind: "CloneSet", name: "game" },
  ])
    await client.create(HorizontalPodAutoscaler, "hub", {
      apiVersion: "autoscaling/v2",
      kind: "HorizontalPodAutoscaler",
      metadata: { namespace: "shop", name: scaleTargetRef.name },
      spec: { scaleTargetRef, minReplicas: 1, maxReplicas: 1 },
    });
  await fleet.run(2 * SETTLED_MS);
  return fleet;
}

const podsOn = async ({ client }: TestFleet, cluster: string): Promise<number> =>
  (await client.list(Pod, { cluster, namespace: "shop" })).items.length;
const bindingsOf = async ({ client }: TestFleet) =>
  (await client.list(ResourceBinding, { cluster: "hub", namespace: "shop" })).items;

test("a workload is healthy with the replicas that its members' autoscalers decided", async () => {
  const fleet = await startAutoscaled();

  const health = (await bindingsOf(fleet)).map(({ metadata: { name }, status }) => [
    name,
    findCondition(status?.conditions, "Healthy")?.status,
  ]);
  const status = await runCommand(fleet, "status", "-n", "shop");
  const waited = ["deployment/web", "cloneset/game"].map(async (name) =>
    runCommand(fleet, "wait", name, "-n", "shop", "--timeout", "5s"),
  );
  await fleet.run(10_000);

  expect(await podsOn(fleet, "member1")).toBe(2);
  expect(Object.fromEntries(health)).toEqual({
    "web-deployment": "True",
    "game-cloneset": "True",
    "web-horizontalpodautoscaler": "True",
    "game-horizontalpodautoscaler": "True",
  });
  expect(status.text).toContain("No problems found");
  expect((await Promise.all(waited)).map(({ code }) => code)).toEqual([0, 0]);
});

test("a drain ends without scaling up the copies that leave, and their autoscalers leave after them", async () => {
  const fleet = await startAutoscaled();
  const on = { cluster: "member2", namespace: "shop" };
  const withoutAutoscaler = new Set<string>();
  let most = 0;

  const drained = runCommand(fleet, "drain", "member2", "--timeout", "60");
  for (let second = 0; second < 60; second++) {
    await fleet.run(1_000);
    const [deployments, cloneSets, autoscalers] = await Promise.all([
      fleet.client.list(Deployment, on),
      fleet.client.list(CloneSet, on),
      fleet.client.list(HorizontalPodAutoscaler, on),
    ]);
    const scaled = new Set(autoscalers.items.map(({ spec }) => spec.scaleTargetRef.name));
    for (const { metadata } of [...deployments.items, ...cloneSets.items])
      if (!scaled.has(metadata.name)) withoutAutoscaler.add(metadata.name);
    most = Math.max(most, await podsOn(fleet, "member2"));
  }

  expect(await drained).toMatchObject({ code: 0 });
  expect(withoutAutoscaler).toEqual(new Set());
  expect(most).toBe(2);
  expect(await podsOn(fleet, "member2")).toBe(0);
  expect((await fleet.client.list(HorizontalPodAutoscaler, on)).items).toEqual([]);
});

test("evictions that a drain began end after the member is uncordoned", async () => {
  const fleet = await startAutoscaled();
  const drained = runCommand(fleet, "drain", "member2", "--timeout", "1").catch(String);
  await fleet.run(2_000);

  const uncordoned = runCommand(fleet, "uncordon", "member2");
  await fleet.run(SETTLED_MS);

  await Promise.all([drained, uncordoned]);
  expect((await bindingsOf(fleet)).flatMap(({ spec }) => spec.gracefulEvictionTasks ?? [])).toEqual([]);
});

test("the plan of a partition says that members with fewer pods than their share update none", async () => {
  const fleet = await startAutoscaled();
  const wanted = makeCloneSet("shop/game")
    .replicas(9)
    .with(({ spec }) => (spec.updateStrategy = { rollingUpdate: { partition: 6 } }))
    .image("game:2")
    .build();

  const input = { manifests: [wanted as unknown as JsonObject], without: [], namespace: "shop" };
  const { changes } = await planInput(fleet.client, input, fleet.clock, new AbortController().signal);

  expect(changes.map(({ cluster, note }) => ({ cluster, note }))).toEqual(
    MEMBERS.map((cluster) => ({
      cluster,
      note: "the member decided to run 1 pod, fewer than its share: the partition 2 updates none of them",
    })),
  );
});
