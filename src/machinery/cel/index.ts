export { compileCel } from "./compile.ts";
export type { CompiledValidations } from "./contract.ts";
export { deviceSelectorProblem, type DeviceSelectorProblem } from "./device-selector.ts";
export { checkValidationRules } from "./definition-rules.ts";
export { celValueOf } from "./json-values.ts";
export { declareSchemaType } from "./schema-type.ts";
export { compileValidations } from "./validations.ts";
export { CelError } from "./values.ts";
