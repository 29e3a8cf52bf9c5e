/** PodUnavailableBudgets on a simulated member: what they count, and what they reject. */
import { afterEach, describe, expect, test } from "vitest";
import { CloneSet } from "../cloneset/cloneset-kind.ts";
import { Deployment, Namespace, Pod } from "@flotilla/kubernetes";
import { PodUnavailableBudget } from "./podunavailablebudget-kind.ts";
import { kruiseKinds } from "../openkruise.ts";
import type { PodUnavailableBudgetSpec } from "./podunavailablebudget-types.ts";
import { MEMBER, NAMESPACE } from "@flotilla/testing/member/member.ts";
import { makeWebCloneSet, makeWebTemplate, startKruiseMember } from "@flotilla/testing/member/kruise-member.ts";
import type { KruiseMember, KruiseMemberOptions } from "@flotilla/testing/member/kruise-member.ts";

let member: KruiseMember;
afterEach(() => member.stop());

const makeBudget = (spec: PodUnavailableBudgetSpec): PodUnavailableBudget => ({
  apiVersion: "policy.kruise.io/v1beta1",
  kind: "PodUnavailableBudget",
  metadata: { name: "budget", namespace: NAMESPACE },
  spec,
});
const makeDeployment = (replicas: number): Deployment => ({
  apiVersion: "apps/v1",
  kind: "Deployment",
  metadata: { name: "web", namespace: NAMESPACE },
  spec: { replicas, selector: { matchLabels: { app: "web" } }, template: makeWebTemplate("web:1") },
});
const SELECTS_WEB = { selector: { matchLabels: { app: "web" } } };

async function start(
  spec: PodUnavailableBudgetSpec,
  { replicas = 3, ...options }: KruiseMemberOptions & { replicas?: number } = {},
): Promise<void> {
  member = await startKruiseMember({ customs: kruiseKinds, times: { stopMs: 5000 }, ...options });
  await member.client.create(PodUnavailableBudget, MEMBER, makeBudget(spec));
  await member.client.create(
    CloneSet,
    MEMBER,
    makeWebCloneSet(replicas, { podUpdatePolicy: "InPlaceIfPossible", maxUnavailable: "100%" }),
  );
  await member.pass(5000);
}

const statusOf = async (): Promise<PodUnavailableBudget["status"]> =>
  (await member.get(PodUnavailableBudget, "budget")).status;
const names = (): string[] =>
  member
    .pods()
    .filter(({ metadata }) => !metadata.deletionTimestamp)
    .map(({ metadata }) => metadata.name);
const remove = (name: string, options = {}): Promise<unknown> =>
  member.client.delete(Pod, { cluster: MEMBER, namespace: NAMESPACE, name }, options);

async function evict(name: string, body: object = {}): Promise<{ code: number; message: string }> {
  const eviction = { apiVersion: "policy/v1", kind: "Eviction", metadata: { name, namespace: NAMESPACE }, ...body };
  const answer = await member.client.raw({
    method: "POST",
    cluster: MEMBER,
    path: `/api/v1/namespaces/${NAMESPACE}/pods/${name}/eviction`,
    headers: { "content-type": "application/json" },
    body: new TextEncoder().encode(JSON.stringify(eviction)),
  });
  const chunks: Uint8Array[] = [];
  for await (const chunk of answer.body) chunks.push(chunk);
  return {
    code: answer.status,
    message: (JSON.parse(Buffer.concat(chunks).toString()) as { message?: string }).message ?? "",
  };
}

const REFUSED = 'podunavailablebudget.policy.kruise.io "budget" is forbidden: pub unavailable allowed is negative';

