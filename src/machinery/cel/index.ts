export { compileCel } from "./compile.ts";
export type { CelBudget, CompiledValidations } from "./contract.ts";
export {
  clusterSelectorProblem,
  compileClusterSelector,
  compileConditionRule,
  createScoreLibrary,
} from "./cluster-expressions.ts";
export { dynamicValueOf } from "./dynamic-values.ts";
export { deviceSelectorProblem } from "./device-selector.ts";
export { checkValidationRules } from "./crd-rules.ts";
export { celValueOf } from "./json-values.ts";
export { declareSchemaType } from "./schema-type.ts";
export { compileValidations } from "./validations.ts";
export { CelError, typeNameOf, type CelValue } from "./values.ts";
