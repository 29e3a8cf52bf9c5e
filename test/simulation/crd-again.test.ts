/**
 * A member loses the objects of a kind, because its CRD or the object itself is deleted there, and gets them again. A
 * release that is in progress reaches no more pods than requested, and no pod is rolled back.
 */
import { afterEach, describe, expect, test } from "vitest";
import { CloneSet } from "@flotilla/openkruise";
import { OverridePolicy, PropagationPolicy } from "@flotilla/karmada";
import { CustomResourceDefinition, Namespace, Pod } from "@flotilla/kubernetes";
import { startTestFleet } from "@flotilla/testing/fleet/fleet.ts";
import type { TestFleet } from "@flotilla/testing/fleet/fleet.ts";
import { makeCloneSet, makePolicy } from "@flotilla/testing/builders.ts";
import { runCommand } from "./run-command.ts";

const SETTLED_MS = 60_000;
const STEP_MS = 200;
const web = { namespace: "shop", name: "web" };
const crd = { cluster: "m1", name: "clonesets.apps.kruise.io" };

let fleet: TestFleet;
afterEach(() => fleet.stop());

async function start(): Promise<void> {
  fleet = await startTestFleet({ members: ["m1", "m2"], nodes: 2 });
  await fleet.client.create(Namespace, "hub", { apiVersion: "v1", kind: "Namespace", metadata: { name: "shop" } });
  await fleet.client.create(
    PropagationPolicy,
    "hub",
    makePolicy("shop/all").selects("apps.kruise.io/v1alpha1", "CloneSet").weights({ m1: 1, m2: 1 }).build(),
  );
  await fleet.client.create(CloneSet, "hub", makeCloneSet("shop/web").replicas(6).image("web:1").build());
  await fleet.run(SETTLED_MS);
}

async function release(image: string, partition: number): Promise<void> {
  const template = { spec: { containers: [{ name: "web", image }] } };
  const change = { spec: { updateStrategy: { partition }, template } };
  await fleet.client.patch(CloneSet, { cluster: "hub", ...web }, change, { type: "merge" });
  await fleet.run(SETTLED_MS);
}

const run = async (...argv: [name: string, ...rest: string[]]): Promise<string> =>
  (await runCommand({ client: fleet.client, clock: fleet.clock }, ...argv)).text;

/** Pods that are not being deleted, by member and image. */
async function podsOf(cluster: string): Promise<string[]> {
  const { items } = await fleet.client.list(Pod, { cluster, namespace: "shop" });
  return items
    .filter(({ metadata }) => metadata.deletionTimestamp === undefined)
    .map(({ spec }) => spec.containers[0]?.image ?? "")
    .toSorted();
}

/** The images of all pods in the fleet at each step, until it is quiet. */
async function watchPods(ms: number): Promise<string[][]> {
  const seen: string[][] = [];
  for (let passed = 0; passed < ms; passed += STEP_MS) {
    await fleet.run(STEP_MS);
    seen.push([...(await podsOf("m1")), ...(await podsOf("m2"))]);
  }
  return seen;
}

async function recreateDefinition(gapMs: number): Promise<string> {
  const { apiVersion, kind, metadata, spec } = await fleet.client.get(CustomResourceDefinition, crd);
  await fleet.client.delete(CustomResourceDefinition, crd);
  await fleet.run(gapMs);
  const status = await run("status");
  const { name, labels, annotations } = metadata;
  await fleet.client.create(CustomResourceDefinition, "m1", {
    apiVersion,
    kind,
    metadata: { name, labels, annotations },
    spec,
  });
  return status;
}

