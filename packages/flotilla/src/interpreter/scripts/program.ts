/** The operations of a script: one function per operation of Karmada. */
import type { DeepReadonly, Json, JsonObject } from "@flotilla/base";
import type { Awaitable } from "@flotilla/kubernetes";
import type { CompiledScript, LuaBudget } from "@flotilla/lua";
import {
  aggregateStatusOrBare,
  getComponents,
  getDependencies,
  getReplicas,
  interpretHealth,
  reflectStatus,
  retain,
  reviseReplica,
} from "./operations.ts";
import type { LuaReplicas } from "./operations.ts";

export type LuaInput = DeepReadonly<JsonObject>;

/**
 * One script of a customization, ready to run. It runs in the process and returns synchronously until it has exceeded
 * its limits too often; from then on it runs in another thread and returns a promise. Inputs are not modified; results
 * share unchanged parts with them. Fails with `LuaRuntimeError`, `LuaLimitError` or `LuaResultError`.
 */
export interface LuaProgram {
  getReplicas(object: LuaInput): Awaitable<LuaReplicas>;
  /** Undefined if the script returns nil. */
  getComponents(object: LuaInput): Awaitable<Json | undefined>;
  reviseReplica(object: LuaInput, replicas: number): Awaitable<JsonObject>;
  retain(desired: LuaInput, observed: LuaInput): Awaitable<JsonObject>;
  /**
   * Absent `items` are nil to the script, which differs from an empty list. A script may return a bare status, which
   * has no `kind`.
   */
  aggregateStatus(object: LuaInput, items: readonly LuaInput[] | undefined): Awaitable<JsonObject>;
  interpretHealth(object: LuaInput): Awaitable<boolean>;
  reflectStatus(object: LuaInput): Awaitable<Json>;
  getDependencies(object: LuaInput): Awaitable<Json>;
}

export type ProgramFunction = keyof LuaProgram;
export type ProgramInput<F extends ProgramFunction> = Parameters<LuaProgram[F]>;
export type ProgramResult<F extends ProgramFunction> = Exclude<ReturnType<LuaProgram[F]>, Promise<unknown>>;

type Functions = {
  readonly [F in ProgramFunction]: (
    script: CompiledScript,
    input: ProgramInput<F>,
    budget: LuaBudget,
  ) => ProgramResult<F>;
};

const functions: Functions = {
  getReplicas: (script, [object], budget) => getReplicas(script, object, budget),
  getComponents: (script, [object], budget) => getComponents(script, object, budget),
  reviseReplica: (script, [object, replicas], budget) => reviseReplica(script, object, replicas, budget),
  retain: (script, [desired, observed], budget) => retain(script, desired, observed, budget),
  aggregateStatus: (script, [object, items], budget) => aggregateStatusOrBare(script, object, items, budget),
  interpretHealth: (script, [object], budget) => interpretHealth(script, object, budget),
  reflectStatus: (script, [object], budget) => reflectStatus(script, object, budget),
  getDependencies: (script, [object], budget) => getDependencies(script, object, budget),
};

/** Runs one function of a script in this thread. */
export function runFunction<F extends ProgramFunction>(
  script: CompiledScript,
  name: F,
  input: ProgramInput<F>,
  budget: LuaBudget,
): ProgramResult<F> {
  return functions[name](script, input, budget);
}

/** Runs one function of a program, in whichever thread its script runs. */
export type Invoke = <F extends ProgramFunction>(name: F, input: ProgramInput<F>) => Awaitable<ProgramResult<F>>;

export function createProgram(invoke: Invoke): LuaProgram {
  return {
    getReplicas: (...input) => invoke("getReplicas", input),
    getComponents: (...input) => invoke("getComponents", input),
    reviseReplica: (...input) => invoke("reviseReplica", input),
    retain: (...input) => invoke("retain", input),
    aggregateStatus: (...input) => invoke("aggregateStatus", input),
    interpretHealth: (...input) => invoke("interpretHealth", input),
    reflectStatus: (...input) => invoke("reflectStatus", input),
    getDependencies: (...input) => invoke("getDependencies", input),
  };
}
