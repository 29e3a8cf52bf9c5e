/** Defaults and validation of ValidatingAdmissionPolicies. Their expressions are compiled when they are written. */
import type { DeepReadonly } from "@flotilla/base";
import {
  builtInAdmission,
  change,
  checkConditions,
  checkText,
  field,
  fill,
  labelKeyProblems,
} from "@flotilla/apimachinery";
import type { AnyAdmission, FieldError, Review, Sent } from "@flotilla/apimachinery";
import type {
  AuditAnnotation,
  ExpressionWarning,
  ValidatingAdmissionPolicySpec,
  ValidatingAdmissionPolicyStatus,
  Validation,
} from "@flotilla/apimachinery/facts/admissionregistration-v1.ts";
import { AdmissionCompiler, BOOL, NULL, STRING } from "@flotilla/cel";
import { expressionErrors } from "./match-conditions.ts";
import { checkMatchConstraints, checkParamKind, completeMatchResources } from "./match-resources.ts";
import { checkOneOf, FAILURE_POLICIES } from "./match-rules.ts";
import { checkParamKindAccess } from "./param-access.ts";
import { checkPolicyConditions, checkVariables } from "./policy-expressions.ts";
import { nameWarnings } from "./static-names.ts";
import { ValidatingAdmissionPolicy } from "./validating-admission-policy-kind.ts";

const MAX_AUDIT_ANNOTATIONS = 20;
const MAX_VALUE_EXPRESSION_BYTES = 5 * 1024;
const REASONS = ["Forbidden", "Invalid", "RequestEntityTooLarge"];
const AT_LEAST_ONE = "validations or auditAnnotations must contain at least one item";

type Read<T> = DeepReadonly<T>;

function completeSpec(spec: Read<ValidatingAdmissionPolicySpec>): Read<ValidatingAdmissionPolicySpec> {
  return change(fill(spec, { failurePolicy: "Fail" }), "matchConstraints", completeMatchResources);
}

function checkPolicy({ object, oldObject }: Review<ValidatingAdmissionPolicy>): FieldError[] {
  const spec: Sent<ValidatingAdmissionPolicySpec> = object.spec ?? {};
  const { validations = [], auditAnnotations = [], variables = [], paramKind } = spec;
  const compiler = new AdmissionCompiler({ hasParams: paramKind !== undefined, hasVariables: variables.length > 0 });
  const errors = [
    ...checkOneOf("spec.failurePolicy", spec.failurePolicy, FAILURE_POLICIES),
    ...(paramKind ? checkParamKind("spec.paramKind", paramKind) : []),
    ...checkMatchConstraints("spec.matchConstraints", spec.matchConstraints),
    ...checkPolicyConditions("spec.matchConditions", spec, oldObject && (oldObject.spec ?? {})),
    ...checkVariables("spec.variables", variables, compiler),
  ];
  if (validations.length === 0 && auditAnnotations.length === 0)
    return [
      ...errors,
      field.required("spec.validations", AT_LEAST_ONE),
      field.required("spec.auditAnnotations", AT_LEAST_ONE),
    ];
  for (const [index, validation] of validations.entries())
    errors.push(...checkValidation(`spec.validations[${index}]`, validation, compiler));
  return [...errors, ...checkAuditAnnotations(object.metadata.name ?? "", auditAnnotations, compiler)];
}

function checkValidation(
  at: string,
  { expression = "", message = "", messageExpression = "", reason }: Sent<Validation>,
  compiler: AdmissionCompiler,
): FieldError[] {
  return [
    ...(expression.trim() === ""
      ? [field.required(`${at}.expression`, "expression is not specified")]
      : expressionErrors(`${at}.expression`, expression, compiler.compile(expression, { returns: [BOOL] }).problem)),
    ...checkMessageExpression(`${at}.messageExpression`, messageExpression, compiler),
    ...checkMessage(`${at}.message`, message),
    ...checkOneOf(`${at}.reason`, reason, REASONS),
  ];
}

function checkMessageExpression(path: string, expression: string, compiler: AdmissionCompiler): FieldError[] {
  if (expression === "") return [];
  if (expression.trim() === "") return [field.invalid(path, expression, "must be non-empty if specified")];
  const { problem } = compiler.compile(expression, { returns: [STRING], hasAuthorizer: false });
  return expressionErrors(path, expression, problem);
}

function checkMessage(path: string, message: string): FieldError[] {
  if (message === "") return [];
  if (message.trim() === "") return [field.invalid(path, message, "must be non-empty if specified")];
  return /[\n\r]/.test(message.trim()) ? [field.invalid(path, message, "must not contain line breaks")] : [];
}

/** The key in the audit log is `<policy>/<key>`. */
function checkAuditAnnotations(
  policy: string,
  annotations: readonly Sent<AuditAnnotation>[],
  compiler: AdmissionCompiler,
): FieldError[] {
  const at = "spec.auditAnnotations";
  const errors: FieldError[] = [];
  if (annotations.length > MAX_AUDIT_ANNOTATIONS)
    errors.push(field.invalid(at, annotations, `must not have more than ${MAX_AUDIT_ANNOTATIONS} auditAnnotations`));
  const keys = new Set<string>();
  for (const [index, { key = "", valueExpression = "" }] of annotations.entries()) {
    errors.push(
      ...checkText(`${at}[${index}].key`, `${policy}/${key}`, labelKeyProblems),
      ...checkValueExpression(`${at}[${index}].valueExpression`, valueExpression, compiler),
    );
    if (keys.has(key)) errors.push(field.duplicate(`${at}[${index}].key`, key));
    keys.add(key);
  }
  return errors;
}

function checkValueExpression(path: string, text: string, compiler: AdmissionCompiler): FieldError[] {
  const expression = text.trim();
  if (expression === "") return [field.required(path, "valueExpression is not specified")];
  if (Buffer.byteLength(expression) > MAX_VALUE_EXPRESSION_BYTES)
    return [field.required(path, `must not exceed ${MAX_VALUE_EXPRESSION_BYTES} bytes in length`)];
  return expressionErrors(path, text, compiler.compile(expression, { returns: [STRING, NULL] }).problem);
}

function checkStatus({ typeChecking, conditions = [] }: Sent<ValidatingAdmissionPolicyStatus>): FieldError[] {
  const warnings = typeChecking?.expressionWarnings ?? [];
  return [
    ...warnings.flatMap((warning, index) =>
      checkExpressionWarning(`status.typeChecking.expressionWarnings[${index}]`, warning),
    ),
    ...checkConditions("status.conditions", conditions),
  ];
}

function checkExpressionWarning(at: string, { warning = "", fieldRef = "" }: Sent<ExpressionWarning>): FieldError[] {
  return [
    ...(warning === "" ? [field.required(`${at}.warning`)] : []),
    ...(fieldRef.trim() === "" ? [field.required(`${at}.fieldRef`)] : []),
  ];
}

export const rules: AnyAdmission[] = [
  builtInAdmission(ValidatingAdmissionPolicy, "admissionregistration-v1", {
    complete: (policy) => change(policy, "spec", completeSpec),
    validate(review) {
      const errors = checkPolicy(review);
      return errors.length > 0
        ? errors
        : checkParamKindAccess(review, review.object.spec?.paramKind, review.oldObject?.spec?.paramKind);
    },
    validateStatus: ({ object }) => checkStatus(object.status ?? {}),
    warnings: ({ object }) => nameWarnings(object),
  }),
];
