/** Explanations of a resource's placement, requested from a running hub as clients do. */
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { Deployment, Job, Namespace } from "@flotilla/kubernetes";
import { Cluster, OverridePolicy, PropagationPolicy } from "@flotilla/karmada";
import { DRAIN_TAINT, Explanation } from "@flotilla/flotilla";
import { createLastingEngine, startTestFleet } from "@flotilla/testing/fleet/fleet.ts";
import type { TestFleet } from "@flotilla/testing/fleet/fleet.ts";
import { makeDeployment, makePolicy } from "@flotilla/testing/builders.ts";

const SETTLED_MS = 20_000;
const MEMBERS = ["member1", "member2", "member3"];
const web = { cluster: "hub", namespace: "shop", name: "web-deployment" };

// Some tests restart the process; the store stays.
let engine: ReturnType<typeof createLastingEngine>;
let fleet: TestFleet;
beforeEach(async () => {
  engine = createLastingEngine();
  fleet = await startTestFleet({ members: MEMBERS, engine });
  await fleet.client.create(Namespace, "hub", { apiVersion: "v1", kind: "Namespace", metadata: { name: "shop" } });
});
afterEach(() => fleet.stop());

const why = () => fleet.client.get(Explanation, web);
async function deploy(policy: PropagationPolicy, ...others: PropagationPolicy[]): Promise<void> {
  for (const object of [policy, ...others]) await fleet.client.create(PropagationPolicy, "hub", object);
  await fleet.client.create(Deployment, "hub", makeDeployment("shop/web").replicas(6).build());
  await fleet.run(SETTLED_MS);
}
const weighted = (name = "all"): PropagationPolicy =>
  makePolicy(`shop/${name}`).selects("apps/v1", "Deployment", "web").weights({ member1: 2, member2: 1 }).build();

