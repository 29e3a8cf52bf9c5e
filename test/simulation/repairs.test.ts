/** Changes of the control plane's own objects by users and crashes are repaired. */
import { afterEach, expect, test } from "vitest";
import { CustomResourceDefinition, Deployment, Namespace } from "@flotilla/kubernetes";
import { dynamicKind } from "@flotilla/apimachinery";
import { PropagationPolicy, ResourceBinding, Work } from "@flotilla/karmada";
import type { Transport } from "@flotilla/client";
import { startTestFleet } from "@flotilla/testing/fleet/fleet.ts";
import type { TestFleet, TestFleetOptions } from "@flotilla/testing/fleet/fleet.ts";
import { makeDeployment, makePolicy } from "@flotilla/testing/builders.ts";

const SETTLED_MS = 20_000;
const web = { cluster: "hub", namespace: "shop", name: "web" };
const binding = { cluster: "hub", namespace: "shop", name: "web-deployment" };

let fleet: TestFleet;
afterEach(() => fleet.stop());

async function start(options: Partial<TestFleetOptions> = {}): Promise<void> {
  fleet = await startTestFleet({ members: ["member1", "member2"], ...options });
  await fleet.client.create(Namespace, "hub", { apiVersion: "v1", kind: "Namespace", metadata: { name: "shop" } });
  await fleet.client.create(
    PropagationPolicy,
    "hub",
    makePolicy("shop/all").selects("apps/v1", "Deployment").weights({ member1: 1, member2: 1 }).build(),
  );
  await fleet.client.create(Deployment, "hub", makeDeployment("shop/web").replicas(4).build());
  await fleet.run(SETTLED_MS);
}
const worksOfWeb = async () =>
  (await fleet.client.list(Work, { cluster: "hub" })).items.filter(({ metadata }) => metadata.name.startsWith("web-"));
async function expectNothingLeft(): Promise<void> {
  await fleet.client.delete(Deployment, web);
  await fleet.run(SETTLED_MS);
  expect(await worksOfWeb()).toEqual([]);
  expect((await fleet.client.list(Deployment, { cluster: "member1" })).items).toEqual([]);
}

test("a Work that lost its labels gets them back, and is deleted with its template", async () => {
  await start();
  const [work] = await worksOfWeb();
  await fleet.client.patch(
    Work,
    { cluster: "hub", namespace: work?.metadata.namespace ?? "", name: work?.metadata.name ?? "" },
    { metadata: { labels: null } },
    { type: "merge" },
  );
  await fleet.run(SETTLED_MS);

  for (const { metadata } of await worksOfWeb())
    expect(metadata.labels).toHaveProperty("resourcebinding.karmada.io/permanent-id");
  await expectNothingLeft();
});

test("a binding keeps its id despite an update, so that it keeps its Works", async () => {
  await start();
  const { labels } = (await fleet.client.get(ResourceBinding, binding)).metadata;
  for (const value of ["another", null]) {
    await fleet.client.patch(
      ResourceBinding,
      binding,
      { metadata: { labels: { "resourcebinding.karmada.io/permanent-id": value } } },
      { type: "merge" },
    );
    await fleet.run(SETTLED_MS);
    expect((await fleet.client.get(ResourceBinding, binding)).metadata.labels).toEqual(labels);
  }

  await expectNothingLeft();
});

test("an overwritten template status is aggregated again", async () => {
  await start({ nodes: 2 });
  await fleet.client.patch(
    Deployment,
    web,
    { status: { readyReplicas: 1, availableReplicas: 1 } },
    { type: "merge", subresource: "status" },
  );
  await fleet.run(SETTLED_MS);

  expect((await fleet.client.get(Deployment, web)).status?.readyReplicas).toBe(4);
});

