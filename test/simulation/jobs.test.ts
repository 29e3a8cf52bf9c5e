/** Jobs across a fleet: every completion runs once, wherever members come and go. */
import { expect, test } from "vitest";
import type { Json } from "@flotilla/base";
import { Cluster, PropagationPolicy, ResourceBinding, WorkloadRebalancer } from "@flotilla/karmada";
import { Event, Job, Namespace, Pod } from "@flotilla/kubernetes";
import { BroadcastJob } from "../../packages/openkruise/src/broadcastjob/broadcastjob-kind.ts";
import { Explanation } from "@flotilla/flotilla";
import { makePolicy } from "@flotilla/testing/builders.ts";
import { endsWithTest } from "@flotilla/testing/ends-with-test.ts";
import { startTestFleet } from "@flotilla/testing/fleet/fleet.ts";
import type { TestFleet } from "@flotilla/testing/fleet/fleet.ts";
import { planInput } from "../../packages/cli/src/explain/plan-input.ts";
import { summariseWorkload } from "../../packages/cli/src/status/workloads.ts";
import { runCommand } from "./run-command.ts";

const MINUTE_MS = 60_000;
const seed = { cluster: "hub", namespace: "shop", name: "seed" };

async function start(members: readonly string[], policy: PropagationPolicy): Promise<TestFleet> {
  const fleet = endsWithTest(await startTestFleet({ members, nodes: 3 }));
  await fleet.client.create(Namespace, "hub", { apiVersion: "v1", kind: "Namespace", metadata: { name: "shop" } });
  await fleet.client.create(PropagationPolicy, "hub", policy);
  await fleet.run(1_000);
  return fleet;
}

interface Wanted {
  completions?: number;
  parallelism: number;
  /** Seconds that each pod runs. */
  run?: string;
  completionMode?: "Indexed";
  backoffLimit?: number;
  exitCode?: string;
}

async function createJob(fleet: TestFleet, { run = "1", exitCode = "0", ...spec }: Wanted): Promise<void> {
  await fleet.client.create(Job, "hub", {
    apiVersion: "batch/v1",
    kind: "Job",
    metadata: { name: "seed", namespace: "shop" },
    spec: {
      ...spec,
      template: {
        metadata: { annotations: { "sim/run": run, "sim/exit-code": exitCode } },
        spec: { restartPolicy: "Never", containers: [{ name: "main", image: "seed:1" }] },
      },
    },
  });
}

/** `succeeded/completions` of the member's Job. */
async function jobOn(fleet: TestFleet, cluster: string): Promise<string | undefined> {
  const { items } = await fleet.client.list(Job, { cluster, namespace: "shop" });
  const [job] = items;
  return job && `${job.status?.succeeded ?? 0}/${job.spec.completions ?? "-"}`;
}

/** Counts the pods that have succeeded on any member, also those that have been deleted between two calls. */
function countRuns(fleet: TestFleet): () => Promise<number> {
  const seen = new Set<string>();
  return async () => {
    for (const { metadata: member } of (await fleet.client.list(Cluster, { cluster: "hub" })).items)
      for (const { metadata, status } of (await fleet.client.list(Pod, { cluster: member.name, namespace: "shop" }))
        .items)
        if (status?.phase === "Succeeded") seen.add(`${member.name}/${metadata.uid}`);
    return seen.size;
  };
}

async function setPlacement(fleet: TestFleet, ...members: string[]): Promise<void> {
  const { placement } = divided(...members).spec;
  const key = { cluster: "hub", namespace: "shop", name: "jobs" };
  await fleet.client.patch(PropagationPolicy, key, { spec: { placement } } as unknown as Json, { type: "merge" });
}

const divided = (...members: string[]): PropagationPolicy =>
  makePolicy("shop/jobs")
    .selects("batch/v1", "Job")
    .weights(Object.fromEntries(members.map((name) => [name, 1])))
    .build();

test("the completions of a divided Job are divided: the pods of all members add up to what it asks for", async () => {
  const members = ["member1", "member2", "member3"];
  const fleet = await start(members, divided(...members));

  await createJob(fleet, { completions: 4, parallelism: 4 });
  await fleet.run(MINUTE_MS);

  const jobs = await Promise.all(members.map((member) => jobOn(fleet, member)));
  expect(jobs.toSorted((a = "", b = "") => a.localeCompare(b))).toEqual(["1/1", "1/1", "2/2"]);
  expect((await fleet.client.get(Job, seed)).status).toMatchObject({
    succeeded: 4,
    conditions: [{ type: "Complete", status: "True" }, { type: "SuccessCriteriaMet" }],
  });
});