describe("a budget counts", () => {
  test("the selected pods against the replicas of their workload", async () => {
    await start({ ...SELECTS_WEB, maxUnavailable: "30%" });

    expect(await statusOf()).toEqual({
      observedGeneration: 1,
      totalReplicas: 3,
      desiredAvailable: 2,
      currentAvailable: 3,
      unavailableAllowed: 1,
    });
    expect(member.pods().map(({ metadata }) => metadata.annotations?.["kruise.io/related-pub"])).toEqual([
      "budget",
      "budget",
      "budget",
    ]);
  });

  test("the pods of its target Deployment, which belong to ReplicaSets", async () => {
    member = await startKruiseMember({ customs: kruiseKinds });
    await member.client.create(Deployment, MEMBER, makeDeployment(4));
    await member.pass(5000);

    await member.client.create(
      PodUnavailableBudget,
      MEMBER,
      makeBudget({ targetRef: { apiVersion: "apps/v1", kind: "Deployment", name: "web" }, minAvailable: "50%" }),
    );
    await member.pass(5000);

    expect(await statusOf()).toMatchObject({
      totalReplicas: 4,
      desiredAvailable: 2,
      currentAvailable: 4,
      unavailableAllowed: 2,
    });
    // The pods are older than the budget and are annotated afterwards.
    expect(member.pods().map(({ metadata }) => metadata.annotations?.["kruise.io/related-pub"])).toEqual(
      Array(4).fill("budget"),
    );
  });

  test("a scaled-down workload at once, so that its own deletions pass", async () => {
    await start({ ...SELECTS_WEB, maxUnavailable: 0 }, { replicas: 4 });

    await member.edit((spec) => ({ ...spec, replicas: 2 }));
    await member.pass(30_000);

    expect(names()).toHaveLength(2);
    expect(await statusOf()).toMatchObject({ totalReplicas: 2, desiredAvailable: 2, currentAvailable: 2 });
  });

  test("pods with an unavailable label as unavailable", async () => {
    await start({ ...SELECTS_WEB, maxUnavailable: 1 });

    await member.editPod(names()[0] ?? "", (pod) => ({
      ...pod,
      metadata: { ...pod.metadata, labels: { ...pod.metadata.labels, "unavailable-pod.kruise.io/drill": "true" } },
    }));
    await member.pass(5000);

    expect(await statusOf()).toMatchObject({ currentAvailable: 2, unavailableAllowed: 0 });
  });
});

test("a pod that loses its budget annotation still counts, and is annotated again", async () => {
  await start({ ...SELECTS_WEB, maxUnavailable: 1 });
  const [first = ""] = names();

  await member.editPod(first, (pod) => {
    const { "kruise.io/related-pub": _, ...annotations } = pod.metadata.annotations ?? {};
    return {
      ...pod,
      metadata: {
        ...pod.metadata,
        annotations,
        labels: { ...pod.metadata.labels, "unavailable-pod.kruise.io/drill": "true" },
      },
    };
  });
  await member.pass(5000);

  expect(await statusOf()).toMatchObject({ currentAvailable: 2, unavailableAllowed: 0 });
  expect(member.pods().map(({ metadata }) => metadata.annotations?.["kruise.io/related-pub"])).toEqual([
    "budget",
    "budget",
    "budget",
  ]);
});

describe("an available pod", () => {
  test("is deleted only while the budget allows it", async () => {
    await start({ ...SELECTS_WEB, maxUnavailable: 1 });
    const [first = "", second = ""] = names();

    await remove(first);

    await expect(remove(second)).rejects.toMatchObject({
      status: {
        code: 403,
        reason: "Forbidden",
        message: `admission webhook "vpod.kb.io" denied the request: ${REFUSED}`,
      },
    });
    expect((await statusOf())?.disruptedPods).toEqual({ [first]: "2024-05-01T12:00:05Z" });
    await member.pass(60_000);
    expect(await statusOf()).toEqual({
      observedGeneration: 1,
      totalReplicas: 3,
      desiredAvailable: 2,
      currentAvailable: 3,
      unavailableAllowed: 1,
    });
  });

  test("is evicted only while the budget allows it", async () => {
    await start({ ...SELECTS_WEB, maxUnavailable: 1 });
    const [first = "", second = ""] = names();

    const answers = [await evict(first), await evict(second)];

    expect(answers.map(({ code }) => code)).toEqual([201, 403]);
    expect(answers[1]?.message).toBe(`admission webhook "vpodeviction.kb.io" denied the request: ${REFUSED}`);
    const untouched = await member.client.get(Pod, { cluster: MEMBER, namespace: NAMESPACE, name: second });
    expect(untouched.status?.conditions?.some(({ type }) => type === "DisruptionTarget")).toBe(false);
  });

  test("is not evicted concurrently with another one that uses up the budget", async () => {
    await start({ ...SELECTS_WEB, maxUnavailable: 1 });

    const answers = await Promise.all(names().map((name) => evict(name)));

    expect(answers.map(({ code }) => code).toSorted((a, b) => a - b)).toEqual([201, 403, 403]);
    expect(names()).toHaveLength(2);
  });

  test("may be deleted if only other operations are protected", async () => {
    await start({ ...SELECTS_WEB, maxUnavailable: 0, protectOperations: ["DELETE"] });
    const [first = "", second = ""] = names();

    const evicted = await evict(first);

    expect(evicted.code).toBe(201);
    await expect(remove(second)).rejects.toThrow(REFUSED);
  });

  test("may be deleted if its owner disabled protection", async () => {
    await start({ ...SELECTS_WEB, maxUnavailable: 0 });
    const [first = ""] = names();
    await member.editPod(first, (pod) => ({
      ...pod,
      metadata: { ...pod.metadata, annotations: { ...pod.metadata.annotations, "pub.kruise.io/no-protect": "true" } },
    }));

    await remove(first);

    expect(names()).not.toContain(first);
  });

  test("is not charged for a dry run", async () => {
    await start({ ...SELECTS_WEB, maxUnavailable: 1 });
    const [first = ""] = names();

    await remove(first, { dryRun: true });
    await evict(first, { deleteOptions: { dryRun: ["All"] } });

    expect(await statusOf()).toMatchObject({ unavailableAllowed: 1 });
    expect((await statusOf())?.disruptedPods).toBeUndefined();
  });

  test("gets an event when its deletion is rejected", async () => {
    await start({ ...SELECTS_WEB, maxUnavailable: 0 });
    const [first = ""] = names();

    await expect(remove(first)).rejects.toThrow(REFUSED);

    expect(member.events).toContain(`Pod/${first} Warning PubPreventPodDeletion: openkruise pub prevents pod deletion`);
  });
});

