/**
 * ResourceInterpreterCustomization: Lua scripts that interpret one version of a kind. Validation compiles the scripts,
 * so it is an admission of the interpreter.
 */
import { AGE, customKind } from "@flotilla/apimachinery";
import type { ResourceInterpreterCustomization as ResourceInterpreterCustomizationFacts } from "@flotilla/apimachinery/facts/config-karmada-v1alpha1.ts";
import type { Kind } from "@flotilla/apimachinery";
import { resourceInterpreterCustomizationDescriptions } from "./resourceinterpretercustomization-descriptions.ts";

export type ResourceInterpreterCustomization = ResourceInterpreterCustomizationFacts;

export const ResourceInterpreterCustomization: Kind<ResourceInterpreterCustomization> =
  customKind<ResourceInterpreterCustomization>({
    group: "config.karmada.io",
    storageVersion: "v1alpha1",
    kind: "ResourceInterpreterCustomization",
    plural: "resourceinterpretercustomizations",
    shortNames: ["ric"],
    categories: ["karmada-io"],
    scope: "Cluster",
    facts: "resourceinterpretercustomizations.config.karmada.io",
    columns: [
      { name: "TARGET-API-VERSION", type: "string", jsonPath: ".spec.target.apiVersion" },
      { name: "TARGET-KIND", type: "string", jsonPath: ".spec.target.kind" },
      AGE,
    ],
    descriptions: resourceInterpreterCustomizationDescriptions,
  });
