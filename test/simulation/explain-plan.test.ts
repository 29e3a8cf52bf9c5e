/**
 * A plan predicts the effect of applying: each case is planned on a running hub, then applied, and the Works are
 * compared.
 */
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { Cluster, PropagationPolicy, Work } from "@flotilla/karmada";
import { Deployment, Namespace } from "@flotilla/kubernetes";
import type { KubernetesObject } from "@flotilla/apimachinery";
import { copy, messageOf } from "@flotilla/base";
import type { DeepReadonly, JsonObject } from "@flotilla/base";
import { createKindResolver } from "@flotilla/client";
import { createMemoryEngine } from "@flotilla/apiserver";
import type { Engine } from "@flotilla/apiserver";
import { isBookkeeping, planFleet } from "@flotilla/flotilla";
import { holdCommits } from "@flotilla/testing/api-server.ts";
import { startTestFleet } from "@flotilla/testing/fleet/fleet.ts";
import type { TestFleet } from "@flotilla/testing/fleet/fleet.ts";
import { makeCloneSet, makeDeployment, makePolicy } from "@flotilla/testing/builders.ts";
import { tryAll, withObjects } from "../../packages/cli/src/explain/apply-input.ts";
import { createDryRunClient } from "../../packages/cli/src/explain/dry-run-client.ts";
import { createHubInterpreter } from "../../packages/cli/src/explain/hub-interpreter.ts";
import { planInput, type PlanResult } from "../../packages/cli/src/explain/plan-input.ts";
import { readHub } from "../../packages/cli/src/explain/read-snapshot.ts";

const SETTLED_MS = 60_000;
const { signal } = new AbortController();

let fleet: TestFleet;
let engine: Engine;
beforeEach(async () => {
  engine = createMemoryEngine();
  fleet = await startTestFleet({ members: ["member1", "member2", "member3"], engine });
  await fleet.client.create(Namespace, "hub", { apiVersion: "v1", kind: "Namespace", metadata: { name: "shop" } });
  await apply(
    makePolicy("shop/all").selects("apps/v1", "Deployment").weights({ member1: 2, member2: 1 }).build(),
    makeDeployment("shop/web").replicas(6).build(),
  );
});
afterEach(() => fleet.stop());

async function apply(...objects: KubernetesObject[]): Promise<void> {
  const kinds = createKindResolver({ client: fleet.client, cluster: "hub" });
  for (const object of objects)
    await fleet.client.apply(await kinds.resolve(object), "hub", object as never, {
      force: true,
      fieldManager: "kubectl",
    });
  await fleet.run(SETTLED_MS);
}
const plan = (objects: KubernetesObject[], without: string[] = []): Promise<PlanResult> =>
  planInput(
    fleet.client,
    { manifests: objects as unknown as JsonObject[], without, namespace: "default" },
    fleet.clock,
    signal,
  );
const shortly = ({ changes }: PlanResult): unknown[] =>
  changes.map(({ cluster, action, object, fields }) => [
    cluster,
    action,
    object.name,
    ...fields.map(({ path, before, after }) => `${path}: ${JSON.stringify(before)} → ${JSON.stringify(after)}`),
  ]);

/** Manifests by cluster, without the metadata that stages exchange. */
function shown(works: readonly DeepReadonly<Work>[]): unknown[] {
  return works
    .filter(({ metadata }) => metadata.labels?.["flotilla.dev/namespace"] === undefined)
    .map(({ metadata, spec }) => {
      const manifest = copy(spec.workload?.manifests?.[0]) as unknown as {
        metadata: { labels?: Record<string, string>; annotations?: Record<string, string> };
      };
      for (const part of ["labels", "annotations"] as const)
        for (const key of Object.keys(manifest.metadata[part] ?? {}))
          if (isBookkeeping(`metadata.${part}[${key}]`)) delete manifest.metadata[part]?.[key];
      return { where: `${metadata.namespace}/${metadata.name}`, manifest, suspended: spec.suspendDispatching ?? false };
    })
    .sort((a, b) => (a.where < b.where ? -1 : 1));
}

