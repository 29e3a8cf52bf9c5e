/** Releases in waves over a simulated fleet: what members have, and what the FleetRollout says. */
import { afterEach, expect, test } from "vitest";
import type { Json, JsonObject } from "@flotilla/base";
import { FleetDisruptionBudget, FleetRollout, RolloutStrategy } from "@flotilla/flotilla";
import { Cluster } from "@flotilla/karmada";
import { Pod } from "@flotilla/kubernetes";
import { CloneSet } from "@flotilla/openkruise";
import { makeCloneSet, makePolicy } from "@flotilla/testing/builders.ts";
import type { TestFleet } from "@flotilla/testing/fleet/fleet.ts";
import { planInput } from "../../packages/cli/src/explain/plan-input.ts";
import type { PlanResult } from "../../packages/cli/src/explain/plan-input.ts";
import { runCommand } from "./run-command.ts";
import { createStrategy, startShop, WEB as web } from "./shop-fleet.ts";

const MEMBERS = ["member1", "member2", "member3", "member4", "member5", "member6"];
const TIERS: Record<string, string> = { member1: "canary", member2: "half", member3: "half" };

let fleet: TestFleet;
afterEach(() => fleet.stop());

type Strategy = Omit<RolloutStrategy["spec"], "selector" | "historyLimit" | "order" | "unit" | "failure"> & {
  failure?: Partial<RolloutStrategy["spec"]["failure"]>;
};

async function start(strategy: Strategy, podUpdatePolicy = "InPlaceIfPossible"): Promise<void> {
  const policy = makePolicy("shop/all").selects("apps.kruise.io/v1beta1", "CloneSet");
  fleet = await startShop(MEMBERS, policy.weights(Object.fromEntries(MEMBERS.map((name) => [name, 1]))).build());
  for (const [name, tier] of Object.entries(TIERS))
    await fleet.client.patch(Cluster, { cluster: "hub", name }, { metadata: { labels: { tier } } }, { type: "merge" });
  await createStrategy(fleet.client, strategy);
  const cloneSet = makeCloneSet("shop/web")
    .replicas(12)
    .with(({ metadata, spec }) => {
      metadata.labels = { release: "careful" };
      spec.updateStrategy = { type: "RollingUpdate", rollingUpdate: { podUpdatePolicy } } as never;
    })
    .build();
  await fleet.client.create(CloneSet, "hub", cloneSet);
  await fleet.run(20_000);
}

const release = (image: string): Promise<unknown> =>
  fleet.client.patch(
    CloneSet,
    web,
    { spec: { template: { spec: { containers: [{ name: "web", image }] } } } },
    { type: "merge" },
  );

async function imagesBy(): Promise<Record<string, string>> {
  const images: Record<string, string> = {};
  for (const cluster of MEMBERS) {
    const { items } = await fleet.client.list(Pod, { cluster, namespace: "shop" });
    images[cluster] = items
      .filter(({ metadata }) => !metadata.deletionTimestamp)
      .map(({ spec }) => spec.containers[0]?.image ?? "")
      .sort()
      .join(" ");
  }
  return images;
}
const newest = async (): Promise<FleetRollout> => {
  const { items } = await fleet.client.list(FleetRollout, { cluster: "hub", namespace: "shop" });
  return items.toSorted((a, b) => b.spec.number - a.spec.number)[0] as FleetRollout;
};
const change = async (spec: Json): Promise<unknown> =>
  fleet.client.patch(FleetRollout, { ...web, name: (await newest()).metadata.name }, { spec }, { type: "merge" });

const planned = (...manifests: object[]): Promise<PlanResult> =>
  planInput(
    fleet.client,
    { manifests: manifests as JsonObject[], without: [], namespace: "shop" },
    fleet.clock,
    new AbortController().signal,
  );

const CANARY: Strategy["waves"][number] = { name: "canary", clusters: { matchLabels: { tier: "canary" } } };
const WAVES: Strategy["waves"] = [
  CANARY,
  { name: "half", clusters: { matchLabels: { tier: "half" } }, before: [{ approval: {} }], after: [{ soak: "30s" }] },
  { name: "all" },
];

test("a release reaches one wave after the other, behind its gates", async () => {
  await start({ waves: WAVES });
  expect((await newest()).status).toMatchObject({ phase: "Succeeded", updated: 12, total: 12 });

  await release("web:2");
  await fleet.run(20_000);
  expect((await newest()).status).toMatchObject({
    phase: "Progressing",
    wave: "half",
    updated: 2,
    total: 12,
    waitingFor: "approval of half",
  });
  expect(await imagesBy()).toMatchObject({ member1: "web:2 web:2", member2: "web:1 web:1", member4: "web:1 web:1" });

  await change({ approvals: ["half"] });
  await fleet.run(20_000);
  expect((await newest()).status).toMatchObject({ phase: "Progressing", wave: "half", updated: 6 });
  expect(await imagesBy()).toMatchObject({ member3: "web:2 web:2", member4: "web:1 web:1" });

  await fleet.run(60_000);
  expect((await newest()).status).toMatchObject({ phase: "Succeeded", wave: "all", updated: 12, ready: 12 });
  expect(new Set(Object.values(await imagesBy()))).toEqual(new Set(["web:2 web:2"]));
});

