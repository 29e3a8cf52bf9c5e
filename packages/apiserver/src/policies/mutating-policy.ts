/** A compiled MutatingAdmissionPolicy: what it makes of one object, with one parameter. Pure. */
import { ApiError, applyJsonPatch, mergeConfiguration } from "@flotilla/apimachinery";
import type { MergeResult, Schema } from "@flotilla/apimachinery";
import type { MutatingAdmissionPolicySpec, Mutation } from "@flotilla/apimachinery/facts/admissionregistration-v1.ts";
import { isObject } from "@flotilla/base";
import type { DeepReadonly, Json, JsonObject } from "@flotilla/base";
import {
  AdmissionCompiler,
  CelError,
  compileMatchConditions,
  JSON_PATCH,
  jsonPatchOf,
  listOf,
  MAX_POLICY_COST,
  PATCH_OBJECT,
  patchObjectOf,
} from "@flotilla/cel";
import type { AdmissionInput, CelValue, CompiledAdmissionExpression, MatchConditions } from "@flotilla/cel";

/** How parts of the object are merged. */
export interface ObjectType {
  readonly schema: Schema;
  readonly builtIn: boolean;
}

export interface MutatingPolicy {
  readonly isReinvocable: boolean;
  readonly conditions: MatchConditions;
  /** In the order in which they are applied. Each sees what those before it changed. */
  readonly mutations: readonly ((input: AdmissionInput, object: JsonObject, type: ObjectType) => MergeResult)[];
}

export function compileMutatingPolicy(spec: DeepReadonly<MutatingAdmissionPolicySpec>): MutatingPolicy {
  const { variables = [], matchConditions = [], mutations = [] } = spec;
  const hasParams = spec.paramKind !== undefined;
  const compiler = new AdmissionCompiler({ hasParams, hasVariables: true });
  for (const { name, expression } of variables) compiler.addVariable(name, expression);
  return {
    isReinvocable: spec.reinvocationPolicy === "IfNeeded",
    conditions: compileMatchConditions(matchConditions, { hasParams }),
    mutations: mutations.map((mutation) => compileMutation(compiler, mutation)),
  };
}

function compileMutation(
  compiler: AdmissionCompiler,
  { patchType, jsonPatch, applyConfiguration }: DeepReadonly<Mutation>,
): MutatingPolicy["mutations"][number] {
  const isJsonPatch = patchType === "JSONPatch";
  const text = (isJsonPatch ? jsonPatch : applyConfiguration)?.expression ?? "";
  const compiled = compiler.compile(text.trim(), {
    returns: [isJsonPatch ? listOf(JSON_PATCH) : PATCH_OBJECT],
    hasPatchTypes: true,
  });
  return (input, object, type) => {
    const value = evaluate(compiler, compiled, input);
    if (value instanceof CelError) return { problem: value.message };
    return isJsonPatch ? patchBy(object, value) : mergeBy(object, value, type);
  };
}

/** Each mutation has a budget of its own. */
function evaluate(
  compiler: AdmissionCompiler,
  { expression, problem }: CompiledAdmissionExpression,
  input: AdmissionInput,
): CelValue {
  return expression
    ? expression.evaluate(compiler.bind(input), { remaining: MAX_POLICY_COST })
    : new CelError(`compilation error: ${problem.detail}`);
}

function mergeBy(object: JsonObject, value: CelValue, type: ObjectType): MergeResult {
  const applied = patchObjectOf(value);
  if (applied instanceof CelError) return { problem: applied.message };
  const merged = mergeConfiguration(object, applied, type);
  return merged.object ? merged : { problem: `error applying patch: ${merged.problem}` };
}

function patchBy(object: JsonObject, value: CelValue): MergeResult {
  const operations = jsonPatchOf(value);
  if (operations instanceof CelError) return { problem: operations.message };
  let result: Json = object;
  for (const operation of operations)
    try {
      result = applyJsonPatch(result, [operation]);
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      // A test that fails means that the patch is not for this object.
      return operation.op === "test" ? { object } : { problem: `JSON Patch: ${error.message}` };
    }
  return isObject(result) ? { object: result } : { problem: "JSON Patch: the result is not an object" };
}