async function plannedWorks(objects: KubernetesObject[]): Promise<unknown[]> {
  const dry = createDryRunClient(fleet.client, signal);
  const { applied } = await tryAll(
    fleet.client,
    dry,
    { manifests: objects as unknown as JsonObject[], namespace: "default" },
    signal,
  );
  const state = withObjects(
    await readHub(fleet.client, [], signal),
    applied.map(({ object }) => [object]),
  );
  const { interpreter, close } = createHubInterpreter(state, fleet.clock);
  try {
    return shown((await planFleet(state.snapshot, { interpreter, nowMs: fleet.clock.now() })).works);
  } finally {
    await close();
  }
}

describe("applying does exactly what was planned", () => {
  const mirror = {
    apiVersion: "policy.karmada.io/v1alpha1",
    kind: "OverridePolicy",
    metadata: { namespace: "shop", name: "mirror" },
    spec: {
      resourceSelectors: [{ apiVersion: "apps/v1", kind: "Deployment" }],
      overrideRules: [
        {
          targetCluster: { clusterNames: ["member2"] },
          overriders: { imageOverrider: [{ component: "Registry", operator: "add", value: "mirror.example.com" }] },
        },
      ],
    },
  };
  const cases: Record<string, { objects: () => KubernetesObject[]; want: unknown[] }> = {
    "when a template is scaled": {
      objects: () => [makeDeployment("shop/web").replicas(9).build()],
      want: [
        ["member1", "update", "web", "spec.replicas: 4 → 6"],
        ["member2", "update", "web", "spec.replicas: 2 → 3"],
      ],
    },
    "when an image changes": {
      objects: () => [makeDeployment("shop/web").replicas(6).image("web:2").build()],
      want: ["member1", "member2"].map((cluster) => [
        cluster,
        "update",
        "web",
        'spec.template.spec.containers[web].image: "web:1" → "web:2"',
      ]),
    },
    "when a policy moves a workload": {
      objects: () => [
        makePolicy("shop/all").selects("apps/v1", "Deployment").weights({ member1: 1, member3: 1 }).build(),
      ],
      want: [
        ["member1", "update", "web", "spec.replicas: 4 → 3"],
        ["member2", "delete", "web"],
        ["member3", "create", "web", "spec.replicas: 6 → 3"],
      ],
    },
    "when an override is added": {
      objects: () => [mirror],
      want: [
        ["member2", "update", "web", 'spec.template.spec.containers[web].image: "web:1" → "mirror.example.com/web:1"'],
      ],
    },
    "when a new workload is created with its own policy": {
      objects: () => [
        makePolicy("shop/sets")
          .selects("apps.kruise.io/v1beta1", "CloneSet", "api")
          .weights({ member1: 1, member2: 1 })
          .build(),
        makeCloneSet("shop/api").replicas(4).build(),
      ],
      want: [
        [
          "member1",
          "create",
          "api",
          "spec.replicas: 4 → 2",
          'spec.updateStrategy.rollingUpdate.maxUnavailable: "20%" → 1',
        ],
        [
          "member2",
          "create",
          "api",
          "spec.replicas: 4 → 2",
          'spec.updateStrategy.rollingUpdate.maxUnavailable: "20%" → 1',
        ],
      ],
    },
    "when dependencies follow a workload": {
      objects: () => [
        {
          apiVersion: "v1",
          kind: "ConfigMap",
          metadata: { namespace: "shop", name: "settings" },
          data: { colour: "blue" },
        } as KubernetesObject,
        makePolicy("shop/jobs")
          .selects("apps.kruise.io/v1beta1", "CloneSet", "api")
          .duplicates("member3")
          .with(({ spec }) => (spec.propagateDeps = true))
          .build(),
        makeCloneSet("shop/api")
          .with(({ spec }) =>
            Object.assign(spec.template.spec ?? {}, {
              volumes: [{ name: "settings", configMap: { name: "settings" } }],
            }),
          )
          .build(),
      ],
      want: [
        ["member3", "create", "api"],
        ["member3", "create", "settings"],
      ],
    },
    "when no cluster fits any more, and workloads stay": {
      objects: () => [makePolicy("shop/all").selects("apps/v1", "Deployment").duplicates("atlantis").build()],
      want: [],
    },
    "when nothing changes": { objects: () => [makeDeployment("shop/web").replicas(6).build()], want: [] },
  };
  for (const [behaviour, { objects, want }] of Object.entries(cases)) {
    test(behaviour, async () => {
      const planned = await plan(objects());
      const works = await plannedWorks(objects());

      await apply(...objects());

      expect(shortly(planned)).toEqual(want);
      expect(shown((await fleet.client.list(Work, { cluster: "hub" })).items)).toEqual(works);
    });
  }
});