describe("an in-place update", () => {
  const GATE = { PodUnavailableBudgetUpdateGate: true };

  test("is not checked by default", async () => {
    await start({ ...SELECTS_WEB, maxUnavailable: 0 });

    await member.edit((spec) => ({ ...spec, template: makeWebTemplate("web:2") }));
    await member.pass(60_000);

    expect(member.pods().map(({ spec }) => spec.containers[0]?.image)).toEqual(["web:2", "web:2", "web:2"]);
  });

  test("is charged to the budget with the gate, so that a rollout stays within it", async () => {
    await start({ ...SELECTS_WEB, maxUnavailable: 1 }, { gates: GATE, times: { restartMs: 2000 } });
    let fewest = 3;
    member.informers
      .of(Pod)
      .subscribe(
        () =>
          (fewest = Math.min(
            fewest,
            member
              .pods()
              .filter(({ status }) =>
                status?.conditions?.some(({ type, status: value }) => type === "Ready" && value === "True"),
              ).length,
          )),
      );

    await member.edit((spec) => ({ ...spec, template: makeWebTemplate("web:2") }));
    await member.pass(120_000);

    expect(member.pods().map(({ spec }) => spec.containers[0]?.image)).toEqual(["web:2", "web:2", "web:2"]);
    expect(fewest).toBe(2);
    expect(await statusOf()).toMatchObject({ currentAvailable: 3, unavailableAllowed: 1 });
  });

  test("an in-place update by a user is rejected when the budget is used up", async () => {
    await start({ ...SELECTS_WEB, maxUnavailable: 0 }, { gates: GATE });

    const edited = member.editPod(names()[0] ?? "", (pod) => ({
      ...pod,
      spec: { ...pod.spec, containers: pod.spec.containers.map((container) => ({ ...container, image: "web:9" })) },
    }));

    await expect(edited).rejects.toThrow(`admission webhook "vpod.kb.io" denied the request: ${REFUSED}`);
  });
});

test("deleting a workload deletes its pods", async () => {
  await start({ ...SELECTS_WEB, maxUnavailable: 0 });

  await member.client.delete(CloneSet, { cluster: MEMBER, namespace: NAMESPACE, name: "web" });
  await member.pass(120_000);

  expect(member.pods()).toEqual([]);
});

test("deleting a namespace deletes everything in it", async () => {
  member = await startKruiseMember({ customs: kruiseKinds });
  await member.client.create(PodUnavailableBudget, MEMBER, makeBudget({ ...SELECTS_WEB, maxUnavailable: 0 }));
  await member.client.create(Deployment, MEMBER, makeDeployment(2));
  await member.pass(5000);

  await member.client.delete(Namespace, { cluster: MEMBER, name: NAMESPACE });
  await member.pass(120_000);

  expect(member.pods()).toEqual([]);
});

test("a converged budget writes nothing", async () => {
  await start({ ...SELECTS_WEB, maxUnavailable: 1 });
  const before = member.writes.total();

  await member.pass(600_000);

  expect(member.writes.total() - before).toBe(0);
});
