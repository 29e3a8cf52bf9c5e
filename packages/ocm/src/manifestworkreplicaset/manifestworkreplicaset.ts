import type { KubernetesObject, Sent } from "@flotilla/apimachinery";
import { defineKind } from "@flotilla/kubernetes";
import { ManifestWorkReplicaSet } from "./manifestworkreplicaset-kind.ts";
import { manifestWorkReplicaSetRules } from "./manifestworkreplicaset-rules.ts";

const example: KubernetesObject & Pick<Sent<ManifestWorkReplicaSet>, "spec"> = {
  apiVersion: "work.open-cluster-management.io/v1alpha1",
  kind: "ManifestWorkReplicaSet",
  metadata: { name: "web", namespace: "shop" },
  spec: {
    manifestWorkTemplate: {
      workload: { manifests: [{ apiVersion: "v1", kind: "ConfigMap", metadata: { name: "web", namespace: "shop" } }] },
    },
    placementRefs: [{ name: "all" }],
  },
};

export const manifestWorkReplicaSet = defineKind({
  kind: ManifestWorkReplicaSet,
  example,
  rules: manifestWorkReplicaSetRules,
});
