/**
 * The lifecycle of policies: which policy claims a template, when that changes, what a policy waits for, and what
 * remains after its deletion.
 */
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { Deployment, Event, Namespace, PriorityClass } from "@flotilla/kubernetes";
import { OverridePolicy, ClusterPropagationPolicy, PropagationPolicy, ResourceBinding, Work } from "@flotilla/karmada";
import { createLastingEngine, startTestFleet } from "@flotilla/testing/fleet/fleet.ts";
import type { TestFleet } from "@flotilla/testing/fleet/fleet.ts";
import { makeDeployment, makePolicy } from "@flotilla/testing/builders.ts";

const SETTLED_MS = 20_000;
const MEMBERS = ["member1", "member2"];
const web = { cluster: "hub", namespace: "shop", name: "web" };
const binding = { cluster: "hub", namespace: "shop", name: "web-deployment" };

// Some tests restart the process; the store stays.
let engine: ReturnType<typeof createLastingEngine>;
let fleet: TestFleet;
beforeEach(async () => {
  engine = createLastingEngine();
  fleet = await startTestFleet({ members: MEMBERS, engine });
  await fleet.client.create(Namespace, "hub", { apiVersion: "v1", kind: "Namespace", metadata: { name: "shop" } });
});
afterEach(() => fleet.stop());

async function restart(): Promise<void> {
  await fleet.stop();
  fleet = await startTestFleet({ members: MEMBERS, engine });
}

const policy = (
  name: string,
  cluster: string,
  change: (object: PropagationPolicy) => void = () => {},
): PropagationPolicy =>
  makePolicy(`shop/${name}`).selects("apps/v1", "Deployment", "web").duplicates(cluster).with(change).build();
const apply = (...objects: PropagationPolicy[]) =>
  Promise.all(objects.map((object) => fleet.client.create(PropagationPolicy, "hub", object)));
const edit = (name: string, spec: Partial<PropagationPolicy["spec"]>) =>
  fleet.client.patch(PropagationPolicy, { cluster: "hub", namespace: "shop", name }, { spec } as never, {
    type: "merge",
  });
const createWeb = () => fleet.client.create(Deployment, "hub", makeDeployment("shop/web").replicas(2).build());
const owner = async () =>
  (await fleet.client.get(Deployment, web)).metadata.annotations?.["propagationpolicy.karmada.io/name"];
const targets = async () => (await fleet.client.get(ResourceBinding, binding)).spec.clusters?.map(({ name }) => name);
const bindings = async () =>
  (await fleet.client.list(ResourceBinding, { cluster: "hub" })).items.map(({ metadata }) => metadata.name);
const reasons = async () =>
  (await fleet.client.list(Event, { cluster: "hub", namespace: "shop" })).items
    .filter(({ involvedObject }) => involvedObject.name === "web")
    .map(({ reason }) => reason);

