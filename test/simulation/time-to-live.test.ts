/** Runs that are deleted some time after they have finished, from the hub and from every member. */
import { expect, test } from "vitest";
import type { Json, JsonObject } from "@flotilla/base";
import { createKindResolver } from "@flotilla/client";
import { PropagationPolicy } from "@flotilla/karmada";
import { Event, Job, Namespace } from "@flotilla/kubernetes";
import { ManifestWork } from "@flotilla/ocm";
import { makePolicy } from "@flotilla/testing/builders.ts";
import { endsWithTest } from "@flotilla/testing/ends-with-test.ts";
import { startTestFleet } from "@flotilla/testing/fleet/fleet.ts";
import type { TestFleet } from "@flotilla/testing/fleet/fleet.ts";
import type { Manifest } from "./health-fleet.ts";

const pod = {
  metadata: { annotations: { "sim/run": "2" } },
  spec: { restartPolicy: "Never", containers: [{ name: "main", image: "seed:1" }] },
};
const run = (apiVersion: string, kind: string, spec: Record<string, Json>): Manifest => ({
  apiVersion,
  kind,
  metadata: { name: "run", namespace: "shop" },
  spec,
});
const policy = (apiVersion: string, kind: string): PropagationPolicy =>
  makePolicy("shop/runs").selects(apiVersion, kind).duplicates("m1", "m2").build();

async function start(object: Manifest): Promise<TestFleet> {
  const fleet = endsWithTest(await startTestFleet({ members: ["m1", "m2"], nodes: 2 }));
  await fleet.client.create(Namespace, "hub", { apiVersion: "v1", kind: "Namespace", metadata: { name: "shop" } });
  await fleet.client.create(PropagationPolicy, "hub", policy(object.apiVersion, object.kind));
  const kind = await createKindResolver({ client: fleet.client, cluster: "hub" }).resolve(object);
  await fleet.client.create(kind, "hub", object);
  return fleet;
}

async function holders(fleet: TestFleet, ref: Manifest): Promise<string[]> {
  const held: string[] = [];
  for (const cluster of ["hub", "m1", "m2"]) {
    const kind = await createKindResolver({ client: fleet.client, cluster }).resolve(ref);
    const { items } = await fleet.client.list(kind, { cluster, namespace: "shop" });
    if (items.length > 0) held.push(cluster);
  }
  return held;
}

const ttl = { ttlSecondsAfterFinished: 30 };
const runs = {
  "a Job": run("batch/v1", "Job", { ...ttl, completions: 2, parallelism: 2, template: pod }),
  "a Job that fails": run("batch/v1", "Job", {
    ...ttl,
    backoffLimit: 0,
    completions: 2,
    parallelism: 2,
    template: { ...pod, metadata: { annotations: { "sim/run": "2", "sim/exit-code": "7" } } },
  }),
  "a BroadcastJob": run("apps.kruise.io/v1beta1", "BroadcastJob", {
    template: pod,
    completionPolicy: { type: "Always", ...ttl },
  }),
  "a Workflow": run("argoproj.io/v1alpha1", "Workflow", {
    entrypoint: "main",
    ttlStrategy: { secondsAfterCompletion: 600, secondsAfterSuccess: 30 },
    templates: [{ name: "main", container: { image: "seed:1" }, metadata: pod.metadata }],
  }),
};

for (const [name, object] of Object.entries(runs))
  test(`${name} is deleted everywhere when its time to live has passed`, async () => {
    const fleet = await start(object);
    await fleet.run(25_000);
    const before = await holders(fleet, object);

    await fleet.run(45_000);

    expect(before).toEqual(["hub", "m1", "m2"]);
    expect(await holders(fleet, object)).toEqual([]);
    const { items } = await fleet.client.list(Event, { cluster: "hub", namespace: "shop" });
    expect(items.filter(({ reason }) => reason === "Expired").map(({ message }) => message)).toEqual([
      expect.stringMatching(/^deleted with its copies: spec\.\S+ is 30 s, and it has finished on m1, m2$/),
    ]);
  });

