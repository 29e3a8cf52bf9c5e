export { DEFAULT_BUDGET } from "./budget.ts";
export type { LuaBudget } from "./budget.ts";
export { EncodeError } from "./encode.ts";
export { createLuaEngine } from "./engine.ts";
export type { LuaEngine, ScriptOwner } from "./engine.ts";
export { LuaLimitError, LuaRuntimeError, LuaSyntaxError } from "./errors.ts";
export { DISABLED_FUNCTIONS } from "./library/base.ts";
export { LIBRARY_NAMES, libraryHas } from "./library/globals.ts";
export {
  LuaResultError,
  aggregateStatus,
  getComponents,
  getDependencies,
  getReplicas,
  interpretHealth,
  reflectStatus,
  retain,
  reviseReplica,
} from "./operations.ts";
export type { LuaReplicas } from "./operations.ts";
export type { LuaInput, LuaProgram } from "./program.ts";
export { withoutEmpties, withoutNulls } from "./result-rules.ts";
export { scriptMetrics } from "./script-metrics.ts";
export { compileKubeScript } from "./kube-script.ts";
export type { CompiledScript, LuaResult } from "./script.ts";
