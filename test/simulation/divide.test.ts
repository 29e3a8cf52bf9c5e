/**
 * Rollouts, budgets and ordinals apply to the whole fleet: what actually runs on simulated members while a workload is
 * divided.
 */
import { afterEach, describe, expect, test } from "vitest";
import { AdvancedDaemonSet, AdvancedStatefulSet, CloneSet, UnitedDeployment } from "@flotilla/openkruise";
import { inVersion } from "@flotilla/apimachinery";
import { Namespace, Node, Pod } from "@flotilla/kubernetes";
import { Cluster, PropagationPolicy, ResourceBinding, Work } from "@flotilla/karmada";
import { copy } from "@flotilla/base";
import type { DeepReadonly, Json } from "@flotilla/base";
import { startTestFleet } from "@flotilla/testing/fleet/fleet.ts";
import type { TestFleet } from "@flotilla/testing/fleet/fleet.ts";
import { makeCloneSet, makePolicy } from "@flotilla/testing/builders.ts";

const SETTLED_MS = 60_000;
const web = { cluster: "hub", namespace: "shop", name: "web" };

let fleet: TestFleet;
afterEach(() => fleet.stop());

async function start(members: readonly string[], policy: PropagationPolicy): Promise<void> {
  fleet = await startTestFleet({ members, nodes: 3 });
  await fleet.client.create(Namespace, "hub", { apiVersion: "v1", kind: "Namespace", metadata: { name: "shop" } });
  await fleet.client.create(PropagationPolicy, "hub", policy);
  await fleet.run(1_000);
}
const podsOn = async (cluster: string): Promise<readonly DeepReadonly<Pod>[]> =>
  (await fleet.client.list(Pod, { cluster, namespace: "shop" })).items;
const imagesOn = async (cluster: string, image: string): Promise<number> =>
  (await podsOn(cluster)).filter(({ spec }) => spec?.containers[0]?.image === image).length;
const workWrites = (): number =>
  fleet
    .writes()
    .filter(
      ({ part, resource, subresource }) => part === "dispatch" && resource === "works.work.karmada.io" && !subresource,
    )
    .reduce((sum, { count }) => sum + count, 0);

