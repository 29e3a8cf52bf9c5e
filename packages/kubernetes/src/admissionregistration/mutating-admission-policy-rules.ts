/** Defaults and validation of MutatingAdmissionPolicies. Their expressions are compiled when they are written. */
import type { DeepReadonly } from "@flotilla/base";
import { builtInAdmission, change, field, fill } from "@flotilla/apimachinery";
import type { AnyAdmission, FieldError, Review, Sent } from "@flotilla/apimachinery";
import type { MutatingAdmissionPolicySpec, Mutation } from "@flotilla/apimachinery/facts/admissionregistration-v1.ts";
import { AdmissionCompiler, JSON_PATCH, listOf, PATCH_OBJECT } from "@flotilla/cel";
import { expressionErrors } from "./match-conditions.ts";
import {
  checkMatchConstraints,
  checkMutatingOperations,
  checkParamKind,
  completeMatchResources,
} from "./match-resources.ts";
import { checkOneOf, FAILURE_POLICIES, REINVOCATION_POLICIES } from "./match-rules.ts";
import { MutatingAdmissionPolicy } from "./mutating-admission-policy-kind.ts";
import { checkParamKindAccess } from "./param-access.ts";
import { checkPolicyConditions, checkVariables } from "./policy-expressions.ts";
import { nameWarnings } from "./static-names.ts";

type Read<T> = DeepReadonly<T>;

/** The patch types, with the field that has the expression and the type of its result. */
const PATCHES = {
  ApplyConfiguration: { key: "applyConfiguration", result: PATCH_OBJECT },
  JSONPatch: { key: "jsonPatch", result: listOf(JSON_PATCH) },
} as const;

function completeSpec(spec: Read<MutatingAdmissionPolicySpec>): Read<MutatingAdmissionPolicySpec> {
  return change(fill(spec, { failurePolicy: "Fail" }), "matchConstraints", completeMatchResources);
}

function checkPolicy({ object, oldObject }: Review<MutatingAdmissionPolicy>): FieldError[] {
  const spec: Sent<MutatingAdmissionPolicySpec> = object.spec ?? {};
  const { mutations = [], variables = [], paramKind, reinvocationPolicy } = spec;
  const compiler = new AdmissionCompiler({ hasParams: paramKind !== undefined, hasVariables: true });
  return [
    ...checkOneOf("spec.failurePolicy", spec.failurePolicy, FAILURE_POLICIES),
    ...(paramKind ? checkParamKind("spec.paramKind", paramKind) : []),
    ...checkMatchConstraints("spec.matchConstraints", spec.matchConstraints),
    ...checkMutatingOperations("spec.matchConstraints", spec.matchConstraints),
    ...checkPolicyConditions("spec.matchConditions", spec, oldObject && (oldObject.spec ?? {})),
    ...checkVariables("spec.variables", variables, compiler),
    ...(mutations.length === 0 ? [field.required("spec.mutations", "mutations must contain at least one item")] : []),
    ...mutations.flatMap((mutation, index) => checkMutation(`spec.mutations[${index}]`, mutation, compiler)),
    ...(reinvocationPolicy
      ? checkOneOf("spec.reinvocationPolicy", reinvocationPolicy, REINVOCATION_POLICIES)
      : [field.required("spec.reinvocationPolicy")]),
  ];
}

function checkMutation(at: string, mutation: Sent<Mutation>, compiler: AdmissionCompiler): FieldError[] {
  const { patchType: type } = mutation;
  if (!type) return [field.required(`${at}.patchType`)];
  if (!Object.hasOwn(PATCHES, type)) return [field.notSupported(`${at}.patchType`, type, Object.keys(PATCHES))];
  const { key, result } = PATCHES[type];
  const other = key === "jsonPatch" ? "applyConfiguration" : "jsonPatch";
  const patch = mutation[key];
  return [
    ...(patch
      ? checkPatch(`${at}.${key}.expression`, patch.expression, compiler, result)
      : [field.required(`${at}.${key}`, `must be specified when patchType is ${type}`)]),
    ...(mutation[other]
      ? [field.invalid(`${at}.${other}`, `{${other}}`, `must not be specified when patchType is ${type}`)]
      : []),
  ];
}

function checkPatch(
  path: string,
  text = "",
  compiler: AdmissionCompiler,
  result: (typeof PATCHES)[keyof typeof PATCHES]["result"],
): FieldError[] {
  const expression = text.trim();
  if (expression === "") return [field.required(path)];
  const { problem } = compiler.compile(expression, { returns: [result], hasPatchTypes: true });
  return expressionErrors(path, expression, problem);
}

export const rules: AnyAdmission[] = [
  builtInAdmission(MutatingAdmissionPolicy, "admissionregistration-v1", {
    complete: (policy) => change(policy, "spec", completeSpec),
    validate(review) {
      const errors = checkPolicy(review);
      return errors.length > 0
        ? errors
        : checkParamKindAccess(review, review.object.spec?.paramKind, review.oldObject?.spec?.paramKind);
    },
    warnings: ({ object }) => nameWarnings(object),
  }),
];
