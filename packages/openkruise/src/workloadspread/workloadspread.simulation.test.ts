/** WorkloadSpreads on a simulated member. */
import { afterEach, expect, test } from "vitest";
import { Deployment } from "@flotilla/kubernetes";
import type { ReadonlyPod } from "@flotilla/kubernetes";
import { makeWebCloneSet, makeWebTemplate, startKruiseMember } from "@flotilla/testing/member/kruise-member.ts";
import type { KruiseMember } from "@flotilla/testing/member/kruise-member.ts";
import { MEMBER, NAMESPACE } from "@flotilla/testing/member/member.ts";
import { CloneSet } from "../cloneset/cloneset-kind.ts";
import { kruiseKinds } from "../openkruise.ts";
import { matchOf } from "./inject-subset.ts";
import { WorkloadSpread } from "./workloadspread-kind.ts";

const HOST = "kubernetes.io/hostname";

let member: KruiseMember;
afterEach(() => member.stop());

const onNodes = (...values: string[]): WorkloadSpread["spec"]["subsets"][number]["requiredNodeSelectorTerm"] => ({
  matchExpressions: [{ key: HOST, operator: "In", values }],
});

const makeSpread = (spec: Partial<WorkloadSpread["spec"]>): WorkloadSpread => ({
  apiVersion: "apps.kruise.io/v1alpha1",
  kind: "WorkloadSpread",
  metadata: { name: "web", namespace: NAMESPACE },
  spec: {
    targetRef: { apiVersion: "apps.kruise.io/v1alpha1", kind: "CloneSet", name: "web" },
    subsets: [{ name: "base", maxReplicas: 2, patch: { metadata: { labels: { tier: "base" } } } }, { name: "burst" }],
    ...spec,
  },
});

async function start(spread: WorkloadSpread, nodes = 3): Promise<void> {
  member = await startKruiseMember({ customs: kruiseKinds, nodes });
  await member.pass(1000);
  await member.client.create(WorkloadSpread, MEMBER, spread);
}

const subsetOf = (pod: ReadonlyPod): string => matchOf(pod)?.subset ?? "none";
const pods = (): ReadonlyPod[] => member.pods().filter(({ metadata }) => !metadata.deletionTimestamp);
const subsets = (): Record<string, number> =>
  Object.fromEntries([...Map.groupBy(pods(), subsetOf)].map(([name, list]) => [name, list.length]));
const statusOf = async () => (await member.get(WorkloadSpread, "web")).status;

test("fills the first subset and then the next, with its patch, also when all pods are created at once", async () => {
  await start(makeSpread({}));

  await member.client.create(CloneSet, MEMBER, makeWebCloneSet(5));
  await member.pass(10_000);

  expect(subsets()).toEqual({ base: 2, burst: 3 });
  expect(pods().filter(({ metadata }) => metadata.labels?.["tier"] === "base")).toHaveLength(2);
  expect((await statusOf())?.subsetStatuses).toEqual([
    { name: "base", replicas: 2, missingReplicas: 0 },
    { name: "burst", replicas: 3, missingReplicas: -1 },
  ]);
});

test("scale-in empties the last subset first", async () => {
  await start(makeSpread({}));
  await member.client.create(CloneSet, MEMBER, makeWebCloneSet(5));
  await member.pass(10_000);

  await member.edit((spec) => ({ ...spec, replicas: 3 }));
  await member.pass(60_000);

  expect(subsets()).toEqual({ base: 2, burst: 1 });
});

test("the share of a percentage follows the replicas", async () => {
  await start(
    makeSpread({
      subsets: [
        { name: "base", maxReplicas: "50%" },
        { name: "burst", maxReplicas: "50%" },
      ],
    }),
  );
  await member.client.create(CloneSet, MEMBER, makeWebCloneSet(4));
  await member.pass(10_000);
  const before = subsets();

  await member.edit((spec) => ({ ...spec, replicas: 8 }));
  await member.pass(10_000);

  expect(before).toEqual({ base: 2, burst: 2 });
  expect(subsets()).toEqual({ base: 4, burst: 4 });
});

test("a pod that finds no node moves to the next subset, and the full one is tried again after five minutes", async () => {
  await start(
    makeSpread({
      subsets: [{ name: "base", requiredNodeSelectorTerm: onNodes("nowhere"), maxReplicas: 2 }, { name: "burst" }],
      scheduleStrategy: { type: "Adaptive", adaptive: { rescheduleCriticalSeconds: 30 } },
    }),
  );
  await member.client.create(CloneSet, MEMBER, makeWebCloneSet(3));
  await member.pass(10_000);
  const before = subsets();

  await member.pass(60_000);
  const [base] = (await statusOf())?.subsetStatuses ?? [];

  expect(before).toEqual({ base: 2, burst: 1 });
  expect(subsets()).toEqual({ burst: 3 });
  expect(base?.conditions).toMatchObject([{ type: "Schedulable", status: "False" }]);
  await member.pass(300_000);
  expect((await statusOf())?.subsetStatuses?.[0]?.conditions).toMatchObject([{ status: "True" }]);
  expect(member.events).toContain(
    "WorkloadSpread/web Normal RecoverSchedulable: Subset base of WorkloadSpread shop/web is recovered from unschedulable to schedulable",
  );
});

test("pods that are older than the WorkloadSpread join the subset of their node", async () => {
  member = await startKruiseMember({ customs: kruiseKinds, nodes: 2 });
  await member.pass(1000);
  await member.client.create(CloneSet, MEMBER, makeWebCloneSet(4));
  await member.pass(10_000);
  const [first = ""] = pods().map(({ spec }) => spec.nodeName);

  await member.client.create(
    WorkloadSpread,
    MEMBER,
    makeSpread({
      subsets: [{ name: "here", requiredNodeSelectorTerm: onNodes(first), maxReplicas: 10 }, { name: "elsewhere" }],
    }),
  );
  await member.pass(10_000);

  const here = pods().filter(({ spec }) => spec.nodeName === first);
  expect(new Set(here.map(subsetOf))).toEqual(new Set(["here"]));
  expect(Object.values(subsets()).reduce((sum, count) => sum + count)).toBe(4);
});

test("pods of a Deployment are counted by revision, so that a rollout keeps the division", async () => {
  await start(makeSpread({ targetRef: { apiVersion: "apps/v1", kind: "Deployment", name: "web" } }));
  const template = makeWebTemplate("web:1");
  await member.client.create(Deployment, MEMBER, {
    apiVersion: "apps/v1",
    kind: "Deployment",
    metadata: { name: "web", namespace: NAMESPACE },
    spec: { replicas: 4, selector: { matchLabels: { app: "web" } }, template },
  });
  await member.pass(20_000);
  const before = subsets();

  await member.change(Deployment, "web", (object) => ({
    ...object,
    spec: { ...object.spec, template: makeWebTemplate("web:2") },
  }));
  await member.pass(60_000);

  expect(before).toEqual({ base: 2, burst: 2 });
  expect(subsets()).toEqual({ base: 2, burst: 2 });
  expect(Object.keys((await statusOf())?.versionedSubsetStatuses ?? {})).toHaveLength(1);
});

test("writes nothing once the pods are placed", async () => {
  await start(makeSpread({}));
  await member.client.create(CloneSet, MEMBER, makeWebCloneSet(4));
  await member.pass(60_000);

  member.writes.reset();
  await member.pass(600_000);

  expect(member.writes.counts()).toEqual([]);
});