test("a finished Job stays until it is given a time to live", async () => {
  const { spec, ...job } = runs["a Job"];
  const { ttlSecondsAfterFinished: _, ...endless } = spec as Record<string, Json>;
  const fleet = await start({ ...job, spec: endless });
  await fleet.run(60_000);
  const stays = await holders(fleet, job);

  await fleet.client.patch(Job, { cluster: "hub", namespace: "shop", name: "run" }, { spec: ttl }, { type: "merge" });
  await fleet.run(5_000);

  expect(stays).toEqual(["hub", "m1", "m2"]);
  expect(await holders(fleet, job)).toEqual([]);
});

test("a Job of the same name as one that was deleted is not deleted for the end of that one", async () => {
  const job = runs["a Job"];
  const key = { cluster: "hub", namespace: "shop", name: "run" };
  const fleet = await start(job);
  await fleet.run(25_000);

  await fleet.client.delete(Job, key, { propagationPolicy: "Background" });
  const slow = { ...pod, metadata: { annotations: { "sim/run": "100" } } };
  const spec = { ...(job["spec"] as JsonObject), template: slow } as unknown as Job["spec"];
  await fleet.client.create(Job, "hub", { ...job, spec });
  await fleet.run(50_000);

  expect(await holders(fleet, job)).toEqual(["hub", "m1", "m2"]);
});

const inWork = (spec: Partial<ManifestWork["spec"]> = {}): ManifestWork => ({
  apiVersion: "work.open-cluster-management.io/v1",
  kind: "ManifestWork",
  metadata: { name: "run", namespace: "m1" },
  spec: {
    workload: { manifests: [{ apiVersion: "v1", kind: "Namespace", metadata: { name: "shop" } }, runs["a Job"]] },
    ...spec,
  },
});
async function runsOfWork(work: ManifestWork): Promise<{ ran: number; left: number }> {
  const { client, ...fleet } = endsWithTest(await startTestFleet({ members: ["m1"], nodes: 2 }));
  await client.create(ManifestWork, "hub", work);
  const uids = new Set<string>();
  let left = 0;
  for (let step = 0; step < 30; step++) {
    await fleet.run(10_000);
    const { items } = await client.list(Job, { cluster: "m1", namespace: "shop" });
    for (const { metadata } of items) uids.add(metadata.uid ?? "");
    left = items.length;
  }
  return { ran: uids.size, left };
}

test("a Job of a ManifestWork runs once, and stays until the work is deleted", async () => {
  expect(await runsOfWork(inWork())).toEqual({ ran: 1, left: 1 });
});

test("a Job of a ManifestWork with the rule Complete runs once, and its member deletes it", async () => {
  const resourceIdentifier = { group: "batch", resource: "jobs", namespace: "shop", name: "run" };
  const conditionRules = [{ type: "WellKnownConditions" as const, condition: "Complete" }];
  const work = inWork({ manifestConfigs: [{ resourceIdentifier, conditionRules }] });

  expect(await runsOfWork(work)).toEqual({ ran: 1, left: 0 });
});

test("Jobs that a CronJob created on a member are deleted there, by their time to live", async () => {
  const cron = run("batch/v1", "CronJob", {
    schedule: "*/5 * * * *",
    jobTemplate: { spec: { ...ttl, template: pod } },
  });
  const fleet = await start(cron);

  await fleet.run(5 * 60_000 + 10_000);
  const created = await fleet.client.list(Job, { cluster: "m1", namespace: "shop" });
  await fleet.run(60_000);

  expect(created.items).toHaveLength(1);
  expect((await fleet.client.list(Job, { cluster: "m1", namespace: "shop" })).items).toEqual([]);
  expect(await holders(fleet, cron)).toEqual(["hub", "m1", "m2"]);
});
