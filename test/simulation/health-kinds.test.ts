/** Every kind that a policy can propagate: the hub knows its health soon after a member applied it. */
import { afterEach, expect, test } from "vitest";
import type { Kind, KubernetesObject } from "@flotilla/apimachinery";
import { find } from "@flotilla/client";
import { ClusterPropagationPolicy, ClusterResourceBinding, ResourceBinding } from "@flotilla/karmada";
import { kubernetesDefinitions, Namespace, servedKinds } from "@flotilla/kubernetes";
import { kruiseDefinitions } from "@flotilla/openkruise";
import { startTestFleet } from "@flotilla/testing/fleet/fleet.ts";
import type { TestFleet } from "@flotilla/testing/fleet/fleet.ts";
import { minimalObject } from "../contract/minimal-objects.ts";

const SETTLED_MS = 60_000;
/** Without a second copy for the other API group of Event. */
const kinds = servedKinds([...kubernetesDefinitions, ...kruiseDefinitions]).filter(
  ({ verbs, group }) => verbs === undefined && group !== "events.k8s.io",
);
let fleet: TestFleet;
afterEach(() => fleet.stop());

test("a copy that was applied never has an unknown health", async () => {
  fleet = await startTestFleet({ members: ["member1"] });
  await fleet.client.create(Namespace, "hub", { apiVersion: "v1", kind: "Namespace", metadata: { name: "shop" } });
  const objects = kinds.map((kind): KubernetesObject => {
    const { metadata, ...object } = minimalObject(kind) as unknown as KubernetesObject;
    return { ...object, metadata: { ...metadata, uid: undefined } };
  });
  const resourceSelectors = objects.map(({ apiVersion, kind, metadata: { name } }) => ({ apiVersion, kind, name }));
  await fleet.client.create(ClusterPropagationPolicy, "hub", {
    apiVersion: "policy.karmada.io/v1alpha1",
    kind: "ClusterPropagationPolicy",
    metadata: { name: "all" },
    spec: { resourceSelectors, placement: { clusterAffinity: { clusterNames: ["member1"] } } },
  });
  for (const [index, object] of objects.entries()) {
    const kind = kinds[index] as Kind;
    const { namespace, name } = object.metadata;
    const isThere = await find(fleet.client, kind, { cluster: "hub", namespace, name });
    if (!isThere) await fleet.client.create(kind, "hub", object);
  }

  await fleet.run(SETTLED_MS);

  const bindings = [
    ...(await fleet.client.list(ResourceBinding, { cluster: "hub" })).items,
    ...(await fleet.client.list(ClusterResourceBinding, { cluster: "hub" })).items,
  ];
  const applied = bindings.filter(({ status }) => status?.aggregatedStatus?.some(({ applied }) => applied));
  expect(applied.length).toBeGreaterThan(50);
  expect(
    applied
      .filter(({ status }) => status?.aggregatedStatus?.some(({ health }) => health === "Unknown"))
      .map(({ spec }) => spec.resource.kind),
  ).toEqual([]);
});
