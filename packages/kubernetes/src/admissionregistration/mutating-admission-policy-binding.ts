/** MutatingAdmissionPolicyBinding: where a policy applies, and with which parameters. */
import type { DeepReadonly } from "@flotilla/base";
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
import { MutatingAdmissionPolicy } from "./mutating-admission-policy-kind.ts";
import { MutatingAdmissionPolicyBinding } from "./mutating-admission-policy-binding-kind.ts";
import { checkParamRefAccess } from "./param-access.ts";
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
    validate(review) {
      const errors = checkBinding(review);
      if (errors.length > 0) return errors;
      const find = (name: string): DeepReadonly<MutatingAdmissionPolicy> | undefined =>
        review.read.get(MutatingAdmissionPolicy, undefined, name);
      return checkParamRefAccess(review, review.object.spec ?? {}, review.oldObject?.spec, find);
    },
    warnings: ({ object }) => nameWarnings(object),
  }),
];

export const mutatingAdmissionPolicyBinding = defineKind({
  kind: MutatingAdmissionPolicyBinding,
  rules,
  example: exampleOf(MutatingAdmissionPolicyBinding, { spec: { policyName: "a" } }),
});