describe("a plan", () => {
  test("writes nothing", async () => {
    const { resourceVersion } = await fleet.client.list(Work, { cluster: "hub" });

    await plan([
      makeDeployment("shop/web").replicas(9).build(),
      makePolicy("shop/new").selects("apps/v1", "Deployment", "web").duplicates("member3").build(),
    ]);

    expect((await fleet.client.list(Work, { cluster: "hub" })).resourceVersion).toBe(resourceVersion);
    expect((await fleet.client.list(PropagationPolicy, { cluster: "hub" })).items).toHaveLength(1);
  });

  test("shows where replicas move when a cluster is removed, as its removal then confirms", async () => {
    const planned = await plan([], ["member2"]);

    expect(shortly(planned)).toEqual([
      ["member1", "update", "web", "spec.replicas: 4 → 6"],
      ["member2", "delete", "web"],
    ]);
    expect(planned.changes[1]?.note).toBe("excluded by --without-cluster");

    await fleet.client.delete(Cluster, { cluster: "hub", name: "member2" });
    await fleet.run(SETTLED_MS);
    const { items } = await fleet.client.list(Work, { cluster: "hub", namespace: "karmada-es-member1" });
    expect(
      items
        .flatMap(
          ({ spec }) => (spec.workload?.manifests ?? []) as unknown as { kind: string; spec: { replicas?: number } }[],
        )
        .find(({ kind }) => kind === "Deployment")?.spec.replicas,
    ).toBe(6);
  });

  test("reports obstacles to a resource's propagation", async () => {
    const { problems } = await plan([
      makePolicy("shop/all").selects("apps/v1", "Deployment").duplicates("atlantis").build(),
    ]);

    expect(problems).toHaveLength(1);
    expect(problems[0]).toMatchObject({
      resource: "Deployment shop/web",
      message: expect.stringContaining("0/3 clusters are available") as string,
    });
  });

  test("omits existing problems and pending changes, and reports their number", async () => {
    const lost = [
      makePolicy("shop/lost").selects("apps/v1", "Deployment", "db").duplicates("atlantis").build(),
      makeDeployment("shop/db").build(),
    ];
    await apply(...lost);
    // Its change stays pending.
    const held = holdCommits(engine, (key) => key.endsWith("/late-deployment"));
    await fleet.client.create(Deployment, "hub", makeDeployment("shop/late").build());

    const planned = await plan([makeDeployment("shop/web").replicas(9).build()]);
    const own = await plan([lost[0] as KubernetesObject]);
    held.release();

    expect(shortly(planned).map((change) => (change as string[]).slice(0, 3))).toEqual([
      ["member1", "update", "web"],
      ["member2", "update", "web"],
    ]);
    expect(planned.problems).toEqual([]);
    expect(planned.notes).toEqual([
      expect.stringMatching(/^1 change and 1 problem that this plan does not cause are not shown; 'flotilla status'/),
    ]);
    expect(own.problems).toEqual([
      {
        resource: "Deployment shop/db",
        message: expect.stringMatching(/constraint$/) as string,
      },
    ]);
  });

  test("shows the end of a rollout when a cluster is removed, as its removal then confirms", async () => {
    await fleet.stop();
    fleet = await startTestFleet({ members: ["member1", "member2", "member3"], nodes: 3 });
    await fleet.client.create(Namespace, "hub", { apiVersion: "v1", kind: "Namespace", metadata: { name: "shop" } });
    const cloneSet = (image: string, partition: number): KubernetesObject =>
      makeCloneSet("shop/api")
        .replicas(10)
        .image(image)
        .with(({ spec }) => (spec.updateStrategy = { rollingUpdate: { partition, maxUnavailable: "50%" } }))
        .build();
    await apply(
      makePolicy("shop/sets")
        .selects("apps.kruise.io/v1beta1", "CloneSet", "api")
        .weights({ member1: 4, member2: 3, member3: 3 })
        .build(),
      cloneSet("api:1", 0),
    );
    await apply(cloneSet("api:2", 5));

    const planned = await plan([], ["member3"]);
    await fleet.client.delete(Cluster, { cluster: "hub", name: "member3" });
    await fleet.run(2 * SETTLED_MS);

    const partitions = planned.changes.map(({ cluster, action, fields }) => [
      cluster,
      action,
      fields.find(({ path }) => path.endsWith("partition"))?.after,
    ]);
    const { items } = await fleet.client.list(Work, { cluster: "hub" }); // Sorted by namespace, which is by cluster.
    const ended = items.flatMap(({ metadata, spec }) =>
      (
        (spec.workload?.manifests ?? []) as unknown as {
          kind: string;
          spec: { updateStrategy?: { rollingUpdate?: { partition?: number } } };
        }[]
      )
        .filter(({ kind }) => kind === "CloneSet")
        .map((copied) => [
          metadata.namespace?.slice("karmada-es-".length),
          copied.spec.updateStrategy?.rollingUpdate?.partition,
        ]),
    );
    expect(partitions.at(-1)).toEqual(["member3", "delete", undefined]);
    expect(partitions.slice(0, -1).map(([cluster, , partition]) => [cluster, partition])).toEqual(ended);
    expect(planned.notes).toEqual([]);
  });

  test("reports a rejection once", async () => {
    const broken = makePolicy("shop/none")
      .with(({ spec }) => (spec.resourceSelectors = []))
      .build();

    const error: unknown = await plan([broken]).catch((reason: unknown) => reason);

    expect(messageOf(error).split("at least 1 items")).toHaveLength(2);
  });

  test("fails like applying", async () => {
    const broken = makeDeployment("shop/web")
      .with(({ spec }) => (spec.replicas = -1))
      .build();

    expect(messageOf(await plan([broken]).catch((reason: unknown) => reason))).toMatch(
      /^trying Deployment shop\/web on the hub: .*replicas/,
    );
    await expect(plan([makeDeployment("nowhere/web").build()])).rejects.toThrow("namespace nowhere not found");
    await expect(plan([], ["atlantis"])).rejects.toThrow("member 'atlantis' not found");
  });
});

