/** Runs one recorded case of `lua-semantics` and says what came out, in the recording's own form. */
import type { Json, JsonObject } from "../../base/index.ts";
import { toBytes } from "./byte-text.ts";
import { EncodeError } from "./encode.ts";
import { LuaLimitError, LuaRuntimeError, LuaSyntaxError } from "./errors.ts";
import { LuaResultError, aggregateStatus, getComponents, getDependencies, getReplicas, interpretHealth, reflectStatus, retain, reviseReplica } from "./operations.ts";
import { withoutEmpties, withoutNulls } from "./result-rules.ts";
import { compileScript } from "./script.ts";
import type { CompiledScript, LuaResult } from "./script.ts";

export interface GoldenInput {
  operation: string;
  script: string;
  function: string;
  args?: Json[];
  results?: number;
  steps?: GoldenInput[];
  object: JsonObject;
  desired: JsonObject;
  observed: JsonObject;
  replicas: number;
  items?: JsonObject[];
}

export function runGoldenCase(input: GoldenInput): Json {
  if (input.operation === "Sequence") return { steps: (input.steps ?? []).map((step) => attempt(() => call(step))) };
  return attempt(() => (input.operation === "Call" ? call(input) : operate(input)));
}

function attempt(run: () => Json): Json {
  try {
    return run();
  } catch (error) {
    const isExpected = error instanceof LuaSyntaxError || error instanceof LuaRuntimeError || error instanceof LuaLimitError || error instanceof LuaResultError;
    if (isExpected) return { error: error.message };
    throw error;
  }
}

function call({ script, function: name, args = [], results = 1 }: GoldenInput): Json {
  const returned = compileScript(script).call(name, args.map(withoutNulls));
  return { results: Array.from({ length: results }, (_, index) => typedValue(returned[index])) };
}

function typedValue(result: LuaResult | undefined): Json {
  if (result === undefined) return { type: "nil" };
  switch (result.type) {
    case "nil":
      return { type: "nil" };
    case "boolean":
      return { type: "boolean", value: result.json() ?? null };
    case "number":
      return { type: "number", text: result.text };
    case "string":
      return result.text.isWellFormed() ? { type: "string", value: result.text } : { type: "string", hex: Buffer.from(toBytes(result.text), "latin1").toString("hex") };
    case "table":
      try {
        const json = withoutEmpties(result.json() ?? []);
        return { type: "table", json: isEmptyObject(json) && result.json() === json ? [] : json };
      } catch (error) {
        if (error instanceof EncodeError) return { type: "table", error: error.message };
        throw error;
      }
    default:
      return { type: result.type };
  }
}

/** The recorder asked for a value of no type, so an empty table was always an empty list. */
const isEmptyObject = (json: Json): boolean => typeof json === "object" && json !== null && Object.keys(json).length === 0;

function operate(input: GoldenInput): Json {
  const script: CompiledScript = compileScript(input.script);
  const object = input.object && (withoutNulls(input.object) as JsonObject);
  switch (input.operation) {
    case "InterpretReplica": {
      const { replicas, requirements } = getReplicas(script, object);
      return { replicas, requirements: requirements ?? null };
    }
    case "InterpretComponent":
      return { components: getComponents(script, object) ?? null };
    case "ReviseReplica":
      return { object: reviseReplica(script, object, input.replicas) };
    case "Retain":
      return { object: retain(script, withoutNulls(input.desired) as JsonObject, withoutNulls(input.observed) as JsonObject) };
    case "AggregateStatus":
      return { object: aggregateStatus(script, object, input.items?.map((item) => shownItem(item))) };
    case "InterpretHealth":
      return { healthy: interpretHealth(script, object) };
    case "InterpretStatus":
      return { status: reflectStatus(script, object) };
    case "InterpretDependency":
      return { dependencies: getDependencies(script, object) };
    default:
      throw new TypeError(`unknown operation ${input.operation}`);
  }
}

/** Fields with their zero value are not there for a script. */
function shownItem(item: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(withoutNulls(item) as JsonObject).filter(([key, value]) => key === "clusterName" || (value !== false && value !== "")));
}
