import { defineKind } from "@flotilla/kubernetes";
import { ResourceInterpreterCustomization } from "./resourceinterpretercustomization-kind.ts";

const example: ResourceInterpreterCustomization = {
  apiVersion: "config.karmada.io/v1alpha1",
  kind: "ResourceInterpreterCustomization",
  metadata: { name: "web" },
  spec: {
    target: { apiVersion: "apps/v1", kind: "Deployment" },
    customizations: { healthInterpretation: { luaScript: "function InterpretHealth(observedObj) return true end" } },
  },
};

/** Its validation compiles scripts, so it is an admission of the interpreter. */
export const resourceInterpreterCustomization = defineKind({
  kind: ResourceInterpreterCustomization,
  summary: "Lua rules that interpret a kind: its replicas, health, status and dependencies.",
  fieldNotes: {
    "spec.target": "The kind it applies to, in exactly this version.",
    "spec.customizations.replicaResource": "`GetReplicas`: the number of replicas, and the requirements of one.",
    "spec.customizations.replicaRevision": "`ReviseReplica`: sets the number of replicas.",
    "spec.customizations.retention": "`Retain`: the fields of a member's object that are kept on update.",
    "spec.customizations.statusReflection":
      "`ReflectStatus`: the part of a member's status that is reported to the hub.",
    "spec.customizations.statusAggregation": "`AggregateStatus`: aggregates the template's status from the members'.",
    "spec.customizations.healthInterpretation": "`InterpretHealth`: whether a member's object is healthy.",
    "spec.customizations.dependencyInterpretation": "`GetDependencies`: its dependencies.",
    "spec.customizations.componentResource": "`GetComponents`: its components.",
  },
  example,
});
