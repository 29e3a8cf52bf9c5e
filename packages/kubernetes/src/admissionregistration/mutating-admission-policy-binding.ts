/** MutatingAdmissionPolicyBinding: where a policy applies, and with which parameters. */
import { builtInAdmission, change } from "@flotilla/apimachinery";
import type { AnyAdmission, FieldError, Review, Sent } from "@flotilla/apimachinery";
import type { MutatingAdmissionPolicyBindingSpec } from "@flotilla/apimachinery/facts/admissionregistration-v1.ts";
import { defineKind } from "../definition/kind-definition.ts";
import { exampleOf } from "../definition/example.ts";
import {
  checkMatchResources,
  checkMutatingOperations,
  checkParamRef,
  checkPolicyName,
  completeMatchResources,
} from "./match-resources.ts";
import { MutatingAdmissionPolicyBinding } from "./mutating-admission-policy-binding-kind.ts";
import { nameWarnings } from "./static-names.ts";

function checkBinding({ object }: Review<MutatingAdmissionPolicyBinding>): FieldError[] {
  const spec: Sent<MutatingAdmissionPolicyBindingSpec> = object.spec ?? {};
  const { policyName, paramRef, matchResources } = spec;
  return [
    ...checkPolicyName("spec.policyName", policyName),
    ...checkParamRef("spec.paramRef", paramRef),
    ...(matchResources ? checkMatchResources("spec.matchResources", matchResources) : []),
    ...checkMutatingOperations("spec.matchResources", matchResources),
  ];
}

export const rules: AnyAdmission[] = [
  builtInAdmission(MutatingAdmissionPolicyBinding, "admissionregistration-v1", {
    complete: (binding) => change(binding, "spec", (spec) => change(spec, "matchResources", completeMatchResources)),
    validate: checkBinding,
    warnings: ({ object }) => nameWarnings(object),
  }),
];

export const mutatingAdmissionPolicyBinding = defineKind({
  kind: MutatingAdmissionPolicyBinding,
  rules,
  example: exampleOf(MutatingAdmissionPolicyBinding, { spec: { policyName: "a" } }),
});
