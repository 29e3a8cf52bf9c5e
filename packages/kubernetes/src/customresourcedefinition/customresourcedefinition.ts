import { defineKind } from "../definition/kind-definition.ts";
import { exampleOf } from "../definition/example.ts";
import { CustomResourceDefinition } from "./customresourcedefinition-kind.ts";
import { customResourceDefinitionRules } from "./customresourcedefinition-rules.ts";

export const customResourceDefinition = defineKind({
  kind: CustomResourceDefinition,
  rules: customResourceDefinitionRules,
  example: exampleOf(CustomResourceDefinition, {
    metadata: { name: "teapots.example.com" },
    spec: {
      group: "example.com",
      names: { plural: "teapots", kind: "Teapot" },
      scope: "Namespaced",
      versions: [{ name: "v1", served: true, storage: true, schema: { openAPIV3Schema: { type: "object" } } }],
    },
    // The server initializes this list.
    status: { storedVersions: ["v1"] },
  }),
});