describe("an explanation", () => {
  test("names the winning policy, and why the others lost", async () => {
    const everything = makePolicy("shop/everything").selects("apps/v1", "Deployment").duplicates("member3").build();
    const other = makePolicy("shop/other").selects("apps/v1", "Deployment", "db").duplicates("member3").build();

    await deploy(weighted(), everything, other);

    const { policy, otherPolicies } = await why();
    expect(policy).toMatchObject({ kind: "PropagationPolicy", name: "all", priority: 0, selectsBy: "name" });
    expect(otherPolicies.map(({ name, selectsBy }) => [name, selectsBy])).toEqual([
      ["everything", "kind"],
      ["other", "nothing"],
    ]);
  });

  test("contains the scheduler's result for each cluster", async () => {
    await deploy(weighted());

    expect((await why()).decision).toMatchObject({
      source: "recorded",
      kept: [
        { cluster: "member1", replicas: 4 },
        { cluster: "member2", replicas: 2 },
      ],
      rejected: [{ by: "ClusterAffinity", count: 1, clusters: ["member3"] }],
    });
  });

  test("is recomputed after a restart, and reports that", async () => {
    await deploy(weighted());
    await fleet.stop();
    fleet = await startTestFleet({ members: MEMBERS, engine });

    const { decision } = await why();

    // Existing replicas now count in favour of a cluster.
    expect(decision).toMatchObject({
      source: "recomputed",
      kept: [
        { cluster: "member1", score: 100, replicas: 4 },
        { cluster: "member2", score: 100, replicas: 2 },
      ],
      rejected: [{ by: "ClusterAffinity", count: 1, clusters: ["member3"] }],
    });
  });

  test("distinguishes a drain that is over, and shows what a new decision would change", async () => {
    // An eviction waits until the pods run elsewhere.
    await fleet.stop();
    fleet = await startTestFleet({ members: MEMBERS, engine, nodes: 1 });
    await deploy(weighted());
    const setTaints = async (...taints: { key: string; effect: string }[]): Promise<void> => {
      await fleet.client.patch(Cluster, { cluster: "hub", name: "member2" }, { spec: { taints } }, { type: "merge" });
      await fleet.run(SETTLED_MS);
    };
    await setTaints({ key: DRAIN_TAINT, effect: "NoExecute" });
    await setTaints();
    const note = expect.stringContaining(
      "a new decision would differ: member1 has 6 instead of 4, member2 has nothing instead of 2; what runs is moved only for a reason",
    );

    expect((await why()).decision).toMatchObject({
      source: "recorded",
      kept: [{ cluster: "member1", replicas: 6 }],
      rejected: expect.arrayContaining([
        expect.objectContaining({
          by: "ClusterEviction",
          reason: "the workload was being evicted from it, which is over",
        }),
      ]),
      note,
    });

    await fleet.stop();
    fleet = await startTestFleet({ members: MEMBERS, engine, nodes: 1 });

    expect((await why()).decision).toMatchObject({ source: "recomputed", note });
  });

  test("shows after a restart where a finished Job ran", async () => {
    await fleet.client.create(
      PropagationPolicy,
      "hub",
      makePolicy("shop/jobs").selects("batch/v1", "Job").duplicates("member2").build(),
    );
    await fleet.client.create(Job, "hub", {
      apiVersion: "batch/v1",
      kind: "Job",
      metadata: { namespace: "shop", name: "seed" },
      spec: { template: { spec: { restartPolicy: "Never", containers: [{ name: "main", image: "seed:1" }] } } },
    });
    await fleet.run(SETTLED_MS);
    const at = "2024-05-01T12:00:10Z";
    const conditions = ["SuccessCriteriaMet", "Complete"].map((type) => ({
      type,
      status: "True",
      lastProbeTime: at,
      lastTransitionTime: at,
    }));
    await fleet.client.patch(
      Job,
      { cluster: "member2", namespace: "shop", name: "seed" },
      { status: { succeeded: 1, startTime: at, completionTime: at, conditions } },
      { type: "merge", subresource: "status" },
    );
    await fleet.run(SETTLED_MS);
    await fleet.stop();
    fleet = await startTestFleet({ members: MEMBERS, engine });

    const { decision } = await fleet.client.get(Explanation, { ...web, name: "seed-job" });

    expect(decision).toMatchObject({ source: "recomputed", kept: [{ cluster: "member2" }], rejected: [] });
  });

  test("shows the changes of division and overrides on each member, and the member's status", async () => {
    await fleet.client.create(OverridePolicy, "hub", {
      apiVersion: "policy.karmada.io/v1alpha1",
      kind: "OverridePolicy",
      metadata: { namespace: "shop", name: "mirror" },
      spec: {
        resourceSelectors: [{ apiVersion: "apps/v1", kind: "Deployment", name: "web" }],
        overrideRules: [
          {
            targetCluster: { clusterNames: ["member2"] },
            overriders: { imageOverrider: [{ component: "Registry", operator: "add", value: "mirror.example.com" }] },
          },
        ],
      },
    });

    await deploy(weighted());

    const { members } = await why();
    expect(members).toMatchObject([
      {
        cluster: "member1",
        replicas: 4,
        state: "target",
        divided: [{ path: "spec.replicas", before: 6, after: 4 }],
        overridden: [],
        applied: true,
      },
      {
        cluster: "member2",
        replicas: 2,
        divided: [{ path: "spec.replicas", before: 6, after: 2 }],
        overridePolicies: ["mirror"],
        overridden: [
          { path: "spec.template.spec.containers[web].image", before: "web:1", after: "mirror.example.com/web:1" },
        ],
      },
    ]);
  });

  test("reports the problem and a remedy when no cluster fits", async () => {
    await deploy(makePolicy("shop/nowhere").selects("apps/v1", "Deployment", "web").duplicates("atlantis").build());

    const { problems, decision } = await why();

    expect(decision?.message).toContain("0/3 clusters are available");
    expect(problems).toHaveLength(1);
    expect(problems[0]?.what).toMatch(/^the policy names atlantis, which is not a member of the fleet, so scheduling/);
    expect(problems[0]?.try).toBe("correct the names in PropagationPolicy nowhere, or join the clusters");
  });

  test("does not exist for a missing binding, and causes no writes", async () => {
    await deploy(weighted());
    fleet.resetWrites();

    await why();

    await expect(fleet.client.get(Explanation, { ...web, name: "db-deployment" })).rejects.toThrow(
      'explanations.explain.flotilla.dev "db-deployment" not found',
    );
    expect(fleet.writes()).toEqual([]);
  });
});