test("an approval before a wave does not open the approval after it, which takes a second one", async () => {
  const half = { name: "half", clusters: { matchLabels: { tier: "half" } } };
  const rollout = async (action: string, ...args: string[]): Promise<string> =>
    (
      await runCommand(
        { client: fleet.client, clock: fleet.clock },
        "rollout",
        action,
        "cloneset/web",
        "-n",
        "shop",
        ...args,
      )
    ).text;
  await start({ waves: [CANARY, { ...half, before: [{ approval: {} }], after: [{ approval: {} }] }, { name: "all" }] });

  await release("web:2");
  await fleet.run(20_000);
  const first = await rollout("approve");
  await fleet.run(20_000);
  const between = await newest();
  const advice = (await runCommand({ client: fleet.client, clock: fleet.clock }, "status", "-n", "shop")).text;
  const second = await rollout("approve", "--wave", "half");
  await fleet.run(20_000);

  expect(first).toMatch(/wave half of .* is approved/);
  expect(between).toMatchObject({
    spec: { approvals: ["half"] },
    status: { wave: "half", waveState: "After", updated: 6 },
  });
  expect(advice.replace(/\s+/g, " ")).toContain("approve cloneset/web -n shop --wave half/after");
  expect(second).toMatch(/wave half\/after of .* is approved/);
  expect(await newest()).toMatchObject({
    spec: { approvals: ["half", "half/after"] },
    status: { phase: "Succeeded", updated: 12 },
  });
});

const breakPods = (fault: string): Promise<unknown> =>
  fleet.client.patch(
    CloneSet,
    web,
    {
      spec: {
        template: {
          metadata: { annotations: { "simulation.flotilla.dev/fault": fault } },
          spec: { containers: [{ name: "web", image: "web:2" }] },
        },
      },
    },
    { type: "merge" },
  );

test("a release whose pods cannot start returns at once, and its next wave never starts", async () => {
  await start({
    waves: [CANARY, { name: "half", clusters: { matchLabels: { tier: "half" } } }, { name: "all" }],
    failure: { action: "Rollback", progressDeadline: "2m" },
    maxUnavailable: "20%",
  });
  await breakPods("image-pull-error");
  await fleet.run(60_000);

  const { status } = await newest();
  expect(status).toMatchObject({ phase: "RolledBack", failure: { reason: "PodsFailing", wave: "canary" } });
  expect(new Set(Object.values(await imagesBy()))).toEqual(new Set(["web:1 web:1"]));
});

test("a wave that breaks returns with the waves before it within a minute, and the next one is never changed", async () => {
  await start(
    {
      waves: [
        CANARY,
        { name: "half", clusters: { matchLabels: { tier: "half" } }, after: [{ soak: "5m" }] },
        { name: "all" },
      ],
      failure: { action: "Rollback", progressDeadline: "2m" },
    },
    "ReCreate",
  );
  await release("web:2");
  await fleet.run(20_000);
  expect(await imagesBy()).toMatchObject({ member1: "web:2 web:2", member2: "web:2 web:2", member4: "web:1 web:1" });
  const [pod] = (await fleet.client.list(Pod, { cluster: "member2", namespace: "shop" })).items;
  const fault = { metadata: { annotations: { "simulation.flotilla.dev/fault": "crash-loop" } } };
  const generations = await generationsOf(["member4", "member5", "member6"]);
  await fleet.client.patch(Pod, { cluster: "member2", namespace: "shop", name: pod?.metadata.name ?? "" }, fault, {
    type: "merge",
  });
  await fleet.run(60_000);

  const { status } = await newest();
  expect(status).toMatchObject({
    phase: "RolledBack",
    updated: 0,
    failure: { wave: "half", cluster: "member2" },
  });
  expect(await imagesBy()).toMatchObject({ member1: "web:1 web:1", member3: "web:1 web:1", member4: "web:1 web:1" });
  expect(await generationsOf(["member4", "member5", "member6"])).toEqual(generations);
});

const generationsOf = async (members: readonly string[]): Promise<unknown[]> =>
  Promise.all(
    members.map(async (cluster) => (await fleet.client.get(CloneSet, { ...web, cluster })).metadata.generation),
  );