const everywhere = (type: "Divided" | "Duplicated"): PropagationPolicy =>
  makePolicy("shop/jobs")
    .selects("batch/v1", "Job")
    .with(({ spec }) => {
      spec.placement = {
        replicaScheduling: {
          replicaSchedulingType: type,
          replicaDivisionPreference: type === "Divided" ? "Weighted" : undefined,
          weightPreference: type === "Divided" ? { dynamicWeight: "AvailableReplicas" } : undefined,
        },
      };
      spec.failover = { cluster: { purgeMode: "Gracefully" } };
    })
    .build();

const taint = (fleet: TestFleet): Promise<unknown> =>
  fleet.client.patch(
    Cluster,
    { cluster: "hub", name: "member2" },
    { spec: { taints: [{ key: "drain", effect: "NoExecute" }] } },
    { type: "merge" },
  );
const join = (fleet: TestFleet): Promise<unknown> =>
  fleet.hub.addMembers(["member4"], (name) => `https://${name}.example.com`, new AbortController().signal);
async function rebalance(fleet: TestFleet): Promise<void> {
  await join(fleet);
  await fleet.run(1_000);
  await taint(fleet);
  await fleet.client.create(WorkloadRebalancer, "hub", {
    apiVersion: "apps.karmada.io/v1alpha1",
    kind: "WorkloadRebalancer",
    metadata: { name: "jobs" },
    spec: { workloads: [{ apiVersion: "batch/v1", kind: "Job", namespace: "shop", name: "seed" }] },
  });
}

const changes: Record<string, { type: "Divided" | "Duplicated"; cause(fleet: TestFleet): Promise<unknown> }> = {
  "a member is tainted": { type: "Divided", cause: taint },
  "a member is unjoined": {
    type: "Divided",
    cause: (fleet) => fleet.client.delete(Cluster, { cluster: "hub", name: "member2" }),
  },
  "it is rebalanced": { type: "Divided", cause: rebalance },
  "a member joins a placement that runs it on every member": { type: "Duplicated", cause: join },
};
for (const [event, { type, cause }] of Object.entries(changes))
  test(`a finished Job does not run again when ${event}`, async () => {
    const fleet = await start(["member1", "member2", "member3"], everywhere(type));
    const runs = countRuns(fleet);
    await createJob(fleet, { completions: 3, parallelism: 3 });
    await fleet.run(MINUTE_MS);
    const { status } = await fleet.client.get(Job, seed);
    const before = await runs();

    await cause(fleet);
    await fleet.run(2 * MINUTE_MS);

    expect(before).toBe(type === "Divided" ? 3 : 9);
    expect(await runs()).toBe(before);
    expect((await fleet.client.get(Job, seed)).status).toEqual(status);
  });

test("a finished Job keeps its share when the only other member is unjoined", async () => {
  const fleet = await start(["member1", "member2"], everywhere("Divided"));
  const runs = countRuns(fleet);
  await createJob(fleet, { completions: 4, parallelism: 4 });
  await fleet.run(MINUTE_MS);
  const before = await runs();

  await fleet.client.delete(Cluster, { cluster: "hub", name: "member2" });
  await fleet.run(2 * MINUTE_MS);

  expect(await runs()).toBe(before);
  expect(await jobOn(fleet, "member1")).toBe("2/2");
  const { status } = await fleet.client.get(ResourceBinding, { ...seed, name: "seed-job" });
  expect(status?.conditions?.find(({ type }) => type === "FullyApplied")?.status).toBe("True");
});

test("a finished Job runs again on the member that replaces another one if its policy asks for that", async () => {
  const policy = divided("member1", "member2");
  policy.metadata.annotations = { "flotilla.dev/rerun-jobs": "true" };
  const fleet = await start(["member1", "member2", "member3"], policy);
  const runs = countRuns(fleet);
  await createJob(fleet, { completions: 4, parallelism: 4 });
  await fleet.run(MINUTE_MS);
  await runs();

  await setPlacement(fleet, "member1", "member3");
  await fleet.run(MINUTE_MS);

  expect(await jobOn(fleet, "member3")).toBe("2/2");
  expect(await runs()).toBe(6);
});

