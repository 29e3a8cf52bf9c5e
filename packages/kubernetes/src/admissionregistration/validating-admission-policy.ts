import { defineKind } from "../definition/kind-definition.ts";
import { exampleOf } from "../definition/example.ts";
import { ValidatingAdmissionPolicy } from "./validating-admission-policy-kind.ts";
import { rules } from "./validating-admission-policy-rules.ts";

export const validatingAdmissionPolicy = defineKind({
  kind: ValidatingAdmissionPolicy,
  rules,
  example: exampleOf(ValidatingAdmissionPolicy, {
    spec: {
      matchConstraints: {
        resourceRules: [
          { operations: ["CREATE"], apiGroups: ["example.com"], apiVersions: ["v1"], resources: ["widgets"] },
        ],
      },
      validations: [{ expression: "true" }],
    },
  }),
});
