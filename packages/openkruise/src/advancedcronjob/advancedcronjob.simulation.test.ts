/** AdvancedCronJobs on a simulated member. */
import { describe, expect, test } from "vitest";
import { Job } from "@flotilla/kubernetes";
import { endsWithTest } from "@flotilla/testing/ends-with-test.ts";
import { startKruiseMember } from "@flotilla/testing/member/kruise-member.ts";
import type { KruiseMember } from "@flotilla/testing/member/kruise-member.ts";
import { MEMBER, NAMESPACE } from "@flotilla/testing/member/member.ts";
import { BroadcastJob } from "../broadcastjob/broadcastjob-kind.ts";
import { kruiseKinds } from "../openkruise.ts";
import { ImageListPullJob } from "../imagelistpulljob/imagelistpulljob-kind.ts";
import { AdvancedCronJob } from "./advancedcronjob-kind.ts";

type Spec = AdvancedCronJob["spec"];

const MINUTE_MS = 60_000;
/** The first run of an object that was created at 12:00 and runs every ten minutes. */
const FIRST = Date.UTC(2024, 4, 1, 12, 10) / 1000;
const SECOND = FIRST + 600;

const RUNS_FOREVER = { "sim/run": "forever" };
const FAILS = { "sim/exit-code": "1" };

const podTemplate = (annotations: Record<string, string> = {}): NonNullable<BroadcastJob["spec"]>["template"] => ({
  metadata: { annotations },
  spec: { restartPolicy: "Never", containers: [{ name: "main", image: "report:1" }] },
});
const jobs = (annotations?: Record<string, string>): Spec["template"] => ({
  jobTemplate: {
    metadata: { labels: { app: "report" }, annotations: { team: "a" } },
    spec: { backoffLimit: 0, template: podTemplate(annotations) },
  },
});
const broadcastJobs = (annotations?: Record<string, string>): Spec["template"] => ({
  broadcastJobTemplate: { spec: { template: podTemplate(annotations) } },
});

async function start(spec: Partial<Spec> = {}, gates?: Record<string, boolean>): Promise<KruiseMember> {
  const member = endsWithTest(await startKruiseMember({ customs: kruiseKinds, nodes: 2, gates }));
  await member.client.create(AdvancedCronJob, MEMBER, {
    apiVersion: "apps.kruise.io/v1beta1",
    kind: "AdvancedCronJob",
    metadata: { name: "report", namespace: NAMESPACE },
    spec: { schedule: "*/10 * * * *", template: jobs(), ...spec },
  });
  return member;
}

const namesOf = async (member: KruiseMember, kind: typeof Job | typeof BroadcastJob = Job): Promise<string[]> =>
  (await member.list<Job | BroadcastJob>(kind as never)).map(({ metadata }) => metadata.name).toSorted();
const statusOf = async (member: KruiseMember): Promise<AdvancedCronJob["status"]> =>
  (await member.get(AdvancedCronJob, "report")).status as AdvancedCronJob["status"];
const edit = async (member: KruiseMember, change: Partial<Spec>): Promise<void> => {
  await member.change(AdvancedCronJob, "report", (object) => ({ ...object, spec: { ...object.spec, ...change } }));
};

test("starts a Job named after its scheduled second", async () => {
  const member = await start({ template: jobs(RUNS_FOREVER) });

  await member.pass(9 * MINUTE_MS);
  const before = await namesOf(member);
  await member.pass(2 * MINUTE_MS);

  expect(before).toEqual([]);
  const [job] = await member.list(Job);
  const { uid } = (await member.get(AdvancedCronJob, "report")).metadata;
  expect(job).toMatchObject({
    metadata: {
      name: `report-${FIRST}`,
      labels: { app: "report" },
      annotations: { team: "a", "apps.kruise.io/scheduled-at": "2024-05-01T12:10:00Z" },
      ownerReferences: [{ apiVersion: "apps.kruise.io/v1beta1", kind: "AdvancedCronJob", uid, controller: true }],
    },
    spec: { backoffLimit: 0 },
  });
  expect(await statusOf(member)).toEqual({
    type: "Job",
    active: [
      {
        apiVersion: "batch/v1",
        kind: "Job",
        namespace: NAMESPACE,
        name: `report-${FIRST}`,
        uid: job?.metadata.uid,
        resourceVersion: expect.any(String),
      },
    ],
    lastScheduleTime: "2024-05-01T12:10:00Z",
  });
});

