export { ACCESS_REVIEW_SPEC } from "./access-review.ts";
export { AdmissionCompiler, MAX_POLICY_COST } from "./admission-expressions.ts";
export type {
  AdmissionBindings,
  AdmissionExpressionProblem,
  CompiledAdmissionExpression,
} from "./admission-expressions.ts";
export type { AdmissionInput, AdmissionRequestFields } from "./admission-types.ts";
export { ArrayList } from "./collections.ts";
export { compileCel } from "./compile.ts";
export type { CelBudget, CompileCelResult, CompiledValidations } from "./contract.ts";
export { checkValidationRules } from "./crd-rules.ts";
export { deviceSelectorProblem } from "./device-selector.ts";
export { dynamicValueOf, parsedValueOf } from "./dynamic-values.ts";
export type { Row } from "./functions.ts";
export { celValueOf } from "./json-values.ts";
export { compileMatchConditions } from "./match-conditions.ts";
export type { MatchConditions } from "./match-conditions.ts";
export { JSON_PATCH, PATCH_OBJECT } from "./patch-types.ts";
export { jsonPatchOf, patchObjectOf } from "./patch-values.ts";
export { search } from "./regex.ts";
export { declareSchemaType } from "./schema-type.ts";
export { parseDuration } from "./time.ts";
export { BOOL, DYN, formatType, listOf, mapOf, NULL, STRING } from "./types.ts";
export { compileValidations } from "./validations.ts";
export { CelError, CelList, CelMap, NO_SUCH_OVERLOAD, typeNameOf } from "./values.ts";
export type { CelValue } from "./values.ts";