describe("preemption", () => {
  const cases: Record<string, { before: PropagationPolicy; competitor: PropagationPolicy; want: string }> = {
    "a higher priority alone takes over nothing": {
      before: policy("a", "member1"),
      competitor: policy("b", "member2", ({ spec }) => (spec.priority = 5)),
      want: "a",
    },
    "a higher priority with preemption takes over": {
      before: policy("a", "member1"),
      competitor: policy("b", "member2", ({ spec }) => Object.assign(spec, { priority: 5, preemption: "Always" })),
      want: "b",
    },
    "the same priority takes over nothing, even with preemption": {
      before: policy("b", "member1"),
      competitor: policy("a", "member2", ({ spec }) => (spec.preemption = "Always")),
      want: "b",
    },
  };
  for (const [behaviour, { before, competitor, want }] of Object.entries(cases)) {
    test(behaviour, async () => {
      await apply(before);
      await createWeb();
      await fleet.run(SETTLED_MS);
      await apply(competitor);
      await fleet.run(SETTLED_MS);

      expect(await owner()).toBe(want);
      expect(await targets()).toEqual([want === before.metadata.name ? "member1" : "member2"]);
      expect(await reasons()).toEqual(want === before.metadata.name ? [] : ["PreemptPolicySucceed"]);
    });
  }

  test("a policy whose priority is lowered loses to one in between", async () => {
    await apply(policy("high", "member1", ({ spec }) => (spec.priority = 5)));
    await createWeb();
    await fleet.run(SETTLED_MS);
    await apply(policy("middle", "member2", ({ spec }) => Object.assign(spec, { priority: 4, preemption: "Always" })));
    await fleet.run(SETTLED_MS);
    expect(await owner()).toBe("high");

    await edit("high", { priority: 3 });
    await fleet.run(SETTLED_MS);

    expect(await owner()).toBe("middle");
  });

  test("a namespaced policy takes over from a cluster policy of any priority, whose claim is removed", async () => {
    const everywhere = {
      ...policy("everywhere", "member1", ({ spec }) => (spec.priority = 100)),
      kind: "ClusterPropagationPolicy",
      metadata: { name: "everywhere" },
    };
    await fleet.client.create(ClusterPropagationPolicy, "hub", everywhere);
    await createWeb();
    await fleet.run(SETTLED_MS);
    expect(await targets()).toEqual(["member1"]);

    await apply(policy("own", "member2", ({ spec }) => (spec.preemption = "Always")));
    await fleet.run(SETTLED_MS);

    const { metadata } = await fleet.client.get(ResourceBinding, binding);
    expect(await targets()).toEqual(["member2"]);
    expect(
      Object.keys({ ...metadata.labels, ...metadata.annotations }).filter((key) =>
        key.startsWith("clusterpropagationpolicy"),
      ),
    ).toEqual([]);
  });
});

describe("a deleted policy", () => {
  test("leaves the binding and workloads, and its claims are removed", async () => {
    await apply(policy("a", "member1"));
    await createWeb();
    await fleet.run(SETTLED_MS);
    await fleet.client.delete(PropagationPolicy, { cluster: "hub", namespace: "shop", name: "a" });
    await fleet.run(SETTLED_MS);

    expect(await owner()).toBeUndefined();
    expect((await fleet.client.get(ResourceBinding, binding)).metadata.labels).not.toHaveProperty([
      "propagationpolicy.karmada.io/permanent-id",
    ]);
    expect((await fleet.client.list(Deployment, { cluster: "member1" })).items).toHaveLength(1);
  });

  test("is replaced by the next best one, also if it is deleted while the hub is down", async () => {
    await apply(policy("a", "member1"), policy("b", "member2"));
    await createWeb();
    await fleet.run(SETTLED_MS);
    expect(await owner()).toBe("a");

    await edit("a", {
      resourceSelectors: [{ apiVersion: "apps/v1", kind: "Deployment", namespace: "shop", name: "other" }],
    });
    await restart();
    await fleet.run(SETTLED_MS);

    expect(await owner()).toBe("b");
    expect(await targets()).toEqual(["member2"]);
  });
});

describe("lazy activation", () => {
  const lazy = (name: string, cluster: string) =>
    policy(name, cluster, ({ spec }) => (spec.activationPreference = "Lazy"));
  const touch = (text: string) =>
    fleet.client.patch(Deployment, web, { metadata: { labels: { touched: text } } }, { type: "merge" });

  test("a template created before the policy waits until it changes, also across a restart", async () => {
    await createWeb();
    await fleet.run(SETTLED_MS);
    await apply(lazy("a", "member1"));
    await fleet.run(SETTLED_MS);
    await restart();
    await fleet.run(SETTLED_MS);
    expect(await owner()).toBe("a");
    expect(await bindings()).toEqual([]);

    await touch("once");
    await fleet.run(SETTLED_MS);

    expect(await targets()).toEqual(["member1"]);
  });

  test("a template applied after the policy is propagated at once; an edit of the policy waits for the next change", async () => {
    await apply(lazy("a", "member1"));
    await createWeb();
    await fleet.run(SETTLED_MS);
    expect(await targets()).toEqual(["member1"]);

    await edit("a", { placement: { clusterAffinity: { clusterNames: ["member2"] } } });
    await fleet.run(SETTLED_MS);
    await restart();
    await fleet.run(SETTLED_MS);
    expect(await targets()).toEqual(["member1"]);

    await touch("once");
    await fleet.run(SETTLED_MS);
    expect(await targets()).toEqual(["member2"]);
  });

  test("a policy that becomes lazy starts with the current state", async () => {
    await apply(policy("a", "member1"));
    await createWeb();
    await fleet.run(SETTLED_MS);
    await edit("a", { activationPreference: "Lazy" });
    await fleet.run(SETTLED_MS);
    await edit("a", { placement: { clusterAffinity: { clusterNames: ["member2"] } } });
    await fleet.run(SETTLED_MS);
    expect(await targets()).toEqual(["member1"]);

    await touch("once");
    await fleet.run(SETTLED_MS);
    expect(await targets()).toEqual(["member2"]);
  });
});

