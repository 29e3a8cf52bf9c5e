/** Namespaces and CRDs deleted from the hub: contents on a member that are not ours to delete keep them there. */
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { ClusterPropagationPolicy, PropagationPolicy, Work } from "@flotilla/karmada";
import { ConfigMap, CustomResourceDefinition, Deployment, Event, Namespace } from "@flotilla/kubernetes";
import { dynamicKind } from "@flotilla/apimachinery";
import { find } from "@flotilla/client";
import { createLastingEngine, startTestFleet } from "@flotilla/testing/fleet/fleet.ts";
import type { TestFleet } from "@flotilla/testing/fleet/fleet.ts";
import { makeDeployment, makePolicy } from "@flotilla/testing/builders.ts";

const SETTLED_MS = 20_000;
/** Longer than the grace period for dependents to be deleted. */
const DECIDED_MS = 60_000;
const WEB = { namespace: "shop", name: "web" };

let fleet: TestFleet;
afterEach(() => fleet.stop());

const namespace = (name: string): Namespace => ({ apiVersion: "v1", kind: "Namespace", metadata: { name } });
const reported = async (): Promise<string[]> =>
  (await fleet.client.list(Event, { cluster: "hub", namespace: "karmada-es-member1" })).items
    .filter(({ reason }) => reason === "KeptOnMember")
    .map(({ message }) => message ?? "");
const worksOn = async (member: string): Promise<string[]> =>
  (await fleet.client.list(Work, { cluster: "hub", namespace: `karmada-es-${member}` })).items.map(
    ({ metadata }) => metadata.name,
  );

describe("a namespace deleted on the hub", () => {
  let engine: ReturnType<typeof createLastingEngine>;
  beforeEach(() => void (engine = createLastingEngine()));
  async function start(policy: (made: ReturnType<typeof makePolicy>) => void = () => {}): Promise<void> {
    fleet = await startTestFleet({ members: ["member1", "member2"], nodes: 1, engine });
    await fleet.client.create(Namespace, "hub", namespace("shop"));
    const made = makePolicy("shop/all").selects("apps/v1", "Deployment").duplicates("member1", "member2");
    policy(made);
    await fleet.client.create(PropagationPolicy, "hub", made.build());
    await fleet.client.create(Deployment, "hub", makeDeployment("shop/web").replicas(2).build());
    await fleet.run(SETTLED_MS);
  }
  const remove = async (): Promise<void> => {
    await fleet.client.delete(Namespace, { cluster: "hub", name: "shop" });
    await fleet.run(DECIDED_MS);
  };
  const has = async (member: string): Promise<[boolean, number | undefined]> => [
    (await find(fleet.client, Namespace, { cluster: member, name: "shop" })) !== undefined,
    (await find(fleet.client, Deployment, { cluster: member, ...WEB }))?.spec.replicas,
  ];
  const marksOf = async (member: string): Promise<string[]> => {
    const { metadata } = await fleet.client.get(Namespace, { cluster: member, name: "shop" });
    return Object.keys({ ...metadata.labels, ...metadata.annotations }).filter((name) => /karmada|flotilla/.test(name));
  };

  test("is deleted from the members with its delivered objects and their dependents", async () => {
    await start();

    await fleet.client.delete(Namespace, { cluster: "hub", name: "shop" });
    await fleet.run(SETTLED_MS);

    expect([await has("member1"), await has("member2")]).toEqual([
      [false, undefined],
      [false, undefined],
    ]);
    expect(await worksOn("member1")).toEqual([]);
    expect(await reported()).toEqual([]);
  });

  test("stays on a member with a released object in it, without our labels, and an event reports it", async () => {
    await start();
    await fleet.client.patch(
      Deployment,
      { cluster: "hub", ...WEB },
      { metadata: { annotations: { "flotilla.dev/unmanaged": "member1" } } },
      { type: "merge" },
    );
    await fleet.run(SETTLED_MS);

    await remove();

    expect([await has("member1"), await has("member2")]).toEqual([
      [true, 2],
      [false, undefined],
    ]);
    expect(await marksOf("member1")).toEqual(["flotilla.dev/released-from"]);
    expect(await reported()).toEqual([
      "Namespace shop stays on member1: it contains Deployment web, which Flotilla may not delete",
    ]);
    expect(await worksOn("member1")).toEqual([]);
  });

  test("stays with objects that its policy preserves", async () => {
    await start((policy) => policy.with(({ spec }) => (spec.preserveResourcesOnDeletion = true)));

    await remove();

    expect([await has("member1"), await has("member2")]).toEqual([
      [true, 2],
      [true, 2],
    ]);
  });

  test("stays with objects of the member's own users", async () => {
    await start();
    await fleet.client.create(ConfigMap, "member1", {
      apiVersion: "v1",
      kind: "ConfigMap",
      metadata: { namespace: "shop", name: "theirs" },
    });

    await remove();

    expect([await has("member1"), await has("member2")]).toEqual([
      [true, undefined],
      [false, undefined],
    ]);
    expect(await reported()).toEqual([
      "Namespace shop stays on member1: it contains ConfigMap theirs, which Flotilla may not delete",
    ]);
  });

  test("is adopted again when it is recreated, and deleted with it once nothing keeps it", async () => {
    await start();
    await fleet.client.create(ConfigMap, "member1", {
      apiVersion: "v1",
      kind: "ConfigMap",
      metadata: { namespace: "shop", name: "theirs" },
    });
    await remove();

    await fleet.client.create(Namespace, "hub", namespace("shop"));
    await fleet.run(SETTLED_MS);
    expect(await marksOf("member1")).toContain("karmada.io/managed");
    await fleet.client.delete(ConfigMap, { cluster: "member1", namespace: "shop", name: "theirs" });
    await remove();

    expect([await has("member1"), await has("member2")]).toEqual([
      [false, undefined],
      [false, undefined],
    ]);
  });

  test("stays even if the hub stops before the check, and restarts", async () => {
    await start();
    await fleet.client.patch(
      Deployment,
      { cluster: "hub", ...WEB },
      { metadata: { annotations: { "flotilla.dev/unmanaged": "true" } } },
      { type: "merge" },
    );
    await fleet.run(SETTLED_MS);
    await fleet.client.delete(Namespace, { cluster: "hub", name: "shop" });
    await fleet.settle();

    await fleet.stop();
    fleet = await startTestFleet({ members: ["member1", "member2"], nodes: 1, engine, clock: fleet.clock });
    await fleet.run(DECIDED_MS);

    expect([await has("member1"), await has("member2")]).toEqual([
      [true, 2],
      [true, 2],
    ]);
    expect(await worksOn("member1")).toEqual([]);
    fleet.resetWrites();
    await fleet.run(DECIDED_MS);
    expect(fleet.writes()).toEqual([]);
  });
});