test("a Work can be deleted although its member no longer serves the kind", async () => {
  await start();
  const manifest = { apiVersion: "example.dev/v1", kind: "Widget", metadata: { namespace: "shop", name: "a" } };
  const key = { cluster: "hub", namespace: "karmada-es-member1", name: "widget" };
  await fleet.client.create(Work, "hub", {
    apiVersion: "work.karmada.io/v1alpha1",
    kind: "Work",
    metadata: { namespace: key.namespace, name: key.name },
    spec: { workload: { manifests: [manifest] } },
  });
  await fleet.run(SETTLED_MS);

  await fleet.client.delete(Work, key);
  await fleet.run(SETTLED_MS);

  expect(
    (await fleet.client.list(Work, { cluster: "hub", namespace: key.namespace })).items.map(
      ({ metadata }) => metadata.name,
    ),
  ).not.toContain("widget");
});

test("replicas that change while the scheduler writes its decision are scheduled again", async () => {
  const gate: { closed?: PromiseWithResolvers<void> } = {};
  const hold = (transport: Transport, part: string): Transport =>
    part === "schedule"
      ? { ...transport, send: async (request, signal) => (await gate.closed?.promise, transport.send(request, signal)) }
      : transport;
  fleet = await startTestFleet({ members: ["member1", "member2"], wrap: hold });
  await fleet.client.create(Namespace, "hub", { apiVersion: "v1", kind: "Namespace", metadata: { name: "shop" } });
  await fleet.client.create(
    PropagationPolicy,
    "hub",
    makePolicy("shop/all").selects("apps/v1", "Deployment").weights({ member1: 1, member2: 1 }).build(),
  );
  await fleet.run(SETTLED_MS);
  const turns = async (): Promise<void> => {
    for (let turn = 0; turn < 200; turn++) await new Promise((resolve) => void setImmediate(resolve));
  };

  gate.closed = Promise.withResolvers();
  await fleet.client.create(Deployment, "hub", makeDeployment("shop/web").replicas(4).build());
  await turns();
  await fleet.client.patch(Deployment, web, { spec: { replicas: 20 } }, { type: "merge" });
  await turns();
  expect((await fleet.client.get(ResourceBinding, binding)).spec).toMatchObject({ replicas: 20 });
  gate.closed.resolve();
  await fleet.run(SETTLED_MS);

  expect((await fleet.client.get(ResourceBinding, binding)).spec.clusters).toEqual([
    { name: "member1", replicas: 10 },
    { name: "member2", replicas: 10 },
  ]);
});

test("an object that a stricter CRD would reject can still be finalized", async () => {
  fleet = await startTestFleet({ members: [] });
  const definition = (schema: object) =>
    ({
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
            schema: {
              openAPIV3Schema: {
                type: "object",
                properties: { spec: { type: "object", properties: { size: { type: "integer", ...schema } } } },
              },
            },
          },
        ],
      },
    }) as CustomResourceDefinition;
  await fleet.client.create(CustomResourceDefinition, "hub", definition({}));
  await fleet.run(1_000);
  const Widget = dynamicKind({
    group: "example.dev",
    version: "v1",
    kind: "Widget",
    plural: "widgets",
    scope: "Namespaced",
  });
  const key = { cluster: "hub", namespace: "default", name: "a" };
  await fleet.client.create(Widget, "hub", {
    apiVersion: "example.dev/v1",
    kind: "Widget",
    metadata: { namespace: "default", name: "a", finalizers: ["example.dev/held"] },
    spec: { size: 1 },
  });
  await fleet.client.patch(
    CustomResourceDefinition,
    { cluster: "hub", name: "widgets.example.dev" },
    { spec: definition({ minimum: 5 }).spec } as never,
    { type: "merge" },
  );
  await fleet.run(1_000);

  await expect(fleet.client.patch(Widget, key, { spec: { size: 2 } }, { type: "merge" })).rejects.toThrow(
    "should be greater than or equal to 5",
  );
  await fleet.client.delete(Widget, key);
  await fleet.client.patch(Widget, key, { metadata: { finalizers: null } }, { type: "merge" });

  await expect(fleet.client.get(Widget, key)).rejects.toThrow("not found");
});