describe("a rollout of a CloneSet over three members", () => {
  const members = ["member1", "member2", "member3"];
  const updated = (): Promise<number[]> => Promise.all(members.map((cluster) => imagesOn(cluster, "web:2")));
  const patch = (partition: number | string, image = "web:2"): Promise<unknown> =>
    fleet.client.patch(
      CloneSet,
      web,
      {
        spec: {
          template: { spec: { containers: [{ name: "web", image }] } },
          updateStrategy: { rollingUpdate: { partition } },
        },
      },
      { type: "merge" },
    );
  async function release(annotations: Record<string, string> = {}): Promise<void> {
    await start(
      members,
      makePolicy("shop/all")
        .selects("apps.kruise.io/v1beta1", "CloneSet")
        .weights({ member1: 3, member2: 3, member3: 4 })
        .build(),
    );
    const cloneSet = makeCloneSet("shop/web")
      .replicas(10)
      .with(({ metadata }) => (metadata.annotations = annotations))
      .build();
    await fleet.client.create(CloneSet, "hub", cloneSet);
    await fleet.run(SETTLED_MS);
  }

  test("updates exactly as many pods as the fleet's partition allows", async () => {
    await release();

    await patch("90%");
    await fleet.run(SETTLED_MS);
    expect(await updated()).toEqual([0, 0, 1]);
    expect((await fleet.client.get(CloneSet, web)).status).toMatchObject({
      replicas: 10,
      updatedReplicas: 1,
      readyReplicas: 10,
    });

    await patch(5);
    await fleet.run(SETTLED_MS);
    expect(await updated()).toEqual([2, 1, 2]);

    await patch(0);
    await fleet.run(SETTLED_MS);
    expect(await updated()).toEqual([3, 3, 4]);
  });

  test("updates the canary cluster first", async () => {
    await release({ "flotilla.dev/rollout-order": "canary", "flotilla.dev/canary-clusters": "member2" });

    await patch(8);
    await fleet.run(SETTLED_MS);
    expect(await updated()).toEqual([0, 2, 0]);

    await patch(6);
    await fleet.run(SETTLED_MS);
    expect(await updated()).toEqual([0, 3, 1]);
  });

  test("keeps its ratio when replicas move during the rollout", async () => {
    await release();
    await patch(5);
    await fleet.run(SETTLED_MS);
    expect(await updated()).toEqual([2, 1, 2]);

    const moved = makePolicy("shop/all")
      .selects("apps.kruise.io/v1beta1", "CloneSet")
      .weights({ member1: 6, member2: 2, member3: 2 })
      .build();
    await fleet.client.patch(PropagationPolicy, { ...web, name: "all" }, { spec: moved.spec } as unknown as Json, {
      type: "merge",
    });
    await fleet.run(SETTLED_MS);

    expect((await Promise.all(members.map(podsOn))).map((pods) => pods.length)).toEqual([6, 2, 2]);
    expect(await updated()).toEqual([2, 1, 2]);
  });

  test("causes one write per Work and stage, whatever the members report meanwhile", async () => {
    await release();
    fleet.resetWrites();

    await patch(5);
    await fleet.run(SETTLED_MS);

    expect(workWrites()).toBe(members.length);
  });

  test(
    "a rollout of a CloneSet over three members with an unknown order is rejected on the binding, changes " +
      "nothing, and is not retried constantly",
    async () => {
      await release();
      fleet.resetWrites();

      await fleet.client.patch(
        CloneSet,
        web,
        { metadata: { annotations: { "flotilla.dev/rollout-order": "backwards" } }, spec: { replicas: 20 } },
        { type: "merge" },
      );
      await fleet.run(SETTLED_MS);

      const binding = await fleet.client.get(ResourceBinding, { ...web, name: "web-cloneset" });
      expect(binding.status?.conditions).toContainEqual(
        expect.objectContaining({
          type: "Dispatched",
          status: "False",
          reason: "DivideFailed",
          message: expect.stringContaining(
            'annotation flotilla.dev/rollout-order is "backwards"; it must be spread, ordered or canary',
          ),
        }),
      );
      expect(workWrites()).toBe(0);
      expect(dispatchFailures()).toBeLessThanOrEqual(4);

      await fleet.client.patch(
        CloneSet,
        web,
        { metadata: { annotations: { "flotilla.dev/rollout-order": "ordered" } } },
        { type: "merge" },
      );
      await fleet.run(SETTLED_MS);
      expect((await fleet.client.get(CloneSet, web)).status).toMatchObject({ replicas: 20 });
      expect(
        (await fleet.client.get(ResourceBinding, { ...web, name: "web-cloneset" })).status?.conditions,
      ).toContainEqual(expect.objectContaining({ type: "Dispatched", status: "True" }));
    },
  );
});

/** The number of failed dispatches since the start. */
function dispatchFailures(): number {
  return fleet.hub.managers.reduce((sum, manager) => sum + (manager.metrics().get("dispatch")?.failures ?? 0), 0);
}