test("dependencies leave with their workload, as planned", async () => {
  const policy = (cluster: string): KubernetesObject =>
    makePolicy("shop/jobs")
      .selects("apps.kruise.io/v1beta1", "CloneSet", "api")
      .duplicates(cluster)
      .with(({ spec }) => (spec.propagateDeps = true))
      .build();
  await apply(
    {
      apiVersion: "v1",
      kind: "ConfigMap",
      metadata: { namespace: "shop", name: "settings" },
      data: { colour: "blue" },
    } as KubernetesObject,
    policy("member3"),
    makeCloneSet("shop/api")
      .with(({ spec }) =>
        Object.assign(spec.template.spec ?? {}, { volumes: [{ name: "settings", configMap: { name: "settings" } }] }),
      )
      .build(),
  );

  const planned = await plan([policy("member1")]);
  await apply(policy("member1"));

  expect(shortly(planned)).toEqual([
    ["member1", "create", "api"],
    ["member1", "create", "settings"],
    ["member3", "delete", "api"],
    ["member3", "delete", "settings"],
  ]);
  const { items } = await fleet.client.list(Work, { cluster: "hub" });
  const settings = items.filter(({ spec }) =>
    spec.workload?.manifests?.some((manifest) => (manifest as unknown as KubernetesObject).kind === "ConfigMap"),
  );
  expect(settings.map(({ metadata }) => metadata.namespace)).toEqual(["karmada-es-member1"]);
});

test("a Lazy policy moves nothing, and the plan reports when it will", async () => {
  const lazy = (cluster: string): KubernetesObject =>
    makePolicy("shop/all")
      .selects("apps/v1", "Deployment")
      .duplicates(cluster)
      .with(({ spec }) => (spec.activationPreference = "Lazy"))
      .build();

  const first = await plan([lazy("member3")]);
  await apply(lazy("member3"));
  const scaled = await plan([makeDeployment("shop/web").replicas(7).build()]);

  expect(shortly(first)).toEqual([]);
  expect(first.problems[0]?.message).toContain("policy all activates lazily");
  expect(shortly(scaled).map((change) => (change as string[]).slice(0, 3))).toEqual([
    ["member1", "delete", "web"],
    ["member2", "delete", "web"],
    ["member3", "create", "web"],
  ]);
});