test("a policy waits for the overrides it depends on, reports it once, and continues when they exist", async () => {
  await apply(policy("a", "member1", ({ spec }) => (spec.dependentOverrides = ["images"])));
  await createWeb();
  await fleet.run(SETTLED_MS);
  expect(await bindings()).toEqual([]);
  expect(await reasons()).toEqual(["ApplyPolicyFailed"]);

  await fleet.client.create(OverridePolicy, "hub", {
    apiVersion: "policy.karmada.io/v1alpha1",
    kind: "OverridePolicy",
    metadata: { namespace: "shop", name: "images" },
    spec: { overrideRules: [] },
  });
  await fleet.run(SETTLED_MS);

  expect(await targets()).toEqual(["member1"]);
  expect(await reasons()).toEqual(["ApplyPolicyFailed", "ApplyPolicySucceed"]);
});

test("the priority of the policy's class is on the binding, once the class exists", async () => {
  await apply(
    policy(
      "a",
      "member1",
      ({ spec }) => (spec.schedulePriority = { priorityClassSource: "KubePriorityClass", priorityClassName: "gold" }),
    ),
  );
  await createWeb();
  await fleet.run(SETTLED_MS);
  expect(await bindings()).toEqual([]);

  await fleet.client.create(PriorityClass, "hub", {
    apiVersion: "scheduling.k8s.io/v1",
    kind: "PriorityClass",
    metadata: { name: "gold" },
    value: 1000,
  });
  await fleet.run(SETTLED_MS);

  expect((await fleet.client.get(ResourceBinding, binding)).spec.schedulePriority).toEqual({ priority: 1000 });
});

test("a suspended policy creates suspended Works, and resuming dispatches them", async () => {
  await apply(policy("a", "member1", ({ spec }) => (spec.suspension = { dispatching: true })));
  await createWeb();
  await fleet.run(SETTLED_MS);
  expect((await fleet.client.list(Deployment, { cluster: "member1" })).items).toEqual([]);

  await fleet.client.patch(
    PropagationPolicy,
    { cluster: "hub", namespace: "shop", name: "a" },
    { spec: { suspension: null } },
    { type: "merge" },
  );
  await fleet.run(SETTLED_MS);

  expect((await fleet.client.list(Deployment, { cluster: "member1" })).items).toHaveLength(1);
});

test("a template deleted while its policy preserves resources leaves them on the member, and no Work", async () => {
  await apply(policy("a", "member1", ({ spec }) => (spec.preserveResourcesOnDeletion = true)));
  await createWeb();
  await fleet.run(SETTLED_MS);
  await fleet.client.delete(Deployment, web);
  await fleet.run(SETTLED_MS);

  expect((await fleet.client.list(Deployment, { cluster: "member1" })).items).toHaveLength(1);
  expect(
    (await fleet.client.list(Work, { cluster: "hub" })).items.filter(({ metadata }) =>
      metadata.name.startsWith("web-"),
    ),
  ).toEqual([]);
});
