import { defineKind } from "@flotilla/kubernetes";
import { ResourceBinding } from "./resourcebinding-kind.ts";
import { resourceBindingRules } from "./resourcebinding-rules.ts";

const example: ResourceBinding = {
  apiVersion: "work.karmada.io/v1alpha2",
  kind: "ResourceBinding",
  metadata: { name: "web", namespace: "shop" },
  spec: { resource: { apiVersion: "apps/v1", kind: "Deployment", name: "web" } },
};

export const resourceBinding = defineKind({
  kind: ResourceBinding,
  example,
  rules: resourceBindingRules,
});