describe("an Advanced StatefulSet over two members", () => {
  const members = ["member1", "member2"];
  const weights = (member1: number, member2: number): PropagationPolicy =>
    makePolicy("shop/all").selects("apps.kruise.io/v1beta1", "StatefulSet").weights({ member1, member2 }).build();
  const ordinalsOn = async (cluster: string): Promise<number[]> =>
    (await podsOn(cluster)).map(({ metadata }) => Number(metadata.name.slice("web-".length))).sort((a, b) => a - b);
  const ordinals = (): Promise<number[][]> => Promise.all(members.map(ordinalsOn));

  async function create(replicas: number): Promise<void> {
    await start(members, weights(1, 1));
    await fleet.client.create(AdvancedStatefulSet, "hub", makeStatefulSet(replicas));
    await fleet.run(SETTLED_MS);
  }
  function makeStatefulSet(replicas: number): AdvancedStatefulSet {
    return {
      apiVersion: "apps.kruise.io/v1beta1",
      kind: "StatefulSet",
      metadata: { namespace: "shop", name: "web" },
      spec: {
        replicas,
        podManagementPolicy: "Parallel",
        selector: { matchLabels: { app: "web" } },
        template: { metadata: { labels: { app: "web" } }, spec: { containers: [{ name: "web", image: "web:1" }] } },
      },
    };
  }
  /** Advances the fleet in small steps and checks the running pods in each, including terminating ones. */
  async function expectNoOverlap(steps: number, stepMs: number): Promise<void> {
    for (let step = 0; step < steps; step++) {
      await fleet.run(stepMs);
      const running = (await ordinals()).flat();
      expect(new Set(running).size, `ordinals ${running.join(", ")}`).toBe(running.length);
    }
  }

  test("has every ordinal once", async () => {
    await create(6);

    expect(await ordinals()).toEqual([
      [0, 1, 2],
      [3, 4, 5],
    ]);
  });

  test("never runs an ordinal twice while replicas move, and has no gaps afterwards", async () => {
    await create(6);

    await fleet.client.patch(
      PropagationPolicy,
      { ...web, name: "all" },
      { spec: weights(2, 1).spec } as unknown as Json,
      { type: "merge" },
    );
    await expectNoOverlap(120, 500);
    expect(await ordinals()).toEqual([
      [0, 1, 2, 5],
      [3, 4],
    ]);

    await fleet.client.patch(
      PropagationPolicy,
      { ...web, name: "all" },
      { spec: weights(1, 2).spec } as unknown as Json,
      { type: "merge" },
    );
    await expectNoOverlap(120, 500);
    expect(await ordinals()).toEqual([
      [0, 1],
      [2, 3, 4, 5],
    ]);
  });

  test("never runs an ordinal twice while it is scaled to each member's share", async () => {
    await create(6);

    await fleet.client.patch(AdvancedStatefulSet, web, { spec: { replicas: 3 } }, { type: "merge" });
    await expectNoOverlap(120, 100);
    expect((await ordinals()).flat()).toHaveLength(3);

    await fleet.client.patch(AdvancedStatefulSet, web, { spec: { replicas: 8 } }, { type: "merge" });
    await expectNoOverlap(120, 500);
    expect((await ordinals()).flat().sort((a, b) => a - b)).toEqual([0, 1, 2, 3, 4, 5, 6, 7]);
  });

  test("starts the ordinals of a removed member elsewhere, only after they are deleted there", async () => {
    await create(6);

    await fleet.client.patch(
      PropagationPolicy,
      { ...web, name: "all" },
      {
        spec: makePolicy("shop/all").selects("apps.kruise.io/v1beta1", "StatefulSet").weights({ member2: 1 }).build()
          .spec,
      } as unknown as Json,
      { type: "merge" },
    );
    await expectNoOverlap(120, 500);

    expect(await ordinals()).toEqual([[], [0, 1, 2, 3, 4, 5]]);
  });

  test("an Advanced StatefulSet over two members that moves before its first delivery starts elsewhere once the member is back", async () => {
    const setFault = (fault: string | null): Promise<unknown> =>
      fleet.client.patch(
        Cluster,
        { cluster: "hub", name: "member2" },
        { metadata: { annotations: { "simulation.flotilla.dev/fault": fault } } },
        { type: "merge" },
      );
    const only = (member: string): PropagationPolicy =>
      makePolicy("shop/all")
        .selects("apps.kruise.io/v1beta1", "StatefulSet")
        .weights({ [member]: 1 })
        .build();
    await start(members, only("member2"));
    await setFault("unreachable");
    await fleet.client.create(AdvancedStatefulSet, "hub", makeStatefulSet(2));
    await fleet.run(SETTLED_MS);

    await fleet.client.patch(
      PropagationPolicy,
      { ...web, name: "all" },
      { spec: only("member1").spec } as unknown as Json,
      { type: "merge" },
    );
    await fleet.run(SETTLED_MS);
    await setFault(null);
    await expectNoOverlap(80, 500);

    expect(await ordinals()).toEqual([[0, 1], []]);
  });

  test("keeps the lowest ordinals of the fleet at the old revision", async () => {
    await create(6);

    await fleet.client.patch(
      AdvancedStatefulSet,
      web,
      {
        spec: {
          template: { spec: { containers: [{ name: "web", image: "web:2" }] } },
          updateStrategy: { rollingUpdate: { partition: 4 } },
        },
      },
      { type: "merge" },
    );
    await fleet.run(SETTLED_MS);

    const images = (await Promise.all(members.map(podsOn)))
      .flat()
      .map(({ metadata, spec }) => [metadata.name, spec?.containers[0]?.image]);
    expect(Object.fromEntries(images)).toEqual({
      "web-0": "web:1",
      "web-1": "web:1",
      "web-2": "web:1",
      "web-3": "web:1",
      "web-4": "web:2",
      "web-5": "web:2",
    });
  });

  test("reports nothing more once it has moved", async () => {
    await create(6);
    await fleet.client.patch(
      PropagationPolicy,
      { ...web, name: "all" },
      { spec: weights(2, 1).spec } as unknown as Json,
      { type: "merge" },
    );
    await fleet.run(SETTLED_MS);

    fleet.resetWrites();
    await fleet.run(SETTLED_MS);

    expect(fleet.writes()).toEqual([]);
    const works = (await fleet.client.list(Work, { cluster: "hub" })).items.filter(({ metadata }) =>
      metadata.name.startsWith("web-"),
    );
    for (const { spec } of works) expect(JSON.stringify(spec)).not.toContain("leaving-ordinals");
  });
});

