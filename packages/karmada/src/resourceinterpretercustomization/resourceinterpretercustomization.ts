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
  example,
});