test("a Job that moves runs only what is not finished, and the hub counts both members", async () => {
  const fleet = await start(["member1", "member2"], divided("member1"));
  const runs = countRuns(fleet);
  // One pod at a time; each runs for ten seconds.
  await createJob(fleet, { completions: 5, parallelism: 1, run: "10" });
  await fleet.run(26_000);
  expect(await jobOn(fleet, "member1")).toBe("2/5");
  expect(await runs()).toBe(2);

  await setPlacement(fleet, "member2");
  await fleet.run(5_000);
  expect(await jobOn(fleet, "member2")).toBe("0/3");
  expect((await fleet.client.get(Job, seed)).status).toMatchObject({ succeeded: 2 });
  await fleet.run(MINUTE_MS);

  expect(await jobOn(fleet, "member2")).toBe("3/3");
  expect(await runs()).toBe(5);
  expect((await fleet.client.get(Job, seed)).status).toMatchObject({
    succeeded: 5,
    conditions: [{ type: "Complete" }, { type: "SuccessCriteriaMet" }],
  });
  const binding = await fleet.client.get(ResourceBinding, { ...seed, name: "seed-job" });
  expect(JSON.parse(binding.metadata.annotations?.["flotilla.dev/job-record"] ?? "")).toMatchObject([
    { cluster: "member1", succeeded: 2 },
  ]);
});

test("the share of a member that leaves is added to a remaining member, and no completion runs twice", async () => {
  const members = ["member1", "member2", "member3"];
  const fleet = await start(members, divided(...members));
  const runs = countRuns(fleet);
  await createJob(fleet, { completions: 6, parallelism: 3, run: "10" });
  await fleet.run(16_000);
  expect(await Promise.all(members.map((member) => jobOn(fleet, member)))).toEqual(["1/2", "1/2", "1/2"]);
  await runs();

  await setPlacement(fleet, "member1", "member2");
  await fleet.run(2 * MINUTE_MS);

  expect((await fleet.client.get(Job, seed)).status).toMatchObject({ succeeded: 6 });
  expect(await runs()).toBe(6);
  expect(await jobOn(fleet, "member3")).toBeUndefined();
});

test("the counters of a Job stay when a member with failed pods leaves, and nothing about rules is reported", async () => {
  const members = ["member1", "member2", "member3"];
  const fleet = await start(members, divided(...members));
  await createJob(fleet, { completions: 3, parallelism: 3, run: "10", exitCode: "1", backoffLimit: 20 });
  await fleet.run(16_000);
  const before = (await fleet.client.get(Job, seed)).status;

  await setPlacement(fleet, "member1", "member2");
  await fleet.run(10_000);

  expect(before).toMatchObject({ failed: 3 });
  expect((await fleet.client.get(Job, seed)).status?.failed).toBeGreaterThanOrEqual(3);
  const { items } = await fleet.client.list(Event, { cluster: "hub", namespace: "shop" });
  expect(items.filter(({ reason }) => reason === "AggregateStatusFailed")).toEqual([]);
});

async function whatIf(fleet: TestFleet, without: string): Promise<string[]> {
  const { changes, notes } = await planInput(
    fleet.client,
    { manifests: [], without: [without], namespace: "default" },
    fleet.clock,
    new AbortController().signal,
  );
  return [
    ...changes
      .filter(({ object }) => object.kind === "Job")
      .map(({ cluster, action, note = "" }) => `${action} on ${cluster}: ${note}`),
    ...notes.map((note) => `note: ${note}`),
  ];
}

test("a plan without a member shows what a moved Job would run", async () => {
  const policy = everywhere("Divided");
  policy.spec.placement = {
    ...policy.spec.placement,
    spreadConstraints: [{ spreadByField: "cluster", minGroups: 1, maxGroups: 1 }],
  };
  const fleet = await start(["member1", "member2"], policy);
  await createJob(fleet, { completions: 3, parallelism: 1, run: "10" });
  await fleet.run(16_000);
  const [from = "", to = ""] = (await jobOn(fleet, "member1")) ? ["member1", "member2"] : ["member2", "member1"];

  const unfinished = await whatIf(fleet, from);
  await fleet.run(MINUTE_MS);
  const finished = await whatIf(fleet, from);
  const binding = { cluster: "hub", namespace: "shop", name: "jobs" };
  await fleet.client.patch(
    PropagationPolicy,
    binding,
    { metadata: { annotations: { "flotilla.dev/rerun-jobs": "true" } } },
    { type: "merge" },
  );
  await fleet.run(1_000);
  const again = await whatIf(fleet, from);

  const leaves = `delete on ${from}: excluded by --without-cluster`;
  expect(unfinished.toSorted()).toEqual(
    [`create on ${to}: runs the 2 completions that no other member has finished or is given`, leaves].toSorted(),
  );
  expect(finished).toEqual([
    `note: Job shop/seed on ${from} is finished: it stays there on drain, is released on unjoin, and does not run again`,
  ]);
  expect(again.toSorted()).toEqual([`create on ${to}: runs again: flotilla.dev/rerun-jobs is set`, leaves].toSorted());
});

