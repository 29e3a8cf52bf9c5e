import { describe, expect, test } from "vitest";
import { createInterpreter } from "../../interpreter/interpreter.ts";
import { makeBinding, makeDeployment, makeWork } from "@flotilla/testing/builders.ts";
import { handingOver, keptWorks, planDivision, planWorks } from "./plan-works.ts";
import type { PlanWorks, WorksPlan } from "./plan-works.ts";

/** Divides as the interpreter does; overrides change nothing unless the test sets them. */
async function plan(
  binding: Parameters<typeof planWorks>[0],
  template: Parameters<typeof planWorks>[1],
  render: PlanWorks["render"] = (object) => ({ object }),
  works: PlanWorks["works"] = [],
): Promise<WorksPlan> {
  const { bare, shares } = planDivision(binding, template, { works });
  return planWorks(binding, template, { copies: await createInterpreter().divide(bare, shares), render, works });
}

type Manifest = {
  metadata: { labels: Record<string, string>; annotations: Record<string, string>; [field: string]: unknown };
  spec: { replicas: number };
  status?: unknown;
};

const cases: Record<string, { clusters: string[]; want: string[] }> = {
  "creates no Work before the scheduler has chosen clusters": { clusters: [], want: [] },
  "creates one Work in the execution namespace of each target": {
    clusters: ["paris", "oslo"],
    want: ["karmada-es-paris", "karmada-es-oslo"],
  },
};
for (const [behaviour, { clusters, want }] of Object.entries(cases)) {
  test(behaviour, async () => {
    const template = makeDeployment("shop/web").build();
    const binding = makeBinding(template)
      .targets(...clusters)
      .build();

    const { works } = await plan(binding, template);

    expect(works.map(({ metadata }) => metadata.namespace)).toEqual(want);
  });
}

describe("a Work", async () => {
  const template = makeDeployment("shop/web")
    .replicas(8)
    .with((deployment) => {
      deployment.metadata.uid = "u-1";
      deployment.metadata.generation = 4;
      deployment.metadata.resourceVersion = "99";
      deployment.metadata.annotations = { "deployment.kubernetes.io/revision": "3", owner: "shop" };
      deployment.status = { replicas: 8 };
    })
    .build();
  const binding = makeBinding(template).targets({ paris: 5, oslo: 3 }).build();
  const manifests = (await plan(binding, template)).works.map(
    ({ spec }) => spec.workload?.manifests?.[0] as unknown as Manifest,
  );

  test("carries its member's share of the replicas", () => {
    expect(manifests.map(({ spec }) => spec.replicas)).toEqual([5, 3]);
  });

  test("omits fields that belong only to the hub's copy", () => {
    expect(manifests[0]?.status).toBeUndefined();
    expect(Object.keys(manifests[0]?.metadata ?? {}).sort()).toEqual(["annotations", "labels", "name", "namespace"]);
    expect(manifests[0]?.metadata.annotations).not.toHaveProperty("deployment.kubernetes.io/revision");
  });

  test("annotates the manifest with its source, so that status can be collected", () => {
    expect(manifests[0]?.metadata.annotations).toMatchObject({
      owner: "shop",
      "resourcebinding.karmada.io/namespace": "shop",
      "resourcebinding.karmada.io/name": "web-deployment",
      "work.karmada.io/namespace": "karmada-es-paris",
      "resourcetemplate.karmada.io/uid": "u-1",
      "resourcetemplate.karmada.io/generation": "4",
      "work.karmada.io/conflict-resolution": "abort",
    });
    expect(manifests[0]?.metadata.labels).toEqual({
      "karmada.io/managed": "true",
      "resourcebinding.karmada.io/permanent-id": "id-of-web",
      "work.karmada.io/permanent-id": expect.stringMatching(/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/),
    });
  });

  test("has a permanent id, which it keeps and its manifest repeats", async () => {
    const idsIn = ({ works }: WorksPlan): (string | undefined)[][] =>
      works.map(({ metadata, spec }) =>
        [metadata, (spec.workload?.manifests?.[0] as unknown as Manifest | undefined)?.metadata].map(
          (each) => each?.labels?.["work.karmada.io/permanent-id"],
        ),
      );
    const old = makeWork("oslo", "web").build();
    old.metadata.labels = { "work.karmada.io/permanent-id": "given-before" };

    const [[paris, inParis] = [], [oslo, inOslo] = []] = idsIn(await plan(binding, template, undefined, [old]));

    expect([inParis, oslo, inOslo]).toEqual([paris, "given-before", "given-before"]);
    expect(idsIn(await plan(binding, template))[0]).toEqual([paris, paris]);
    expect(idsIn(await plan(binding, template))[1]).not.toEqual([paris, paris]);
  });
});

