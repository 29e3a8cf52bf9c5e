import { defineKind } from "@flotilla/kubernetes";
import { bindingNotes } from "../binding/binding-notes.ts";
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
  summary:
    "The scheduling result of an object with the replicas of each member, and its members' reports. Created by Flotilla.",
  fieldNotes: bindingNotes,
  example,
  rules: resourceBindingRules,
});
