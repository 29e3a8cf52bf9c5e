/** OpenKruise's CRDs are propagated to the members like any other object, and dependent objects wait. */
import { afterEach, expect, test } from "vitest";
import { CloneSet } from "@flotilla/openkruise";
import {
  ClusterPropagationPolicy,
  ClusterResourceBinding,
  PropagationPolicy,
  ResourceBinding,
  ResourceInterpreterCustomization,
} from "@flotilla/karmada";
import { ConfigMap, CustomResourceDefinition, Event, Namespace } from "@flotilla/kubernetes";
import { dynamicKind } from "@flotilla/apimachinery";
import { startTestFleet } from "@flotilla/testing/fleet/fleet.ts";
import type { TestFleet } from "@flotilla/testing/fleet/fleet.ts";
import { makeCloneSet, makePolicy } from "@flotilla/testing/builders.ts";

const SETTLED_MS = 60_000;
const MINUTE_MS = 60_000;
let fleet: TestFleet;
afterEach(() => fleet.stop());

const binding = { cluster: "hub", namespace: "shop", name: "web-cloneset" };
const definitions = {
  apiVersion: "policy.karmada.io/v1alpha1",
  kind: "ClusterPropagationPolicy",
  metadata: { name: "openkruise" },
  spec: {
    resourceSelectors: [
      {
        apiVersion: "apiextensions.k8s.io/v1",
        kind: "CustomResourceDefinition",
        labelSelector: { matchExpressions: [{ key: "kruise.io/schema-gen", operator: "Exists" }] },
      },
    ],
    placement: { clusterAffinity: { clusterNames: ["member1"] } },
  },
} as unknown as ClusterPropagationPolicy;

test("a CloneSet waits for OpenKruise's CRDs, reports what is missing, writes nothing meanwhile, and is propagated when they exist", async () => {
  fleet = await startTestFleet({ members: ["member1", "member2"], kruise: "none" });
  await fleet.client.create(Namespace, "hub", { apiVersion: "v1", kind: "Namespace", metadata: { name: "shop" } });
  await fleet.client.create(
    PropagationPolicy,
    "hub",
    makePolicy("shop/all").selects("apps.kruise.io/v1beta1", "CloneSet").duplicates("member1").build(),
  );
  await fleet.client.create(CloneSet, "hub", makeCloneSet("shop/web").replicas(3).build());
  await fleet.run(SETTLED_MS);
  const waiting = (await fleet.client.get(ResourceBinding, binding)).status?.conditions?.find(
    ({ type }) => type === "Scheduled",
  );
  expect(waiting).toMatchObject({ status: "False", reason: "NoClusterFit" });
  expect(waiting?.message).toContain("API resource");
  fleet.resetWrites();
  await fleet.run(10 * MINUTE_MS);
  expect(fleet.writes()).toEqual([]);

  await fleet.client.create(ClusterPropagationPolicy, "hub", definitions);
  await fleet.run(SETTLED_MS);

  expect(
    (await fleet.client.list(CustomResourceDefinition, { cluster: "member1" })).items.map(
      ({ metadata }) => metadata.name,
    ),
  ).toContain("clonesets.apps.kruise.io");
  expect((await fleet.client.list(CloneSet, { cluster: "member1" })).items.map(({ spec }) => spec.replicas)).toEqual([
    3,
  ]);
  expect(
    (await fleet.client.list(CustomResourceDefinition, { cluster: "member2" })).items.map(
      ({ metadata }) => metadata.name,
    ),
  ).not.toContain("clonesets.apps.kruise.io");
});

test("a kind that was deleted everywhere and is created again is propagated again, while its policy stays", async () => {
  fleet = await startTestFleet({ members: ["member1"], kruise: "none" });
  const widget = dynamicKind({
    group: "example.dev",
    version: "v1",
    kind: "Widget",
    plural: "widgets",
    scope: "Namespaced",
  });
  const propagated = async (): Promise<string[]> =>
    (await fleet.client.list(widget, { cluster: "member1" })).items.map(({ metadata }) => metadata.name);
  const define = async (name: string): Promise<void> => {
    for (const cluster of ["hub", "member1"])
      await fleet.client.create(CustomResourceDefinition, cluster, {
        apiVersion: "apiextensions.k8s.io/v1",
        kind: "CustomResourceDefinition",
        metadata: { name: "widgets.example.dev" },
        spec: {
          group: "example.dev",
          scope: "Namespaced",
          names: { plural: "widgets", kind: "Widget" },
          versions: [{ name: "v1", served: true, storage: true, schema: { openAPIV3Schema: { type: "object" } } }],
        },
      });
    await fleet.run(1_000);
    await fleet.client.create(widget, "hub", {
      apiVersion: "example.dev/v1",
      kind: "Widget",
      metadata: { name, namespace: "default" },
    });
    await fleet.run(SETTLED_MS);
  };
  await fleet.client.create(
    PropagationPolicy,
    "hub",
    makePolicy("default/widgets").selects("example.dev/v1", "Widget").duplicates("member1").build(),
  );
  await define("first");
  const before = await propagated();

  for (const cluster of ["hub", "member1"])
    await fleet.client.delete(CustomResourceDefinition, { cluster, name: "widgets.example.dev" });
  await fleet.run(10 * MINUTE_MS);
  const bindings = (await fleet.client.list(ResourceBinding, { cluster: "hub" })).items;
  await define("second");

  expect(before).toEqual(["first"]);
  expect(bindings).toEqual([]);
  expect(await propagated()).toEqual(["second"]);
});

