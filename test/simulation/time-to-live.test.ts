/** Runs that are deleted some time after they have finished, from the hub and from every member. */
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { Json, JsonObject } from "@flotilla/base";
import { createKindResolver } from "@flotilla/client";
import { Cluster, OverridePolicy, PropagationPolicy } from "@flotilla/karmada";
import { Deployment, Event, Job, Namespace } from "@flotilla/kubernetes";
import { Decision } from "@flotilla/flotilla";
import { ManifestWork } from "@flotilla/ocm";
import { makeDeployment, makePolicy } from "@flotilla/testing/builders.ts";
import { endsWithTest } from "@flotilla/testing/ends-with-test.ts";
import { startTestFleet } from "@flotilla/testing/fleet/fleet.ts";
import type { TestFleet } from "@flotilla/testing/fleet/fleet.ts";
import type { Manifest } from "./health-fleet.ts";
import { runCommand } from "./run-command.ts";

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

const JOB = { cluster: "hub", namespace: "shop", name: "run" };
const perPod = { resources: { requests: { cpu: "10" } } };

/**
 * A Job of four completions, two on each member: those of m2 finish soon, those of m1 take long. Other pods then fill m2,
 * and m1 leaves the fleet.
 */
async function startDivided(ttlSeconds: number): Promise<TestFleet> {
  const fleet = endsWithTest(await startTestFleet({ members: ["m1", "m2"], nodes: 2 }));
  const { client } = fleet;
  await client.create(Namespace, "hub", { apiVersion: "v1", kind: "Namespace", metadata: { name: "shop" } });
  const divides = makePolicy("shop/runs")
    .selects("batch/v1", "Job")
    .with(({ spec }) => {
      spec.placement = {
        replicaScheduling: {
          replicaSchedulingType: "Divided",
          replicaDivisionPreference: "Weighted",
          weightPreference: { dynamicWeight: "AvailableReplicas" },
        },
      };
    });
  await client.create(PropagationPolicy, "hub", divides.build());
  await client.create(OverridePolicy, "hub", {
    apiVersion: "policy.karmada.io/v1alpha1",
    kind: "OverridePolicy",
    metadata: { name: "slow", namespace: "shop" },
    spec: {
      resourceSelectors: [{ apiVersion: "batch/v1", kind: "Job" }],
      overrideRules: [
        {
          targetCluster: { clusterNames: ["m1"] },
          overriders: {
            plaintext: [{ path: "/spec/template/metadata/annotations/sim~1run", operator: "replace", value: "3000" }],
          },
        },
      ],
    },
  });
  const template = { ...pod, spec: { ...pod.spec, containers: [{ name: "main", image: "seed:1", ...perPod }] } };
  const spec = { ttlSecondsAfterFinished: ttlSeconds, completions: 4, parallelism: 4, template };
  await client.create(Job, "hub", run("batch/v1", "Job", spec) as unknown as Job);
  // Shorter than any time to live of the test: m2 has finished, and m1 has not.
  await fleet.run(20_000);
  const filler = makeDeployment("shop/filler")
    .replicas(6)
    .with(
      ({
        spec: {
          template: { spec: filling },
        },
      }) => {
        const [container] = filling?.containers ?? [];
        if (container) Object.assign(container, perPod);
      },
    );
  await client.create(Deployment, "m2", filler.build());
  await fleet.run(20_000);
  await client.delete(Cluster, { cluster: "hub", name: "m1" });
  return fleet;
}

test("a divided Job stays while completions of a member that has left are missing, and expires when they are done", async () => {
  const fleet = await startDivided(5);
  await fleet.run(60_000);
  const { status } = await fleet.client.get(Job, JOB);

  await fleet.client.delete(Deployment, { cluster: "m2", namespace: "shop", name: "filler" });
  await fleet.run(3_000);
  const during = await holders(fleet, runs["a Job"]);
  await fleet.run(60_000);

  expect(status).toMatchObject({ succeeded: 2 });
  expect(status?.conditions ?? []).toEqual([]);
  expect(during).toContain("hub");
  expect(await fleet.client.list(Job, { cluster: "hub", namespace: "shop" })).toMatchObject({ items: [] });
});

