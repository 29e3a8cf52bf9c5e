import { expect, test } from "vitest";
import { strip } from "./strip.ts";
import type { Manifest } from "./strip.ts";

const object = (value: object): Manifest => value as Manifest;

test("a template keeps the fields its owner set, and drops what API servers, controllers and hubs added", () => {
  const live = object({
    apiVersion: "apps/v1",
    kind: "Deployment",
    metadata: {
      namespace: "shop",
      name: "web",
      uid: "u-1",
      resourceVersion: "9",
      generation: 4,
      creationTimestamp: "2024-05-01T12:00:00Z",
      ownerReferences: [{ kind: "Shop", name: "shop" }],
      finalizers: ["shop/last"],
      managedFields: [],
      labels: { team: "a", "karmada.io/managed": "true", "resourcebinding.karmada.io/permanent-id": "x" },
      annotations: {
        "kubectl.kubernetes.io/last-applied-configuration": "{}",
        "deployment.kubernetes.io/revision": "3",
        "flotilla.dev/released-from": "a/b",
        "flotilla.dev/partition-scope": "cluster",
        note: "mine",
      },
    },
    spec: {
      replicas: 2,
      template: { metadata: { annotations: { "kubectl.kubernetes.io/restartedAt": "2024-05-01T12:00:00Z" } } },
    },
    status: { replicas: 2 },
  });

  expect(strip(live)).toEqual({
    apiVersion: "apps/v1",
    kind: "Deployment",
    metadata: {
      namespace: "shop",
      name: "web",
      labels: { team: "a" },
      annotations: { "flotilla.dev/partition-scope": "cluster", note: "mine" },
    },
    spec: {
      replicas: 2,
      template: { metadata: { annotations: { "kubectl.kubernetes.io/restartedAt": "2024-05-01T12:00:00Z" } } },
    },
  });
});

const cases: Record<string, { live: object; want: object }> = {
  "a Service loses its clusterIP": {
    live: {
      apiVersion: "v1",
      kind: "Service",
      metadata: { name: "web" },
      spec: { clusterIP: "10.0.0.7", clusterIPs: ["10.0.0.7"], ports: [{ port: 80, nodePort: 30080 }] },
    },
    want: {
      apiVersion: "v1",
      kind: "Service",
      metadata: { name: "web" },
      spec: { ports: [{ port: 80, nodePort: 30080 }] },
    },
  },
  "a headless Service stays headless": {
    live: {
      apiVersion: "v1",
      kind: "Service",
      metadata: { name: "web" },
      spec: { clusterIP: "None", clusterIPs: ["None"] },
    },
    want: {
      apiVersion: "v1",
      kind: "Service",
      metadata: { name: "web" },
      spec: { clusterIP: "None", clusterIPs: ["None"] },
    },
  },
  "a PersistentVolumeClaim loses its volume": {
    live: {
      apiVersion: "v1",
      kind: "PersistentVolumeClaim",
      metadata: { name: "data", annotations: { "pv.kubernetes.io/bind-completed": "yes" } },
      spec: { volumeName: "pvc-1", storageClassName: "fast" },
    },
    want: {
      apiVersion: "v1",
      kind: "PersistentVolumeClaim",
      metadata: { name: "data" },
      spec: { storageClassName: "fast" },
    },
  },
};
for (const [behaviour, { live, want }] of Object.entries(cases)) {
  test(behaviour, () => {
    expect(strip(object(live))).toEqual(want);
  });
}