test("a plan without a member says that a running Job is created again on a remaining member", async () => {
  const members = ["member1", "member2", "member3"];
  const fleet = await start(members, divided(...members));
  await createJob(fleet, { completions: 6, parallelism: 3, run: "10" });
  await fleet.run(16_000);

  const planned = await whatIf(fleet, "member3");

  expect(planned.filter((change) => change.startsWith("delete")).toSorted()).toEqual([
    expect.stringMatching(
      /^delete on member[12]: its pods stop, and it is created again there for the completions that are left$/,
    ),
    "delete on member3: excluded by --without-cluster",
  ]);
});

test("an explanation names the problem of an Indexed Job that is divided", async () => {
  const fleet = await start(["member1", "member2"], divided("member1", "member2"));
  await createJob(fleet, { completions: 4, parallelism: 2, completionMode: "Indexed" });
  await fleet.run(MINUTE_MS);

  const { problems, members } = await fleet.client.get(Explanation, { ...seed, name: "seed-job" });

  expect(problems.map(({ what }) => what)).toEqual([
    "the Job is Indexed and divided over 2 members: each numbers its pods from 0, so low indexes run on several members and high ones on none",
  ]);
  expect(members.map(({ divided }) => divided)).toEqual([
    [
      { path: "spec.completions", before: 4, after: 2 },
      { path: "spec.parallelism", before: 2, after: 1 },
    ],
    [
      { path: "spec.completions", before: 4, after: 2 },
      { path: "spec.parallelism", before: 2, after: 1 },
    ],
  ]);
});

test("a finished BroadcastJob does not run on a member that joins, and the hub counts its pods", async () => {
  const fleet = await start(
    ["member1", "member2"],
    makePolicy("shop/jobs").selects("apps.kruise.io/v1beta1", "BroadcastJob").build(),
  );
  const runs = countRuns(fleet);
  const broadcastJob = {
    apiVersion: "apps.kruise.io/v1beta1",
    kind: "BroadcastJob",
    metadata: { name: "seed", namespace: "shop" },
    spec: {
      completionPolicy: { type: "Always" },
      template: {
        metadata: { annotations: { "sim/run": "1" } },
        spec: { restartPolicy: "Never", containers: [{ name: "main", image: "seed:1" }] },
      },
    },
  };
  await fleet.client.create(BroadcastJob, "hub", broadcastJob as unknown as BroadcastJob);
  await fleet.run(MINUTE_MS);
  expect(await runs()).toBe(6);

  await join(fleet);
  await fleet.run(MINUTE_MS);

  expect(await runs()).toBe(6);
  expect((await fleet.client.get(BroadcastJob, seed)).status).toMatchObject({ desired: 6, succeeded: 6 });
  const binding = await fleet.client.get(ResourceBinding, { ...seed, name: "seed-broadcastjob" });
  expect(summariseWorkload(binding)).toMatchObject({ desired: undefined, run: { succeeded: 6, finished: "Complete" } });
});

