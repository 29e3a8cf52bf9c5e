export { ACCESS_REVIEW_SPEC } from "./kubernetes/access-review.ts";
export { AdmissionCompiler, MAX_POLICY_COST } from "./kubernetes/admission-expressions.ts";
export type {
  AdmissionBindings,
  AdmissionExpressionProblem,
  CompiledAdmissionExpression,
} from "./kubernetes/admission-expressions.ts";
export type { AdmissionInput, AdmissionRequestFields } from "./kubernetes/admission-types.ts";
export { ArrayList } from "./values/collections.ts";
export { compileCel } from "./compile/compile.ts";
export type { CelBudget, CompileCelResult, CompiledValidations } from "./types/contract.ts";
export { checkValidationRules } from "./kubernetes/crd-rules.ts";
export { deviceSelectorProblem } from "./kubernetes/device-selector.ts";
export { dynamicValueOf, parsedValueOf } from "./values/dynamic-values.ts";
export type { Row } from "./types/functions.ts";
export { celValueOf } from "./compile/json-values.ts";
export { compileMatchConditions } from "./kubernetes/match-conditions.ts";
export type { MatchConditions } from "./kubernetes/match-conditions.ts";
export { JSON_PATCH, PATCH_OBJECT } from "./kubernetes/patch-types.ts";
export { jsonPatchOf, patchObjectOf } from "./kubernetes/patch-values.ts";
export { search } from "./values/regex.ts";
export { declareSchemaType } from "./kubernetes/schema-type.ts";
export { parseDuration } from "./values/time.ts";
export { BOOL, DYN, formatType, listOf, mapOf, NULL, STRING } from "./types/types.ts";
export { compileValidations } from "./kubernetes/validations.ts";
export { CelError, CelList, CelMap, NO_SUCH_OVERLOAD, typeNameOf } from "./values/values.ts";
export type { CelValue } from "./values/values.ts";
