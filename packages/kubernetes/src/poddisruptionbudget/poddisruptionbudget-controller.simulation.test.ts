/** Disruption budgets on a simulated member, and the evictions that they allow. */
import { describe, expect, test } from "vitest";
import { dynamicKind } from "@flotilla/apimachinery";
import type { Kind } from "@flotilla/apimachinery";
import { Deployment } from "../deployment/deployment-kind.ts";
import { Pod } from "../pod/pod-kind.ts";
import { PodDisruptionBudget } from "./poddisruptionbudget-kind.ts";
import { MEMBER, NAMESPACE, startTestMember } from "@flotilla/testing/member/member.ts";
import { endsWithTest } from "@flotilla/testing/ends-with-test.ts";
import type { TestMember } from "@flotilla/testing/member/member.ts";
import { indexByController } from "../owned-kinds.ts";
import { createDeploymentController } from "../deployment/deployment-controller.ts";
import { createReplicaSetController } from "../replicaset/replicaset-controller.ts";
import { createDisruptionController } from "./poddisruptionbudget-controller.ts";
import { createStaleMarkController } from "./stale-marks-controller.ts";

/** A kind that the controllers know by its scale alone. */
const Squad: Kind = {
  ...dynamicKind({ group: "example.com", version: "v1", kind: "Squad", plural: "squads", scope: "Namespaced" }),
  subresources: {
    status: true,
    scale: { specReplicasPath: ".spec.replicas", statusReplicasPath: ".status.replicas" },
  },
};

async function startMember(): Promise<TestMember> {
  const member = await startTestMember({
    customs: [Squad],
    controllers(deps) {
      indexByController(deps.informers);
      return [
        createDeploymentController(deps),
        createReplicaSetController(deps),
        createDisruptionController(deps),
        createStaleMarkController(deps),
      ];
    },
  });
  return endsWithTest(member);
}

const selector = { matchLabels: { app: "web" } };
const template = { metadata: { labels: { app: "web" } }, spec: { containers: [{ name: "main", image: "web:1" }] } };
const metadata = { name: "web", namespace: NAMESPACE };
const makeDeployment = (replicas: number): Deployment => ({
  apiVersion: "apps/v1",
  kind: "Deployment",
  metadata,
  spec: { replicas, selector, template },
});
const makeBudget = (spec: Partial<PodDisruptionBudget["spec"]>): PodDisruptionBudget => ({
  apiVersion: "policy/v1",
  kind: "PodDisruptionBudget",
  metadata,
  spec: { selector, ...spec },
});
const statusOf = async (member: TestMember) => (await member.get(PodDisruptionBudget, "web")).status;

async function evict(member: TestMember, name: string): Promise<number> {
  const body = new TextEncoder().encode(
    JSON.stringify({ apiVersion: "policy/v1", kind: "Eviction", metadata: { name, namespace: NAMESPACE } }),
  );
  const { status } = await member.client.raw({
    method: "POST",
    cluster: MEMBER,
    path: `/api/v1/namespaces/${NAMESPACE}/pods/${name}/eviction`,
    headers: { "content-type": "application/json" },
    body,
  });
  return status;
}

