import { defineKind } from "@flotilla/kubernetes";
import { ManifestWork } from "./manifestwork-kind.ts";
import { manifestWorkRules } from "./manifestwork-rules.ts";

const example: ManifestWork = {
  apiVersion: "work.open-cluster-management.io/v1",
  kind: "ManifestWork",
  metadata: { name: "web", namespace: "shop" },
  spec: {
    workload: { manifests: [{ apiVersion: "v1", kind: "ConfigMap", metadata: { name: "web", namespace: "shop" } }] },
  },
};

export const manifestWork = defineKind({ kind: ManifestWork, example, rules: manifestWorkRules });