test("a plan shows every wave with its gates before the release starts, and changes only the first wave's members", async () => {
  await start({ waves: WAVES, failure: { action: "Rollback" } });
  const { apiVersion, kind, metadata, spec } = await fleet.client.get(CloneSet, web);
  const { name, namespace, labels } = metadata;
  const template = { ...spec.template, spec: { containers: [{ name: "web", image: "web:2" }] } };
  const changed = { apiVersion, kind, metadata: { name, namespace, labels }, spec: { ...spec, template } };

  const result = await planned(changed);

  expect(result.releases).toEqual([
    {
      resource: "CloneSet shop/web",
      strategy: "careful",
      waves: [
        { name: "canary", updated: 2, clusters: ["member1"], before: undefined, after: undefined },
        { name: "half", updated: 6, clusters: ["member2", "member3"], before: ["approval"], after: ["soak 30s"] },
        { name: "all", updated: 12, clusters: ["member4", "member5", "member6"], before: undefined, after: undefined },
      ],
      total: 12,
      waitingFor: "pods on member1",
      onFailure: "Rollback",
    },
  ]);
  expect(result.changes.map(({ cluster }) => cluster)).toEqual(["member1"]);
  await release("web:2");
  await fleet.run(20_000);
  expect((await newest()).status?.plan?.map(({ name, updated }) => [name, updated])).toEqual([
    ["canary", 2],
    ["half", 6],
    ["all", 12],
  ]);
  expect(await planned(changed)).toMatchObject({ releases: [], changes: [] });
});

test("why names the wave that a member with the old revision waits for", async () => {
  await start({ waves: WAVES });
  await release("web:2");
  await fleet.run(20_000);

  const { text } = await runCommand(fleet, "why", "cloneset/web", "-n", "shop");

  expect(text).toMatch(
    /PROBLEMS\n  release (web-\w+) in wave half \(2 of 3\), 2 of 12 pods updated, waits for approval/,
  );
  expect(text).toMatch(/half +6 of 12 +waits +member2, member3/);
  expect(text).toMatch(
    /member2: 2 replicas, applied, healthy\n(?: .*\n)* +release +it keeps web-\w+: its wave half is not open, and waits for approval of half/,
  );
  expect(text).toMatch(/release +it keeps web-\w+: its wave all is not open; wave half waits for approval of half/);
  expect(text.match(/^ +release /gm)?.length, text).toBe(6);
});

test("a budget that allows no unavailable pod keeps no new workload from its members", async () => {
  await start({ waves: WAVES });
  await fleet.client.create(FleetDisruptionBudget, "hub", {
    apiVersion: "flotilla.dev/v1alpha1",
    kind: "FleetDisruptionBudget",
    metadata: { name: "strict", namespace: "shop" },
    spec: { selector: { matchLabels: { release: "careful" } }, maxUnavailable: 0 },
  });
  const cart = makeCloneSet("shop/cart")
    .replicas(6)
    .with(({ metadata }) => {
      metadata.labels = { release: "careful" };
    })
    .build();

  await fleet.client.create(CloneSet, "hub", cart);
  await fleet.run(20_000);

  expect((await fleet.client.get(CloneSet, { ...web, name: "cart" })).status).toMatchObject({ readyReplicas: 6 });
});

test("a template that is corrected in the same pods is not judged by what they did before", async () => {
  await start({
    waves: [CANARY, { name: "all" }],
    failure: { action: "Pause", progressDeadline: "2m" },
    maxUnavailable: 1,
  });
  await release("web:broken");
  await fleet.run(60_000);
  expect((await newest()).status).toMatchObject({ phase: "Paused", failure: { reason: "PodsFailing" } });

  await release("web:2");
  await fleet.run(90_000);

  expect((await newest()).status).toMatchObject({ phase: "Succeeded", updated: 12 });
});

test("a template that is set back after a rollback waits for no gate, because all members have it", async () => {
  await start({ waves: WAVES, failure: { action: "Rollback", progressDeadline: "2m" } });
  await release("web:broken");
  await fleet.run(60_000);
  expect((await newest()).status).toMatchObject({ phase: "RolledBack" });
  const generations = await generationsOf(MEMBERS);

  await release("web:1");
  await fleet.run(10_000);

  expect((await newest()).status).toMatchObject({ phase: "Succeeded", updated: 12, ready: 12 });
  expect(new Set(Object.values(await imagesBy()))).toEqual(new Set(["web:1 web:1"]));
  expect(await generationsOf(MEMBERS)).toEqual(generations);
});

test("a corrected template starts although pods of the release before it, on members of a later wave, take the whole budget", async () => {
  await start({ waves: [CANARY, { name: "all" }], failure: { action: "Pause" }, maxUnavailable: 1 });
  await release("web:broken");
  await fleet.run(30_000);
  expect((await newest()).status).toMatchObject({ phase: "Paused", failure: { cluster: "member1" } });
  const waves: Json = [{ name: "half", clusters: { matchLabels: { tier: "half" } } }, { name: "all" }];
  await fleet.client.patch(RolloutStrategy, { ...web, name: "careful" }, { spec: { waves } }, { type: "merge" });

  await release("web:2");
  await fleet.run(90_000);

  expect((await newest()).status).toMatchObject({ phase: "Succeeded", updated: 12 });
});