describe("A disruption budget", () => {
  const cases: Record<string, { spec: Partial<PodDisruptionBudget["spec"]>; want: object }> = {
    "keeps minAvailable pods available": {
      spec: { minAvailable: 3 },
      want: { desiredHealthy: 3, disruptionsAllowed: 2, expectedPods: 5 },
    },
    "keeps a percentage of the expected pods available, rounded up": {
      spec: { minAvailable: "50%" },
      want: { desiredHealthy: 3, disruptionsAllowed: 2, expectedPods: 5 },
    },
    "allows maxUnavailable pods to be unavailable": {
      spec: { maxUnavailable: 1 },
      want: { desiredHealthy: 4, disruptionsAllowed: 1, expectedPods: 5 },
    },
    "allows a percentage of the pods to be unavailable, rounded up": {
      spec: { maxUnavailable: "50%" },
      want: { desiredHealthy: 2, disruptionsAllowed: 3, expectedPods: 5 },
    },
  };
  for (const [behaviour, { spec, want }] of Object.entries(cases)) {
    test(behaviour, async () => {
      const member = await startMember();
      await member.client.create(PodDisruptionBudget, MEMBER, makeBudget(spec));
      await member.client.create(Deployment, MEMBER, makeDeployment(5));
      await member.pass(20_000);

      expect(await statusOf(member)).toMatchObject({ ...want, currentHealthy: 5, observedGeneration: 1 });
      expect((await statusOf(member))?.conditions).toMatchObject([
        { type: "DisruptionAllowed", status: "True", reason: "SufficientPods" },
      ]);
    });
  }

  test("rejects evictions beyond its limit until the pod is replaced", async () => {
    const member = await startMember();
    await member.client.create(Deployment, MEMBER, makeDeployment(3));
    await member.client.create(PodDisruptionBudget, MEMBER, makeBudget({ maxUnavailable: 1 }));
    await member.pass(20_000);
    const [first = "", second = ""] = member.pods().map((pod) => pod.metadata.name);

    const answers = [await evict(member, first), await evict(member, second)];
    await member.pass(300);
    const during = await statusOf(member);
    await member.pass(40_000);
    answers.push(await evict(member, second));

    expect(answers).toEqual([201, 429, 201]);
    expect(during).toMatchObject({ disruptionsAllowed: 0, currentHealthy: 2, desiredHealthy: 2 });
    expect(during?.conditions?.[0]).toMatchObject({ status: "False", reason: "InsufficientPods" });
  });

  test("counts the pods of an unknown kind by its scale", async () => {
    const member = await startMember();
    const squad = { apiVersion: "example.com/v1", kind: "Squad", metadata, spec: { replicas: 4 } };
    const owner = await member.client.create(Squad, MEMBER, squad);
    const ownerReferences = [
      { apiVersion: owner.apiVersion, kind: owner.kind, name: "web", uid: owner.metadata.uid ?? "", controller: true },
    ];
    for (const name of ["a", "b", "c"])
      await member.client.create(Pod, MEMBER, {
        apiVersion: "v1",
        kind: "Pod",
        metadata: { name, namespace: NAMESPACE, labels: { app: "web" }, ownerReferences },
        spec: template.spec,
      });
    await member.client.create(PodDisruptionBudget, MEMBER, makeBudget({ maxUnavailable: 2 }));
    await member.pass(20_000);

    expect(await statusOf(member)).toMatchObject({
      expectedPods: 4,
      desiredHealthy: 2,
      currentHealthy: 3,
      disruptionsAllowed: 1,
    });
  });

  test("allows nothing while it cannot count", async () => {
    const member = await startMember();
    const ownerReferences = [{ apiVersion: "example.com/v1", kind: "Thing", name: "x", uid: "1", controller: true }];
    await member.client.create(Pod, MEMBER, {
      apiVersion: "v1",
      kind: "Pod",
      metadata: { name: "a", namespace: NAMESPACE, labels: { app: "web" }, ownerReferences },
      spec: template.spec,
    });
    await member.client.create(PodDisruptionBudget, MEMBER, makeBudget({ maxUnavailable: 1 }));
    await member.pass(20_000);

    const status = await statusOf(member);
    expect(status).toMatchObject({ disruptionsAllowed: 0, conditions: [{ status: "False", reason: "SyncFailed" }] });
  });

  test("removes the DisruptionTarget condition of a pod whose eviction did not happen", async () => {
    const member = await startMember();
    await member.client.create(Pod, MEMBER, {
      apiVersion: "v1",
      kind: "Pod",
      metadata: { name: "a", namespace: NAMESPACE },
      spec: template.spec,
    });
    await member.pass(10_000);
    const pod = await member.get(Pod, "a");
    const mark = {
      type: "DisruptionTarget",
      status: "True",
      reason: "EvictionByEvictionAPI",
      lastTransitionTime: "2024-05-01T12:00:10Z",
    };
    await member.client.updateStatus(Pod, MEMBER, {
      ...pod,
      status: { ...pod.status, conditions: [...(pod.status?.conditions ?? []), mark] },
    });
    const marked = (): string | undefined =>
      member.pods()[0]?.status?.conditions?.find(({ type }) => type === mark.type)?.status;

    await member.pass(115_000);
    const before = marked();
    await member.pass(10_000);

    expect([before, marked()]).toEqual(["True", "False"]);
  });

  test("writes nothing when nothing changes", async () => {
    const member = await startMember();
    await member.client.create(Deployment, MEMBER, makeDeployment(3));
    await member.client.create(PodDisruptionBudget, MEMBER, makeBudget({ maxUnavailable: 1 }));
    await member.pass(20_000);
    member.writes.reset();

    await member.pass(300_000);

    expect(member.writes.counts()).toEqual([]);
  });
});
