/** ValidatingAdmissionPolicyBinding: where a policy applies, with which parameters, and what a violation causes. */
import type { DeepReadonly } from "@flotilla/base";
import { builtInAdmission, change, field } from "@flotilla/apimachinery";
import type { AnyAdmission, FieldError, Review, Sent } from "@flotilla/apimachinery";
import type { ValidatingAdmissionPolicyBindingSpec } from "@flotilla/apimachinery/facts/admissionregistration-v1.ts";
import { defineKind } from "../definition/kind-definition.ts";
import { exampleOf } from "../definition/example.ts";
import { checkMatchResources, checkParamRef, checkPolicyName, completeMatchResources } from "./match-resources.ts";
import { checkOneOf } from "./match-rules.ts";
import { checkParamRefAccess } from "./param-access.ts";
import { nameWarnings } from "./static-names.ts";
import { ValidatingAdmissionPolicy } from "./validating-admission-policy-kind.ts";
import { ValidatingAdmissionPolicyBinding } from "./validating-admission-policy-binding-kind.ts";

const ACTIONS = ["Audit", "Deny", "Warn"];
const DENY_AND_WARN =
  "must not contain both Deny and Warn (repeating the same validation failure information in the API response and headers serves no purpose)";

function checkBinding({ object }: Review<ValidatingAdmissionPolicyBinding>): FieldError[] {
  const spec: Sent<ValidatingAdmissionPolicyBindingSpec> = object.spec ?? {};
  const { policyName, paramRef, matchResources, validationActions = [] } = spec;
  return [
    ...checkPolicyName("spec.policyName", policyName),
    ...checkParamRef("spec.paramRef", paramRef),
    ...(matchResources ? checkMatchResources("spec.matchResources", matchResources) : []),
    ...checkActions("spec.validationActions", validationActions),
  ];
}

function checkActions(at: string, actions: readonly string[]): FieldError[] {
  if (actions.length === 0) return [field.required(at, "at least one validation action is required")];
  const seen = new Set<string>();
  const errors: FieldError[] = [];
  for (const [index, action] of actions.entries()) {
    errors.push(...checkOneOf(`${at}[${index}]`, action, ACTIONS));
    if (seen.has(action)) errors.push(field.duplicate(`${at}[${index}]`, action));
    seen.add(action);
  }
  return seen.has("Deny") && seen.has("Warn") ? [...errors, field.invalid(at, actions, DENY_AND_WARN)] : errors;
}

export const rules: AnyAdmission[] = [
  builtInAdmission(ValidatingAdmissionPolicyBinding, "admissionregistration-v1", {
    complete: (binding) => change(binding, "spec", (spec) => change(spec, "matchResources", completeMatchResources)),
    validate(review) {
      const errors = checkBinding(review);
      if (errors.length > 0) return errors;
      const find = (name: string): DeepReadonly<ValidatingAdmissionPolicy> | undefined =>
        review.read.get(ValidatingAdmissionPolicy, undefined, name);
      return checkParamRefAccess(review, review.object.spec ?? {}, review.oldObject?.spec, find);
    },
    warnings: ({ object }) => nameWarnings(object),
  }),
];

export const validatingAdmissionPolicyBinding = defineKind({
  kind: ValidatingAdmissionPolicyBinding,
  rules,
  example: exampleOf(ValidatingAdmissionPolicyBinding, { spec: { policyName: "a", validationActions: ["Deny"] } }),
});
