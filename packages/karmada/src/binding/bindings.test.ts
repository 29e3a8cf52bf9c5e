import { describe, expect, test } from "vitest";
import type { JsonObject } from "@flotilla/base";
import { completedBy, problemsOf, review, UID } from "../../../apimachinery/src/kind/test-review.ts";
import { fromStorage, toStorage } from "./binding-versions.ts";
import type { ClusterResourceBinding } from "../clusterresourcebinding/clusterresourcebinding-kind.ts";
import { clusterResourceBindingRules as clusterAdmissions } from "../clusterresourcebinding/clusterresourcebinding-rules.ts";
import type { ResourceBinding } from "../resourcebinding/resourcebinding-kind.ts";
import { resourceBindingRules as admissions } from "../resourcebinding/resourcebinding-rules.ts";

const ID = "resourcebinding.karmada.io/permanent-id";
const resource = {
  apiVersion: "apps/v1",
  kind: "Deployment",
  namespace: "shop",
  name: "web",
  uid: "u",
  resourceVersion: "7",
};
const binding = (metadata: object = {}, spec: object = {}): ResourceBinding => ({
  apiVersion: "work.karmada.io/v1alpha2",
  kind: "ResourceBinding",
  metadata: { name: "web-deployment", namespace: "shop", ...metadata },
  spec: { resource, ...spec },
});

describe("a binding", () => {
  test("gets a permanent id when it is created without one", () => {
    expect(completedBy(admissions, binding()).metadata.labels).toEqual({ [ID]: UID });
    expect(completedBy(admissions, binding({ labels: { [ID]: "mine" } })).metadata.labels).toEqual({ [ID]: "mine" });
  });

  test("keeps its permanent id when an update changes it", () => {
    expect(
      completedBy(admissions, binding({ labels: { [ID]: "yours" } }), binding({ labels: { [ID]: "mine" } })).metadata
        .labels,
    ).toEqual({ [ID]: "mine" });
  });

  test("a binding of a cluster-scoped object uses the ClusterResourceBinding id label", () => {
    const object: ClusterResourceBinding = { ...binding(), kind: "ClusterResourceBinding" };

    expect(completedBy(clusterAdmissions, object).metadata.labels).toEqual({
      "clusterresourcebinding.karmada.io/permanent-id": UID,
    });
  });

  test("has normalized quantities when a client creates it", () => {
    const given = binding(
      {},
      { replicaRequirements: { resourceRequest: { cpu: "1000m", memory: 1024 } }, replicas: 0 },
    );

    expect(completedBy(admissions, given).spec).toEqual({
      resource,
      replicaRequirements: { resourceRequest: { cpu: "1", memory: "1024" } },
    });
  });

  test("written by one of the server's own controllers is stored unchanged", () => {
    const spec = { replicaRequirements: { resourceRequest: { cpu: "1000m" } } };

    expect(review(admissions, binding({}, spec), { byController: true }).object.spec).toEqual({ resource, ...spec });
  });

  test("accepts only a JSON list of references in the dependencies annotation", () => {
    const depends = (text: string): string[] =>
      problemsOf(admissions, binding({ annotations: { "resourcebinding.karmada.io/dependencies": text } }));

    expect(
      ["null", "[]", "[null]", '[{"apiVersion":"v1","kind":"ConfigMap","name":null,"labelSelector":{}}]'].flatMap(
        depends,
      ),
    ).toEqual([]);
    expect(['{"a":1}', "[", '[{"name":1}]', '["a"]'].flatMap(depends)).toHaveLength(4);
    expect(depends("{}")).toEqual([
      'metadata.annotations.resourcebinding.karmada.io/dependencies: Invalid value: "{}": annotation value must be a valid JSON',
    ]);
  });
});

describe("v1alpha1 of a binding", () => {
  const stored = {
    ...binding(
      {},
      {
        replicas: 3,
        replicaRequirements: { resourceRequest: { cpu: "100m" }, namespace: "shop" },
        clusters: [{ name: "m1", replicas: 3 }],
        placement: {},
      },
    ),
    status: {
      schedulerObservedGeneration: 1,
      aggregatedStatus: [{ clusterName: "m1", applied: true, health: "Healthy" }],
    },
  } as unknown as JsonObject;
  const older = {
    apiVersion: "work.karmada.io/v1alpha1",
    kind: "ResourceBinding",
    metadata: { name: "web-deployment", namespace: "shop" },
    spec: {
      resource: {
        apiVersion: "apps/v1",
        kind: "Deployment",
        namespace: "shop",
        name: "web",
        resourceVersion: "7",
        resourcePerReplicas: { cpu: "100m" },
        replicas: 3,
      },
      clusters: [{ name: "m1", replicas: 3 }],
    },
    status: { aggregatedStatus: [{ clusterName: "m1", applied: true }] },
  };

  test("shows the fields that it supports", () => {
    expect(fromStorage(stored)).toEqual(older);
  });

  test("is converted to v1alpha2", () => {
    expect(toStorage(older)).toEqual({
      apiVersion: "work.karmada.io/v1alpha2",
      kind: "ResourceBinding",
      metadata: older.metadata,
      spec: {
        resource: { apiVersion: "apps/v1", kind: "Deployment", namespace: "shop", name: "web", resourceVersion: "7" },
        replicaRequirements: { resourceRequest: { cpu: "100m" } },
        replicas: 3,
        clusters: [{ name: "m1", replicas: 3 }],
      },
      status: { aggregatedStatus: [{ clusterName: "m1", applied: true }] },
    });
  });

  test("cannot be written", () => {
    for (const subresource of [undefined, "status"]) {
      expect(() => completedBy(admissions, older as unknown as ResourceBinding, binding(), subresource)).toThrow(
        "unable to decode work.karmada.io/v1alpha1, Kind=ResourceBinding into *v1alpha2.ResourceBinding",
      );
    }
  });
});