describe("a CRD that is deleted and created again on a member", () => {
  test("brings the current revision back, and the loss is named meanwhile", async () => {
    await start();
    await release("web:2", 4);
    await release("web:2", 0);

    const status = await recreateDefinition(SETTLED_MS);
    const seen = await watchPods(10_000);
    await fleet.run(SETTLED_MS);

    expect(status).toContain("m1 does not serve CloneSet in apps.kruise.io/v1alpha1");
    expect(status).toContain(" 3/6 ");
    expect(new Set(seen.flat())).toEqual(new Set(["web:2"]));
    expect(await podsOf("m1")).toEqual(["web:2", "web:2", "web:2"]);
    expect(await run("why", "cloneset/web", "-n", "shop")).toContain("PROBLEMS\n  none");
  });

  const gaps: Record<string, number> = { "in the same moment": 0, "after a second": 1_000, "after a minute": 60_000 };
  for (const [when, gapMs] of Object.entries(gaps))
    test(`${when} lets a release reach no more pods than requested, and rolls none back`, async () => {
      await start();
      await release("web:2", 4);

      await recreateDefinition(gapMs);
      const seen = await watchPods(20_000);
      await fleet.run(SETTLED_MS);

      const released = seen.map((images) => images.filter((image) => image === "web:2").length);
      expect(Math.max(...released)).toBeLessThanOrEqual(2);
      expect([...(await podsOf("m1")), ...(await podsOf("m2"))].toSorted()).toEqual([
        ...Array.from({ length: 4 }, () => "web:1"),
        ...Array.from({ length: 2 }, () => "web:2"),
      ]);
      expect(await run("why", "cloneset/web", "-n", "shop")).toContain("PROBLEMS\n  none");
    });
});

test("an object that is deleted on a member during a release comes back without more pods of the release", async () => {
  await start();
  await release("web:2", 4);

  await fleet.client.delete(CloneSet, { cluster: "m1", ...web });
  const seen = await watchPods(20_000);
  await release("web:2", 0);

  const released = seen.map((images) => images.filter((image) => image === "web:2").length);
  expect(Math.max(...released)).toBeLessThanOrEqual(2);
  expect([...(await podsOf("m1")), ...(await podsOf("m2"))]).toEqual(Array.from({ length: 6 }, () => "web:2"));
});

describe("an object that is deleted on a member after releases that were abandoned", () => {
  const abandoned: Record<string, string[]> = {
    one: ["web:bad"],
    three: ["web:bad", "web:worse", "web:worst"],
    "more than are kept": ["web:a", "web:b", "web:c", "web:d", "web:e"],
  };
  for (const [count, images] of Object.entries(abandoned))
    test(`starts with the last complete release: ${count}`, async () => {
      await start();
      for (const image of images) await release(image, 5);
      await release("web:3", 5);
      const before = [...(await podsOf("m1")), ...(await podsOf("m2"))];

      await fleet.client.delete(CloneSet, { cluster: "m1", ...web });
      const seen = await watchPods(20_000);
      await fleet.run(SETTLED_MS);

      expect(before.toSorted()).toEqual(["web:1", "web:1", "web:1", "web:1", "web:1", "web:3"]);
      expect(new Set(seen.flat())).toEqual(new Set(["web:1", "web:3"]));
      expect(Math.max(...seen.map((each) => each.filter((image) => image === "web:3").length))).toBe(1);
      expect([...(await podsOf("m1")), ...(await podsOf("m2"))].toSorted()).toEqual(before.toSorted());
      expect(await run("why", "cloneset/web", "-n", "shop")).toContain("PROBLEMS\n  none");
    });
});

test("an object whose partition an override sets comes back with the pods that it had, and the other members keep theirs", async () => {
  await start();
  await fleet.client.create(OverridePolicy, "hub", {
    apiVersion: "policy.karmada.io/v1alpha1",
    kind: "OverridePolicy",
    metadata: { name: "pin", namespace: "shop" },
    spec: {
      resourceSelectors: [{ apiVersion: "apps.kruise.io/v1alpha1", kind: "CloneSet", name: "web" }],
      overrideRules: [
        {
          targetCluster: { clusterNames: ["m1"] },
          overriders: { plaintext: [{ path: "/spec/updateStrategy/partition", operator: "add", value: 1 }] },
        },
      ],
    },
  });
  await release("web:2", 4);
  const before = [await podsOf("m1"), await podsOf("m2")];

  await fleet.client.delete(CloneSet, { cluster: "m1", ...web });
  const seen = await watchPods(20_000);
  await fleet.run(SETTLED_MS);

  const released = seen.map((images) => images.filter((image) => image === "web:2").length);
  expect(before).toEqual([
    ["web:1", "web:2", "web:2"],
    ["web:1", "web:1", "web:1"],
  ]);
  expect(Math.max(...released)).toBe(2);
  expect([await podsOf("m1"), await podsOf("m2")]).toEqual(before);
  expect(await run("why", "cloneset/web", "-n", "shop")).toContain("PROBLEMS\n  none");
});
