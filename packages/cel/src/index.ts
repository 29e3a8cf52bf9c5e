export {
  clusterSelectorProblem,
  compileClusterSelector,
  compileConditionRule,
  createScoreLibrary,
} from "./cluster-expressions.ts";
export { compileCel } from "./compile.ts";
export type { CelBudget, CompiledValidations } from "./contract.ts";
export { checkValidationRules } from "./crd-rules.ts";
export { deviceSelectorProblem } from "./device-selector.ts";
export { dynamicValueOf } from "./dynamic-values.ts";
export { celValueOf } from "./json-values.ts";
export { search } from "./regex.ts";
export { declareSchemaType } from "./schema-type.ts";
export { parseDuration } from "./time.ts";
export { compileValidations } from "./validations.ts";
export { CelError, typeNameOf } from "./values.ts";
export type { CelValue } from "./values.ts";