describe("a CRD deleted on the hub", () => {
  const widgets = dynamicKind({
    group: "example.dev",
    version: "v1",
    kind: "Widget",
    plural: "widgets",
    scope: "Namespaced",
  });
  const definition = {
    apiVersion: "apiextensions.k8s.io/v1",
    kind: "CustomResourceDefinition",
    metadata: { name: "widgets.example.dev" },
    spec: {
      group: "example.dev",
      scope: "Namespaced",
      names: { plural: "widgets", kind: "Widget" },
      versions: [
        {
          name: "v1",
          served: true,
          storage: true,
          schema: { openAPIV3Schema: { type: "object", "x-kubernetes-preserve-unknown-fields": true } },
        },
      ],
    },
  } as unknown as CustomResourceDefinition;
  const carrier = {
    apiVersion: "policy.karmada.io/v1alpha1",
    kind: "ClusterPropagationPolicy",
    metadata: { name: "definitions" },
    spec: {
      resourceSelectors: [
        { apiVersion: "apiextensions.k8s.io/v1", kind: "CustomResourceDefinition", name: "widgets.example.dev" },
      ],
      placement: { clusterAffinity: { clusterNames: ["member1", "member2"] } },
    },
  } as unknown as ClusterPropagationPolicy;

  async function start(): Promise<void> {
    fleet = await startTestFleet({ members: ["member1", "member2"] });
    await fleet.client.create(CustomResourceDefinition, "hub", definition);
    await fleet.client.create(ClusterPropagationPolicy, "hub", carrier);
    await fleet.client.create(Namespace, "hub", namespace("shop"));
    await fleet.client.create(
      PropagationPolicy,
      "hub",
      makePolicy("shop/all").selects("example.dev/v1", "Widget").duplicates("member1", "member2").build(),
    );
    await fleet.run(DECIDED_MS);
    await fleet.client.create(widgets, "hub", {
      apiVersion: "example.dev/v1",
      kind: "Widget",
      metadata: WEB,
      spec: { size: 1 },
    });
    await fleet.run(DECIDED_MS);
  }
  const has = async (member: string): Promise<[boolean, number]> => {
    const isThere =
      (await find(fleet.client, CustomResourceDefinition, { cluster: member, name: "widgets.example.dev" })) !==
      undefined;
    return [isThere, isThere ? (await fleet.client.list(widgets, { cluster: member })).items.length : 0];
  };

  test("stays on the member that has a released object of it", async () => {
    await start();
    expect([await has("member1"), await has("member2")]).toEqual([
      [true, 1],
      [true, 1],
    ]);
    await fleet.client.patch(
      widgets,
      { cluster: "hub", ...WEB },
      { metadata: { annotations: { "flotilla.dev/unmanaged": "member1" } } },
      { type: "merge" },
    );
    await fleet.run(SETTLED_MS);

    await fleet.client.delete(CustomResourceDefinition, { cluster: "hub", name: "widgets.example.dev" });
    await fleet.run(DECIDED_MS);

    expect([await has("member1"), await has("member2")]).toEqual([
      [true, 1],
      [false, 0],
    ]);
    expect(await reported()).toEqual([
      "CustomResourceDefinition widgets.example.dev stays on member1: it contains Widget shop/web, which Flotilla may not delete",
    ]);
  });

  test("does not move from a member while objects of it are delivered there", async () => {
    await start();

    await fleet.client.patch(
      ClusterPropagationPolicy,
      { cluster: "hub", name: "definitions" },
      { spec: { placement: { clusterAffinity: { clusterNames: ["member2"] } } } },
      { type: "merge" },
    );
    await fleet.run(DECIDED_MS);

    expect([await has("member1"), await has("member2")]).toEqual([
      [true, 1],
      [true, 1],
    ]);
    expect(await reported()).toHaveLength(1);
  });
});
