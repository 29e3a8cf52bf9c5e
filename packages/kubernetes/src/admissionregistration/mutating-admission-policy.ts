import { defineKind } from "../definition/kind-definition.ts";
import { exampleOf } from "../definition/example.ts";
import { MutatingAdmissionPolicy } from "./mutating-admission-policy-kind.ts";
import { rules } from "./mutating-admission-policy-rules.ts";

export const mutatingAdmissionPolicy = defineKind({
  kind: MutatingAdmissionPolicy,
  rules,
  example: exampleOf(MutatingAdmissionPolicy, {
    spec: {
      matchConstraints: {
        resourceRules: [
          { operations: ["CREATE"], apiGroups: ["example.com"], apiVersions: ["v1"], resources: ["widgets"] },
        ],
      },
      mutations: [{ patchType: "ApplyConfiguration", applyConfiguration: { expression: "Object{}" } }],
      reinvocationPolicy: "Never",
    },
  }),
});