test("a divided Job is not complete while a member has not run what another one left", async () => {
  const fleet = await startDivided(3600);

  await fleet.run(60_000);
  const during = (await fleet.client.get(Job, JOB)).status;
  await fleet.client.delete(Deployment, { cluster: "m2", namespace: "shop", name: "filler" });
  await fleet.run(60_000);

  expect(during).toMatchObject({ succeeded: 2 });
  expect(during?.conditions ?? []).toEqual([]);
  expect((await fleet.client.get(Job, JOB)).status).toMatchObject({
    succeeded: 4,
    conditions: [{ type: "Complete" }, {}],
  });
});

async function planTimeToLive(fleet: TestFleet, seconds: number): Promise<{ code: number; text: string }> {
  const { spec, ...job } = runs["a Job"];
  const folder = await mkdtemp(join(tmpdir(), "flotilla-expiry-"));
  try {
    const file = join(folder, "job.json");
    await writeFile(
      file,
      JSON.stringify({ ...job, spec: { ...(spec as JsonObject), ttlSecondsAfterFinished: seconds } }),
    );
    return await runCommand(fleet, "plan", "-f", file);
  } finally {
    await rm(folder, { recursive: true });
  }
}

test("a plan shows that a finished Job is deleted by its new time to live, now or later", async () => {
  const { spec, ...job } = runs["a Job"];
  const { ttlSecondsAfterFinished: _, ...endless } = spec as Record<string, Json>;
  const fleet = await start({ ...job, spec: endless });
  await fleet.run(60_000);

  const now = await planTimeToLive(fleet, 5);
  const later = await planTimeToLive(fleet, 3600);

  expect(now.code).toBe(1);
  for (const member of ["m1", "m2"])
    expect(now.text).toContain(`${member}\n  - Job shop/run (it has finished, and its time to live has passed)\n`);
  expect(now.text).toContain("Job shop/run: it has finished, and is deleted from the hub at once");
  expect(later.code).toBe(1);
  expect(later.text).not.toContain("none on any member");
  expect(later.text).toMatch(
    /Job shop\/run: the plan does not cover that it is deleted in 59m\S*, when its time to live/,
  );
});

test("the deletion of a finished Job is a decision", async () => {
  const fleet = await start(runs["a Job"]);

  await fleet.run(60_000);

  const { items } = await fleet.client.list(Decision, { cluster: "hub" });
  expect(items.filter(({ type }) => type === "Expired")).toEqual([
    expect.objectContaining({
      object: expect.objectContaining({ kind: "Job", namespace: "shop", name: "run" }),
      actor: expect.objectContaining({ controller: "expiry" }),
      clusters: ["m1", "m2"],
      cause: { reason: "TimeToLive", message: expect.stringContaining("is 30 s") },
      after: { deleted: true },
    }),
  ]);
});

test("a finished Job that may not be deleted has one event, and is deleted when it may", async () => {
  const PROTECTED = "resourcetemplate.karmada.io/deletion-protected";
  const job = runs["a Job"];
  const fleet = await start({ ...job, metadata: { ...job.metadata, labels: { [PROTECTED]: "Always" } } });
  await fleet.run(120_000);
  const stays = await holders(fleet, job);
  const { items } = await fleet.client.list(Event, { cluster: "hub", namespace: "shop" });

  await fleet.client.patch(Job, JOB, { metadata: { labels: { [PROTECTED]: null } } }, { type: "merge" });
  await fleet.run(5_000);

  expect(stays).toEqual(["hub", "m1", "m2"]);
  expect(items.filter(({ reason }) => reason === "ExpiryFailed")).toMatchObject([
    { type: "Warning", count: 1, message: expect.stringContaining(`remove the label: ${PROTECTED}`) },
  ]);
  expect(await holders(fleet, job)).toEqual([]);
});

test("the finished copies of a Job whose policy preserves them stay", async () => {
  const fleet = await start(runs["a Job"]);
  const key = { cluster: "hub", namespace: "shop", name: "runs" };
  await fleet.client.patch(PropagationPolicy, key, { spec: { preserveResourcesOnDeletion: true } }, { type: "merge" });

  await fleet.run(60_000);

  expect(await holders(fleet, runs["a Job"])).toEqual(["m1", "m2"]);
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