test("CRDs that the members had before are reported as healthy, also those that keep the member's form", async () => {
  fleet = await startTestFleet({ members: ["member1"] });
  await fleet.client.create(ClusterPropagationPolicy, "hub", {
    ...definitions,
    spec: { ...definitions.spec, conflictResolution: "Overwrite" },
  });

  await fleet.run(2 * MINUTE_MS);

  const bindings = (await fleet.client.list(ClusterResourceBinding, { cluster: "hub" })).items;
  expect(bindings.map(({ spec }) => spec.resource.name)).toContain("clonesets.apps.kruise.io");
  expect(
    bindings
      .filter(({ status }) => status?.aggregatedStatus?.some(({ health }) => health !== "Healthy"))
      .map(({ spec, status }) => [spec.resource.name, status?.conditions?.find(({ type }) => type === "Healthy")]),
  ).toEqual([]);
});

test("the status of a kind without a status subresource stays on the binding, and an event on the template explains why", async () => {
  fleet = await startTestFleet({ members: ["member1"] });
  const widget = dynamicKind({
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
  for (const cluster of ["hub", "member1"]) await fleet.client.create(CustomResourceDefinition, cluster, definition);
  await fleet.client.create(Namespace, "hub", { apiVersion: "v1", kind: "Namespace", metadata: { name: "shop" } });
  await fleet.client.create(
    PropagationPolicy,
    "hub",
    makePolicy("shop/all").selects("example.dev/v1", "Widget").duplicates("member1").build(),
  );
  await fleet.run(SETTLED_MS);
  await fleet.client.create(widget, "hub", {
    apiVersion: "example.dev/v1",
    kind: "Widget",
    metadata: { namespace: "shop", name: "a" },
    spec: { size: 1 },
  });
  await fleet.run(SETTLED_MS);
  await fleet.client.patch(
    widget,
    { cluster: "member1", namespace: "shop", name: "a" },
    { status: { phase: "Running" } },
    { type: "merge" },
  );
  await fleet.run(SETTLED_MS);

  const { status } = await fleet.client.get(ResourceBinding, { cluster: "hub", namespace: "shop", name: "a-widget" });
  expect(status?.aggregatedStatus).toMatchObject([
    { clusterName: "member1", applied: true, status: { phase: "Running" } },
  ]);
  expect(await fleet.client.get(widget, { cluster: "hub", namespace: "shop", name: "a" })).not.toHaveProperty("status");
  expect(
    (await fleet.client.list(Event, { cluster: "hub", namespace: "shop" })).items
      .filter(({ reason }) => reason === "StatusNotAggregated")
      .map(({ count, message }) => [count, message]),
  ).toEqual([
    [
      1,
      "Widget has no status subresource; see status.aggregatedStatus of ResourceBinding a-widget for the members' status",
    ],
  ]);
  fleet.resetWrites();
  await fleet.run(10 * MINUTE_MS);
  expect(fleet.writes()).toEqual([]);
});

test("a ConfigMap, which has no status, gets no such event", async () => {
  fleet = await startTestFleet({ members: ["member1"] });
  await fleet.client.create(Namespace, "hub", { apiVersion: "v1", kind: "Namespace", metadata: { name: "shop" } });
  await fleet.client.create(
    PropagationPolicy,
    "hub",
    makePolicy("shop/all").selects("v1", "ConfigMap").duplicates("member1").build(),
  );
  await fleet.client.create(ConfigMap, "hub", {
    apiVersion: "v1",
    kind: "ConfigMap",
    metadata: { namespace: "shop", name: "settings" },
  });

  await fleet.run(SETTLED_MS);

  expect(
    (await fleet.client.get(ResourceBinding, { cluster: "hub", namespace: "shop", name: "settings-configmap" })).status
      ?.aggregatedStatus,
  ).toMatchObject([{ clusterName: "member1", applied: true }]);
  expect((await fleet.client.list(Event, { cluster: "hub", namespace: "shop" })).items).toEqual([]);
});

test("an aggregated status that the template's schema rejects is reported on the template with the server's error, again after five minutes", async () => {
  fleet = await startTestFleet({ members: ["member1"] });
  await fleet.client.create(Namespace, "hub", { apiVersion: "v1", kind: "Namespace", metadata: { name: "shop" } });
  const luaScript =
    'function AggregateStatus(desiredObj, statusItems)\n  desiredObj.status = { replicas = "many" }\n  return desiredObj\nend';
  await fleet.client.create(ResourceInterpreterCustomization, "hub", {
    apiVersion: "config.karmada.io/v1alpha1",
    kind: "ResourceInterpreterCustomization",
    metadata: { name: "wrong" },
    spec: {
      target: { apiVersion: "apps.kruise.io/v1beta1", kind: "CloneSet" },
      customizations: { statusAggregation: { luaScript } },
    },
  });
  await fleet.client.create(
    PropagationPolicy,
    "hub",
    makePolicy("shop/all").selects("apps.kruise.io/v1beta1", "CloneSet").duplicates("member1").build(),
  );
  await fleet.client.create(CloneSet, "hub", makeCloneSet("shop/web").build());
  const reported = async () =>
    (await fleet.client.list(Event, { cluster: "hub", namespace: "shop" })).items.filter(
      ({ reason, involvedObject }) => reason === "AggregateStatusFailed" && involvedObject.kind === "CloneSet",
    );
  await fleet.run(4 * MINUTE_MS);
  const early = await reported();
  await fleet.run(4 * MINUTE_MS);

  expect(early).toMatchObject([{ count: 1, type: "Warning" }]);
  expect(early[0]?.message).toContain("status.replicas");
  expect(await reported()).toMatchObject([{ count: 2 }]);
});
