export { compileCel } from "./compile.ts";
export type { CelBudget, CelCost, CelProgram, CompileCelOptions, CompileCelResult, CompiledValidations, ValidationOutcome, ValidationRuleErrors } from "./contract.ts";
export { type CheckRulesOptions, checkValidationRules } from "./definition-rules.ts";
export { MAX_CALL_COST } from "./frame.ts";
export { celValueOf } from "./json-values.ts";
export { declareSchemaType, type DeclareSchemaOptions } from "./schema-type.ts";
export type { CelType } from "./types.ts";
export { compileValidations, MAX_OBJECT_COST } from "./validations.ts";
export { CelError, type CelValue } from "./values.ts";