const broadcast: Record<string, { parallelism?: number | string; want: unknown[] }> = {
  "without a parallelism": { want: [undefined, undefined, undefined] },
  "with a percentage": { parallelism: "50%", want: ["50%", "50%", "50%"] },
  "with a number": { parallelism: 5, want: [2, 2, 1] },
  "with a number that is smaller than that of the members": { parallelism: 2, want: [1, 1, 1] },
};
for (const [behaviour, { parallelism, want }] of Object.entries(broadcast)) {
  test(`a BroadcastJob ${behaviour} runs on every node of every member under a policy that divides`, async () => {
    const members = ["member1", "member2", "member3"];
    const policy = makePolicy("shop/jobs")
      .selects("apps.kruise.io/v1beta1", "BroadcastJob")
      .weights({ member1: 1, member2: 1, member3: 1 });
    const fleet = await start(members, policy.build());
    const runs = countRuns(fleet);
    const template = { spec: { restartPolicy: "Never", containers: [{ name: "main", image: "seed:1" }] } };

    await fleet.client.create(BroadcastJob, "hub", {
      apiVersion: "apps.kruise.io/v1beta1",
      kind: "BroadcastJob",
      metadata: { name: "seed", namespace: "shop" },
      spec: { parallelism, template: { ...template, metadata: { annotations: { "sim/run": "1" } } } },
    } as unknown as BroadcastJob);
    await fleet.run(MINUTE_MS);

    expect(await runs()).toBe(9);
    const copies = members.map(async (cluster) => (await fleet.client.get(BroadcastJob, { ...seed, cluster })).spec);
    const numbers = (await Promise.all(copies)).map((spec) => spec.parallelism);
    expect(numbers.map((number) => (number === 2 ** 31 - 1 ? undefined : number))).toEqual(want);
    expect((await fleet.client.get(BroadcastJob, seed)).status).toMatchObject({ desired: 9, succeeded: 9 });
  });
}

test("a running divided Job runs all of its completions when the member with the larger share is drained", async () => {
  const policy = makePolicy("shop/jobs").selects("batch/v1", "Job").weights({ member1: 3, member2: 1 }).build();
  const fleet = await start(["member1", "member2", "member3"], policy);
  await createJob(fleet, { completions: 4, parallelism: 4, run: "20" });
  await fleet.run(10_000);
  expect([await jobOn(fleet, "member1"), await jobOn(fleet, "member2")]).toEqual(["0/3", "0/1"]);

  const planned = await whatIf(fleet, "member1");
  await drain(fleet, "member1");
  await fleet.run(15_000);
  const during = (await fleet.client.get(Job, seed)).status;
  await fleet.run(MINUTE_MS);

  expect(planned.toSorted()).toEqual([
    "delete on member1: excluded by --without-cluster",
    "delete on member2: its pods stop, and it is created again there for the completions that are left",
  ]);
  expect(during?.conditions ?? []).toEqual([]);
  expect([await jobOn(fleet, "member1"), await jobOn(fleet, "member2")]).toEqual([undefined, "4/4"]);
  expect((await fleet.client.get(Job, seed)).status).toMatchObject({
    succeeded: 4,
    conditions: [{ type: "Complete" }, {}],
  });
});

const drain = (fleet: TestFleet, name: string): Promise<unknown> =>
  fleet.client.patch(
    Cluster,
    { cluster: "hub", name },
    { spec: { taints: [{ key: "flotilla.dev/drain", effect: "NoExecute" }] } },
    { type: "merge" },
  );

test("'flotilla delete' of a Job deletes its copies and their pods, whether they run or have finished", async () => {
  const fleet = await start(["member1", "member2"], divided("member1", "member2"));
  const left = async (): Promise<unknown[]> => {
    const found = [];
    for (const cluster of ["hub", "member1", "member2"]) {
      found.push(...(await fleet.client.list(Job, { cluster })).items);
      found.push(...(await fleet.client.list(Pod, { cluster, namespace: "shop" })).items);
    }
    return [...found, ...(await fleet.client.list(ResourceBinding, { cluster: "hub" })).items];
  };

  for (const run of ["1", "3600"]) {
    await createJob(fleet, { completions: 2, parallelism: 2, run });
    await fleet.run(MINUTE_MS);
    expect(await jobOn(fleet, "member1")).toBe(run === "1" ? "1/1" : "0/1");
    const { text } = await runCommand(fleet, "delete", "job/seed", "-n", "shop", "--yes");
    await fleet.run(2 * MINUTE_MS);

    expect(text).toContain("job.batch/seed deleted");
    expect(await left()).toEqual([]);
  }
});

test("a divided Job that fails on every member is Failed on the hub, and nothing of it is missing", async () => {
  const fleet = await start(["member1", "member2"], divided("member1", "member2"));

  await createJob(fleet, { completions: 4, parallelism: 4, backoffLimit: 0, exitCode: "1" });
  await fleet.run(MINUTE_MS);

  const { status } = await fleet.client.get(Job, seed);
  expect(status?.conditions?.map(({ type }) => type)).toEqual(["FailureTarget", "Failed"]);
  const { problems } = await fleet.client.get(Explanation, { ...seed, name: "seed-job" });
  expect(problems.map(({ what }) => what).join()).not.toContain("not run by any member");
});