describe("an Advanced DaemonSet over two members", () => {
  const members = ["member1", "member2"];
  const partitions = (): Promise<unknown[]> =>
    Promise.all(
      members.map(
        async (cluster) =>
          (await fleet.client.get(AdvancedDaemonSet, { cluster, namespace: "shop", name: "web" })).spec.updateStrategy
            ?.rollingUpdate?.partition,
      ),
    );

  async function create(rollingUpdate?: { partition: number | string }): Promise<void> {
    await start(
      members,
      makePolicy("shop/all")
        .selects("apps.kruise.io/v1beta1", "DaemonSet")
        .duplicates(...members)
        .build(),
    );
    fleet.resetWrites();
    await fleet.client.create(AdvancedDaemonSet, "hub", {
      apiVersion: "apps.kruise.io/v1beta1",
      kind: "DaemonSet",
      metadata: { namespace: "shop", name: "web" },
      spec: {
        selector: { matchLabels: { app: "web" } },
        template: { metadata: { labels: { app: "web" } }, spec: { containers: [{ name: "web", image: "web:1" }] } },
        updateStrategy: rollingUpdate ? { type: "RollingUpdate", rollingUpdate } : undefined,
      },
    });
    await fleet.run(SETTLED_MS);
  }

  test("updates as many nodes as its partition allows, with one write per Work", async () => {
    await create();
    fleet.resetWrites();

    await fleet.client.patch(
      AdvancedDaemonSet,
      web,
      {
        spec: {
          template: { spec: { containers: [{ name: "web", image: "web:2" }] } },
          updateStrategy: { rollingUpdate: { partition: 4 } },
        },
      },
      { type: "merge" },
    );
    await fleet.run(SETTLED_MS);

    expect(await Promise.all(members.map((cluster) => imagesOn(cluster, "web:2")))).toEqual([1, 1]);
    expect(workWrites()).toBe(members.length);
  });

  test("is held until its members have reported their nodes, and then gets its numbers in one more write each", async () => {
    await create({ partition: "50%" });

    expect(await partitions()).toEqual([1, 2]);
    expect(workWrites()).toBe(2 * members.length);
    fleet.resetWrites();
    await fleet.run(SETTLED_MS);
    expect(fleet.writes()).toEqual([]);
  });

  test("follows the nodes of its members", async () => {
    await create({ partition: "50%" });
    const [node] = (await fleet.client.list(Node, { cluster: "member2" })).items;
    const { name: _name, uid: _uid, resourceVersion: _version, ...metadata } = copy(node?.metadata ?? { name: "" });
    fleet.resetWrites();

    for (const name of ["extra-1", "extra-2", "extra-3"])
      await fleet.client.create(Node, "member2", {
        apiVersion: "v1",
        kind: "Node",
        metadata: { ...metadata, name, labels: { ...metadata.labels, "kubernetes.io/hostname": name } },
        spec: {},
      });
    await fleet.run(SETTLED_MS);

    const daemonSet = await fleet.client.get(AdvancedDaemonSet, web);
    expect(daemonSet.status).toMatchObject({ desiredNumberScheduled: 9 });
    expect(await partitions()).toEqual([1, 3]);
    expect(workWrites()).toBeLessThanOrEqual(3);
  });
});