test("an object without replicas is identical on every cluster", async () => {
  const template = {
    apiVersion: "v1",
    kind: "ConfigMap",
    metadata: { namespace: "shop", name: "settings" },
    data: { colour: "blue" },
  };
  const binding = makeBinding(template).targets("paris", "oslo").build();

  const { works } = await plan(binding, template);

  expect(works.map(({ spec }) => spec.workload?.manifests?.[0]?.["data"])).toEqual([
    { colour: "blue" },
    { colour: "blue" },
  ]);
});

test("overrides are applied after the division and win", async () => {
  const template = makeDeployment("shop/web").replicas(4).build();
  const binding = makeBinding(template).targets({ paris: 4 }).build();
  const render: PlanWorks["render"] = (object) => ({
    object: { ...object, spec: { replicas: 1 } } as never,
    appliedOverrides: "[{}]",
  });

  const [work] = (await plan(binding, template, render)).works;

  expect(work?.spec.workload?.manifests?.[0]).toMatchObject({ spec: { replicas: 1 } });
  expect(work?.metadata.annotations).toMatchObject({ "policy.karmada.io/applied-overrides": "[{}]" });
});

test("a binding suspended for a cluster creates a suspended Work there", async () => {
  const template = makeDeployment("shop/web").build();
  const binding = makeBinding(template)
    .targets("paris", "oslo")
    .with(({ spec }) => (spec.suspension = { dispatchingOnClusters: { clusterNames: ["oslo"] } }))
    .build();

  expect((await plan(binding, template)).works.map(({ spec }) => spec.suspendDispatching)).toEqual([undefined, true]);
});

test("a cluster whose copy cannot be made does not affect others", async () => {
  const template = makeDeployment("shop/web").build();
  const binding = makeBinding(template).targets("paris", "oslo").build();
  const render: PlanWorks["render"] = (object, cluster) => {
    if (cluster === "paris") throw new Error("no such field");
    return { object };
  };

  const { works, failures } = await plan(binding, template, render);

  expect(works.map(({ metadata }) => metadata.namespace)).toEqual(["karmada-es-oslo"]);
  expect(failures).toEqual([{ cluster: "paris", error: new Error("no such field") }]);
});

describe("a member that is no longer a target", () => {
  const template = makeDeployment("shop/web").replicas(4).build();
  const binding = makeBinding(template).targets({ oslo: 4 }).build();
  const works = ["oslo", "rome"].map((cluster) => makeWork(cluster, "web").build());

  test("counts in the division while its Work exists", () => {
    expect(planDivision(binding, template, { works }).shares).toEqual([
      { cluster: "oslo", replicas: 4, isUndelivered: true },
      { cluster: "rome", replicas: 0, leaving: true, isUndelivered: true },
    ]);
  });

  test("keeps its Work only while the division gives it a copy, which no override changes", () => {
    const render: PlanWorks["render"] = (object) => ({ object: { ...object, spec: { replicas: 9 } } as never });
    const replicasWith = (...clusters: string[]): unknown[] =>
      planWorks(binding, template, {
        copies: new Map(clusters.map((cluster) => [cluster, template])),
        render,
        works: [],
      }).works.map(({ metadata, spec }) => [
        metadata.namespace,
        (spec.workload?.manifests?.[0] as unknown as Manifest | undefined)?.spec.replicas,
      ]);

    expect(replicasWith("oslo", "rome")).toEqual([
      ["karmada-es-oslo", 9],
      ["karmada-es-rome", 4],
    ]);
    expect(replicasWith("oslo")).toEqual([["karmada-es-oslo", 9]]);
  });
});

test.each([
  { type: "Divided" as const, isWhole: false },
  { type: "Duplicated" as const, isWhole: true },
])("the division receives placement type $type", ({ type, isWhole }) => {
  const template = makeDeployment("shop/web").replicas(4).build();
  const binding = makeBinding(template)
    .targets({ oslo: 4, rome: 4 })
    .with(({ spec }) => (spec.placement = { replicaScheduling: { replicaSchedulingType: type } }))
    .build();

  expect(planDivision(binding, template, { works: [] }).shares).toEqual([
    { cluster: "oslo", replicas: 4, isWhole },
    { cluster: "rome", replicas: 4, isWhole },
  ]);
});