test("starts a BroadcastJob, which runs on every node", async () => {
  const member = await start({ template: broadcastJobs() });

  await member.pass(11 * MINUTE_MS);

  const [job] = await member.list(BroadcastJob);
  expect(job).toMatchObject({
    metadata: { name: `report-${FIRST}` },
    status: { phase: "completed", succeeded: 2 },
  });
  expect(await statusOf(member)).toEqual({ type: "BroadcastJob", lastScheduleTime: "2024-05-01T12:10:00Z" });
});

test("accepts an object in v1alpha1, and returns its status in both versions", async () => {
  const member = await start();
  await member.pass(11 * MINUTE_MS);
  const alpha = { ...AdvancedCronJob, storageVersion: "v1alpha1" };

  const read = await member.client.get(alpha, { cluster: MEMBER, namespace: NAMESPACE, name: "report" });

  expect(read).toMatchObject({
    apiVersion: "apps.kruise.io/v1alpha1",
    status: { type: "Job", lastScheduleTime: "2024-05-01T12:10:00Z" },
  });
});

test("an AdvancedCronJob that is deleted deletes its runs", async () => {
  const member = await start({ template: jobs(RUNS_FOREVER) });
  await member.pass(11 * MINUTE_MS);

  await member.client.delete(AdvancedCronJob, { cluster: MEMBER, namespace: NAMESPACE, name: "report" });
  await member.pass(MINUTE_MS);

  expect(await namesOf(member)).toEqual([]);
});

describe("concurrencyPolicy", () => {
  test("Allow, the default, runs Jobs at the same time", async () => {
    const member = await start({ template: jobs(RUNS_FOREVER) });

    await member.pass(21 * MINUTE_MS);

    expect((await statusOf(member))?.active?.map(({ name }) => name)).toEqual([`report-${FIRST}`, `report-${SECOND}`]);
  });

  test("Forbid skips a run while another is active, and starts it when that one ends", async () => {
    const member = await start({ template: broadcastJobs(RUNS_FOREVER), concurrencyPolicy: "Forbid" });
    await member.pass(25 * MINUTE_MS);
    const during = await namesOf(member, BroadcastJob);

    for (const pod of member.pods()) await member.finish(pod, 0);
    await member.pass(MINUTE_MS);

    expect(during).toEqual([`report-${FIRST}`]);
    expect(await namesOf(member, BroadcastJob)).toEqual([`report-${FIRST}`, `report-${SECOND}`]);
  });

  test("Replace deletes the active run", async () => {
    const member = await start({ template: jobs(RUNS_FOREVER), concurrencyPolicy: "Replace" });

    await member.pass(21 * MINUTE_MS);

    expect(await namesOf(member)).toEqual([`report-${SECOND}`]);
    expect((await statusOf(member))?.active?.map(({ name }) => name)).toEqual([`report-${SECOND}`]);
  });
});

describe("history", () => {
  test("keeps the last three completed Jobs by default", async () => {
    const member = await start();

    await member.pass(51 * MINUTE_MS);

    expect(await namesOf(member)).toEqual([FIRST + 1200, FIRST + 1800, FIRST + 2400].map((at) => `report-${at}`));
  });

  test("keeps the last failed Job by default", async () => {
    const member = await start({ template: jobs(FAILS) });

    await member.pass(31 * MINUTE_MS);

    expect(await namesOf(member)).toEqual([`report-${FIRST + 1200}`]);
  });

  test("history with a limit of 0 starts each run once", async () => {
    const member = await start({ successfulJobsHistoryLimit: 0 });

    await member.pass(11 * MINUTE_MS);
    const afterFirst = [await namesOf(member), await statusOf(member)];
    member.writes.reset();
    await member.pass(8 * MINUTE_MS);

    expect(afterFirst).toEqual([[], { type: "Job", lastScheduleTime: "2024-05-01T12:10:00Z" }]);
    expect(member.writes.counts()).toEqual([]);
  });
});