describe("a UnitedDeployment over two members", () => {
  const members = ["member1", "member2"];

  test.each(["v1alpha1", "v1beta1"])(
    "a UnitedDeployment over two members in %s has subsets that add up, aggregates their status, and then writes nothing",
    async (version) => {
      await start(
        members,
        makePolicy("shop/all")
          .selects(`apps.kruise.io/${version}`, "UnitedDeployment")
          .weights({ member1: 3, member2: 2 })
          .build(),
      );
      const podTemplate = {
        metadata: { labels: { app: "web" } },
        spec: { containers: [{ name: "web", image: "web:1" }] },
      };
      await fleet.client.create(inVersion(UnitedDeployment, version), "hub", {
        apiVersion: `apps.kruise.io/${version}`,
        kind: "UnitedDeployment",
        metadata: { namespace: "shop", name: "web" },
        spec: {
          replicas: 10,
          selector: { matchLabels: { app: "web" } },
          template: {
            cloneSetTemplate: {
              metadata: { labels: { app: "web" } },
              spec: { selector: { matchLabels: { app: "web" } }, template: podTemplate },
            },
          },
          topology: { subsets: [{ name: "a", replicas: "50%" }, { name: "b", replicas: 2 }, { name: "c" }] },
        },
      } as unknown as UnitedDeployment);
      await fleet.run(SETTLED_MS);

      const perSubset = await Promise.all(
        members.map(async (cluster) => {
          const counts = Map.groupBy(
            await podsOn(cluster),
            ({ metadata }) => metadata.labels?.["apps.kruise.io/subset-name"] ?? "",
          );
          return ["a", "b", "c"].map((subset) => counts.get(subset)?.length ?? 0);
        }),
      );
      expect(perSubset).toEqual([
        [3, 1, 2],
        [2, 1, 1],
      ]);
      const binding = await fleet.client.get(ResourceBinding, { ...web, name: "web-uniteddeployment" });
      expect(binding.status?.aggregatedStatus).toMatchObject([{ health: "Healthy" }, { health: "Healthy" }]);
      expect((await fleet.client.get(UnitedDeployment, web)).status).toMatchObject({
        replicas: 10,
        readyReplicas: 10,
        updatedReplicas: 10,
        updatedReadyReplicas: 10,
      });
      fleet.resetWrites();
      await fleet.run(SETTLED_MS);
      expect(fleet.writes()).toEqual([]);
    },
  );
});
