/** A Job with the name of a deleted one, whose copies have stayed on the members: the new one runs, and only its own run counts. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { findCondition } from "@flotilla/apimachinery";
import { PropagationPolicy, ResourceBinding } from "@flotilla/karmada";
import { Event, Job, Namespace, Pod } from "@flotilla/kubernetes";
import { makePolicy } from "@flotilla/testing/builders.ts";
import { endsWithTest } from "@flotilla/testing/ends-with-test.ts";
import { startTestFleet } from "@flotilla/testing/fleet/fleet.ts";
import type { TestFleet } from "@flotilla/testing/fleet/fleet.ts";
import { runCommand } from "./run-command.ts";

const SETTLED_MS = 20_000;
const MINUTE_MS = 60_000;
const MEMBERS = ["member1", "member2"];
const SEED = { cluster: "hub", namespace: "shop", name: "seed" };

const job = (seconds: number): Job => ({
  apiVersion: "batch/v1",
  kind: "Job",
  metadata: { name: "seed", namespace: "shop" },
  spec: {
    template: {
      metadata: { annotations: { "sim/run": `${seconds}` } },
      spec: { restartPolicy: "Never", containers: [{ name: "main", image: "seed:1" }] },
    },
  },
});

/** A fleet with a Job on each member, which is deleted as a client of the API deletes Jobs by default: it leaves its copies. */
async function orphan(seconds: number, runMs: number, spec: object = {}): Promise<TestFleet> {
  const fleet = endsWithTest(await startTestFleet({ members: MEMBERS, nodes: 1 }));
  await fleet.client.create(Namespace, "hub", { apiVersion: "v1", kind: "Namespace", metadata: { name: "shop" } });
  const policy = makePolicy("shop/seed")
    .selects("batch/v1", "Job")
    .duplicates(...MEMBERS)
    .build();
  await fleet.client.create(PropagationPolicy, "hub", { ...policy, spec: { ...policy.spec, ...spec } });
  await fleet.client.create(Job, "hub", job(seconds));
  await fleet.run(runMs);
  await fleet.client.delete(Job, SEED);
  await fleet.run(1_000);
  return fleet;
}

async function uidsOn({ client }: TestFleet): Promise<(string | undefined)[]> {
  const lists = await Promise.all(MEMBERS.map((cluster) => client.list(Job, { cluster, namespace: "shop" })));
  return lists.flatMap(({ items }) => items.map(({ metadata }) => metadata.uid));
}
const isComplete = async ({ client }: TestFleet): Promise<boolean> =>
  findCondition((await client.get(Job, SEED)).status?.conditions, "Complete")?.status === "True";
const podsOf = async ({ client }: TestFleet): Promise<number> =>
  (await client.list(Pod, { cluster: "member1", namespace: "shop" })).items.length;

test("a Job with the name of a deleted one that has finished runs, and is not complete before", async () => {
  const fleet = await orphan(5, SETTLED_MS);
  const before = await uidsOn(fleet);
  expect(before).toHaveLength(2);

  await fleet.client.create(Job, "hub", job(MINUTE_MS / 1000));
  await fleet.run(SETTLED_MS);

  expect(await isComplete(fleet)).toBe(false);
  const after = await uidsOn(fleet);
  expect(after).toHaveLength(2);
  expect(after.filter((uid) => before.includes(uid))).toEqual([]);
  await fleet.run(2 * MINUTE_MS);
  expect(await isComplete(fleet)).toBe(true);
  const { items } = await fleet.client.list(Event, { cluster: "hub", namespace: "shop" });
  expect(items.find(({ reason }) => reason === "EarlierRunReplaced")?.message).toBe(
    "the finished copies of a deleted Job seed on member1, member2 are deleted, so that this one runs",
  );
});

test("a Job with the name of a deleted one that still runs waits for it, kills no pod, and commands say so", async () => {
  const fleet = await orphan(120, SETTLED_MS);
  const before = await uidsOn(fleet);

  await fleet.client.create(Job, "hub", job(5));
  await fleet.run(SETTLED_MS);

  expect(await uidsOn(fleet)).toEqual(before);
  expect(await podsOf(fleet)).toBe(1);
  expect(await isComplete(fleet)).toBe(false);
  const cause = "a deleted Job seed has left copies that are not finished on member1, member2";
  const removal = "kubectl delete resourcebinding seed-job -n shop";
  for (const [command, ...argv] of [["status"], ["why", "job/seed", "-n", "shop"]] as const) {
    const { text } = await runCommand(fleet, command, ...argv);
    expect(text.replaceAll(/\s+/g, " ")).toContain(cause);
    expect(text.replaceAll(/\s+/g, " ")).toContain(removal);
  }

  await fleet.run(3 * MINUTE_MS);

  expect((await uidsOn(fleet)).filter((uid) => before.includes(uid))).toEqual([]);
  expect(await isComplete(fleet)).toBe(true);
});

test("a Job with the name of a deleted one that still runs replaces it when its binding is deleted", async () => {
  const fleet = await orphan(120, SETTLED_MS);
  const before = await uidsOn(fleet);
  await fleet.client.create(Job, "hub", job(5));
  await fleet.run(SETTLED_MS);

  await fleet.client.delete(ResourceBinding, { ...SEED, name: "seed-job" });
  await fleet.run(MINUTE_MS);

  expect((await uidsOn(fleet)).filter((uid) => before.includes(uid))).toEqual([]);
  expect(await isComplete(fleet)).toBe(true);
});

test("copies that the policy preserves are not taken for those of a new Job", async () => {
  const fleet = await orphan(5, SETTLED_MS, { preserveResourcesOnDeletion: true });
  const before = await uidsOn(fleet);

  await fleet.client.create(Job, "hub", job(5));
  await fleet.run(MINUTE_MS);

  expect(await uidsOn(fleet)).toEqual(before);
  expect(await isComplete(fleet)).toBe(false);
  expect((await runCommand(fleet, "why", "job/seed", "-n", "shop")).text).toMatch(
    /conflict|already exists|not managed/,
  );
});

test("a plan says what happens with the copies of a deleted Job of the name", async () => {
  const folder = mkdtempSync(join(tmpdir(), "flotilla-job-"));
  const file = join(folder, "job.json");
  writeFileSync(file, JSON.stringify(job(5)));

  const running = await orphan(120, SETTLED_MS);
  expect((await runCommand(running, "plan", "-f", file)).text).toContain(
    "copies that are not finished on member1, member2",
  );
  const finished = await orphan(5, SETTLED_MS);
  expect((await runCommand(finished, "plan", "-f", file)).text).toContain(
    "member1\n  ~ Job shop/seed (the finished one with this name is deleted, and this one runs)",
  );
  rmSync(folder, { recursive: true });
});