test("the Work of a cluster-scoped object names its ClusterResourceBinding", async () => {
  const template = { apiVersion: "rbac.authorization.k8s.io/v1", kind: "ClusterRole", metadata: { name: "reader" } };
  const binding = makeBinding(template)
    .targets("paris")
    .with((draft) =>
      Object.assign(draft, {
        kind: "ClusterResourceBinding",
        metadata: { name: "reader-clusterrole", labels: { "clusterresourcebinding.karmada.io/permanent-id": "id-1" } },
      }),
    )
    .build();

  const [work] = (await plan(binding, template)).works;

  expect(work?.metadata.labels).toMatchObject({ "clusterresourcebinding.karmada.io/permanent-id": "id-1" });
  expect(work?.metadata.annotations).toMatchObject({ "clusterresourcebinding.karmada.io/name": "reader-clusterrole" });
});

describe("a cluster under eviction", () => {
  const template = makeDeployment("shop/web").replicas(4).build();
  const leaving = (purgeMode: "Directly" | "Gracefully", preservedLabelState?: Record<string, string>) =>
    makeBinding(template)
      .targets({ rome: 4 })
      .with(
        ({ spec }) =>
          (spec.gracefulEvictionTasks = [
            {
              fromCluster: "oslo",
              purgeMode,
              reason: "Test",
              producer: "test",
              clustersBeforeFailover: ["oslo"],
              preservedLabelState,
            },
          ]),
      )
      .build();
  const works = ["oslo", "rome"].map((cluster) => makeWork(cluster, "web").build());
  const namespaces = (kept: readonly { readonly metadata: { readonly namespace?: string } }[] | undefined) =>
    kept?.map(({ metadata }) => metadata.namespace);
  const labelsOf = async (binding: Parameters<typeof planWorks>[0]) =>
    (await plan(binding, template)).works
      .flatMap(({ spec }) => (spec.workload?.manifests ?? []) as unknown as Manifest[])
      .map(({ metadata }) => metadata.labels);

  test("keeps its Work unchanged during graceful eviction, unless it must shut down first", () => {
    expect(namespaces(keptWorks(leaving("Gracefully"), works, []))).toEqual(["karmada-es-oslo"]);
    expect(keptWorks(leaving("Gracefully"), works, [makeWork("oslo", "web").build()])).toEqual([]);
    expect(keptWorks(leaving("Directly"), works, [])).toEqual([]);
  });

  test("blocks the others until its Work is deleted when it is purged directly", () => {
    expect(namespaces(handingOver(leaving("Directly"), works))).toEqual(["karmada-es-rome"]);
    expect(handingOver(leaving("Directly"), [makeWork("rome", "web").build()])).toBeUndefined();
    expect(handingOver(leaving("Gracefully"), works)).toBeUndefined();
  });

  test("passes its state to the single replacement copy, after its deletion", async () => {
    expect(await labelsOf(leaving("Directly", { "shop/state": "3" }))).toEqual([
      expect.objectContaining({ "shop/state": "3" }),
    ]);
    expect(await labelsOf(leaving("Gracefully", { "shop/state": "3" }))).not.toEqual([
      expect.objectContaining({ "shop/state": "3" }),
    ]);
    const several = leaving("Directly", { "shop/state": "3" });
    several.spec.clusters = [
      { name: "rome", replicas: 2 },
      { name: "bonn", replicas: 2 },
    ];
    expect((await labelsOf(several)).every((labels) => labels["shop/state"] === undefined)).toBe(true);
  });
});

test("a dependency is placed on the clusters of its requirers", async () => {
  const template = { apiVersion: "v1", kind: "ConfigMap", metadata: { namespace: "shop", name: "settings" }, data: {} };
  const binding = makeBinding(template)
    .targets("paris")
    .with(
      ({ spec }) =>
        (spec.requiredBy = [
          {
            namespace: "shop",
            name: "web-deployment",
            clusters: [
              { name: "paris", replicas: 1 },
              { name: "oslo", replicas: 3 },
            ],
          },
        ]),
    )
    .build();

  expect((await plan(binding, template)).works.map(({ metadata }) => metadata.namespace)).toEqual([
    "karmada-es-paris",
    "karmada-es-oslo",
  ]);
});