describe("a paused AdvancedCronJob", () => {
  test("starts nothing, and starts the latest missed run when it is resumed", async () => {
    const member = await start({ paused: true });
    await member.pass(35 * MINUTE_MS);
    const paused = await namesOf(member);

    await edit(member, { paused: false });
    await member.pass(1_000);

    expect(paused).toEqual([]);
    expect(await namesOf(member)).toEqual([`report-${FIRST + 1200}`]);
  });

  test("starts nothing when it is resumed past its startingDeadlineSeconds", async () => {
    const member = await start({ paused: true, startingDeadlineSeconds: 60 });
    await member.pass(15 * MINUTE_MS);

    await edit(member, { paused: false });
    await member.pass(1_000);

    expect(await namesOf(member)).toEqual([]);
  });

  test("reports that it missed more than a hundred runs, and starts none until it has a deadline", async () => {
    const member = await start({ paused: true, schedule: "* * * * *" });
    await member.pass(200 * MINUTE_MS);

    await edit(member, { paused: false });
    await member.pass(5 * MINUTE_MS);
    const before = await namesOf(member);
    await edit(member, { startingDeadlineSeconds: 90 });
    await member.pass(1_000);

    expect(before).toEqual([]);
    expect(member.events).toContain(
      "AdvancedCronJob/report Warning TooManyMissedTimes: too many missed start times (> 100). Set or decrease " +
        ".spec.startingDeadlineSeconds or check clock skew",
    );
    expect(await namesOf(member)).toHaveLength(1);
  });
});

test("follows its time zone", async () => {
  const member = await start({ schedule: "30 14 * * *", timeZone: "Europe/Berlin" });

  await member.pass(31 * MINUTE_MS);

  const [job] = await member.list(Job);
  expect(job?.metadata.annotations?.["apps.kruise.io/scheduled-at"]).toBe("2024-05-01T12:30:00Z");
});

test("an AdvancedCronJob does not start a run again whose Job was deleted", async () => {
  const member = await start({ template: jobs(RUNS_FOREVER) });
  await member.pass(11 * MINUTE_MS);

  await member.client.delete(Job, { cluster: MEMBER, namespace: NAMESPACE, name: `report-${FIRST}` });
  await member.pass(MINUTE_MS);

  expect(await namesOf(member)).toEqual([]);
  expect(await statusOf(member)).toEqual({ type: "Job", lastScheduleTime: "2024-05-01T12:10:00Z" });
});

test("reports a run whose Job another owner has", async () => {
  const member = await start();
  await member.client.create(Job, MEMBER, {
    apiVersion: "batch/v1",
    kind: "Job",
    metadata: { name: `report-${FIRST}`, namespace: NAMESPACE },
    spec: { template: podTemplate() },
  });

  await member.pass(10 * MINUTE_MS + 1_000);

  expect(member.events).toContain(
    `AdvancedCronJob/report Warning FailedCreate: Error creating Job report-${FIRST}: jobs.batch "report-${FIRST}" already exists`,
  );
});

test("starts an ImageListPullJob, and keeps it as a completed run", async () => {
  const member = await start(
    {
      template: { imageListPullJobTemplate: { spec: { images: ["web:1"], completionPolicy: { type: "Always" } } } },
      concurrencyPolicy: "Forbid",
    },
    { ImagePullJobGate: true },
  );

  await member.pass(12 * MINUTE_MS);

  const [run] = await member.list(ImageListPullJob);
  expect(run?.status).toMatchObject({ desired: 1, succeeded: 1 });
  expect(await statusOf(member)).toMatchObject({ type: "ImageListPullJob" });
  expect((await statusOf(member))?.active).toBeUndefined();
});

test("writes nothing between its runs", async () => {
  const member = await start();
  await member.pass(11 * MINUTE_MS);
  member.writes.reset();

  await member.pass(8 * MINUTE_MS);

  expect(member.writes.counts()).toEqual([]);
});
