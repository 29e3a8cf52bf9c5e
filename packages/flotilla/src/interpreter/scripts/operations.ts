/**
 * Karmada's interpreter operations on a script: which function is called with which arguments, and which results are
 * valid. Messages are Karmada's.
 */
import { FlotillaError, isObject } from "@flotilla/base";
import type { DeepReadonly, Json, JsonObject } from "@flotilla/base";
import { EncodeError, LuaLimitError, LuaRuntimeError } from "@flotilla/lua";
import type { CompiledScript, LuaBudget, LuaResult } from "@flotilla/lua";
import { decodeGo } from "./go-decode.ts";
import type { GoShape } from "./go-decode.ts";
import { emptiesAsIn, withoutEmpties } from "./result-rules.ts";

type Input = DeepReadonly<JsonObject>;

/** A script ran but returned an invalid result. */
export class LuaResultError extends FlotillaError {
  constructor(message: string, options?: ErrorOptions) {
    super("LuaResult", message, options);
  }
}

/** Upstream's messages contain the number of a type. */
const TYPE_NUMBERS = { nil: 0, boolean: 1, number: 2, string: 3, function: 4, table: 7 } as const;

const quantities: GoShape = { map: "quantity" };
const requirements: GoShape = {
  name: "v1alpha2.ReplicaRequirements",
  fields: {
    nodeClaim: {
      name: "v1alpha2.NodeClaim",
      fields: {
        hardNodeAffinity: "any",
        nodeSelector: { map: "string" },
        tolerations: { list: "any", of: "[]v1.Toleration" },
      },
    },
    resourceRequest: quantities,
    namespace: "string",
    priorityClassName: "string",
  },
};
const component: GoShape = {
  name: "v1alpha2.Component",
  fields: {
    name: "string",
    replicas: "int32",
    replicaRequirements: { ...requirements, name: "v1alpha2.ComponentReplicaRequirements" },
  },
  always: { name: "", replicas: 0 },
};
const dependency: GoShape = {
  name: "v1alpha1.DependentObjectReference",
  fields: { apiVersion: "string", kind: "string", namespace: "string", name: "string", labelSelector: "any" },
  always: { apiVersion: "", kind: "" },
};

export interface LuaReplicas {
  replicas: number;
  requirements: Json | undefined;
}

export function getReplicas(script: CompiledScript, object: Input, budget?: LuaBudget): LuaReplicas {
  const [count, requires] = script.call("GetReplicas", [object], budget);
  if (count?.type !== "number") throw new LuaResultError(`result type ${typeNumber(count)} is not number`);
  return {
    replicas: toInt32(count.json() as number),
    requirements: isNil(requires) ? undefined : typed(requires, requirements),
  };
}

export function getComponents(script: CompiledScript, object: Input, budget?: LuaBudget): Json | undefined {
  const [components] = run("failed to run 'GetComponents' script", () =>
    script.call("GetComponents", [object], budget),
  );
  if (isNil(components)) return undefined;
  if (components?.type !== "table")
    throw new LuaResultError(`expected result type 'table' or 'nil' from GetComponents, but got '${components?.type}'`);
  return run("failed to convert lua table for components", () =>
    typed(components, { list: component, of: "[]v1alpha2.Component" }),
  );
}

export function reviseReplica(script: CompiledScript, object: Input, replicas: number, budget?: LuaBudget): JsonObject {
  const [revised] = script.call("ReviseReplica", [object, replicas], budget);
  return wholeObject(revised, [object]);
}

export function retain(script: CompiledScript, desired: Input, observed: Input, budget?: LuaBudget): JsonObject {
  const [retained] = script.call("Retain", [desired, observed], budget);
  return wholeObject(retained, [desired, observed]);
}

/** Absent `items` are nil to the script, which differs from an empty list. */
export function aggregateStatus(
  script: CompiledScript,
  object: Input,
  items: readonly Input[] | undefined,
  budget?: LuaBudget,
): JsonObject {
  const [aggregated] = script.call("AggregateStatus", [object, items], budget);
  return wholeObject(aggregated);
}

/**
 * As above, for a script that returns a bare status, as many users write it: anything non-empty without top-level
 * object fields. It is returned unchanged; everything else must be a whole object.
 */
export function aggregateStatusOrBare(
  script: CompiledScript,
  object: Input,
  items: readonly Input[] | undefined,
  budget?: LuaBudget,
): JsonObject {
  const [aggregated] = script.call("AggregateStatus", [object, items], budget);
  const json = anyObject(aggregated);
  return isBareStatus(json) ? json : requireKind(json);
}

const OBJECT_FIELDS = ["apiVersion", "kind", "metadata", "spec", "status"];

function isBareStatus(json: JsonObject): boolean {
  return Object.keys(json).length > 0 && !OBJECT_FIELDS.some((field) => Object.hasOwn(json, field));
}

export function interpretHealth(script: CompiledScript, object: Input, budget?: LuaBudget): boolean {
  const [health] = script.call("InterpretHealth", [object], budget);
  if (health?.type !== "boolean") throw new LuaResultError(`result type ${typeNumber(health)} is not bool`);
  return health.json() === true;
}

export function reflectStatus(script: CompiledScript, object: Input, budget?: LuaBudget): Json {
  const [status] = script.call("ReflectStatus", [object], budget);
  if (status?.type !== "table")
    throw new LuaResultError(`expect the returned replica type is table but got ${status?.type ?? "nil"}`);
  return emptyRootAs({}, plain(status));
}

export function getDependencies(script: CompiledScript, object: Input, budget?: LuaBudget): Json {
  const [dependencies] = script.call("GetDependencies", [object], budget);
  return typed(dependencies, { list: dependency, of: "[]v1alpha1.DependentObjectReference" });
}

const isNil = (result: LuaResult | undefined): boolean => result === undefined || result.type === "nil";
const typeNumber = (result: LuaResult | undefined): number => TYPE_NUMBERS[result?.type ?? "nil"];
/** As Go converts a float: the fraction is truncated, and a number that does not fit becomes the smallest. */
const toInt32 = (value: number): number => (Math.abs(Math.trunc(value)) < 2 ** 31 ? Math.trunc(value) : -(2 ** 31));

/** Adds the current action to an error of the script or its result. */
function run<T>(doing: string, act: () => T): T {
  try {
    return act();
  } catch (error) {
    if (error instanceof LuaRuntimeError) throw new LuaRuntimeError(`${doing}: ${error.message}`, { cause: error });
    if (error instanceof LuaLimitError)
      throw new LuaLimitError(error.limit, `${doing}: ${error.message}`, { cause: error });
    if (error instanceof LuaResultError) throw new LuaResultError(`${doing}: ${error.message}`, { cause: error });
    throw error;
  }
}

/** A table as JSON, with empty values as in the references, or without any. */
function plain(result: LuaResult, references?: readonly Input[]): Json {
  try {
    if (references) return result.json(emptiesAsIn(references as Json[])) ?? [];
    return withoutEmpties(result.json() ?? []);
  } catch (error) {
    if (error instanceof EncodeError) throw new LuaResultError(error.message, { cause: error });
    throw error;
  }
}

const emptyRootAs = (empty: Json, json: Json): Json => (Array.isArray(json) && json.length === 0 ? empty : json);

const wholeObject = (result: LuaResult | undefined, references?: readonly Input[]): JsonObject =>
  requireKind(anyObject(result, references));

function anyObject(result: LuaResult | undefined, references?: readonly Input[]): JsonObject {
  if (result?.type !== "table")
    throw new LuaResultError(`expect the returned requires type is table but got ${result?.type ?? "nil"}`);
  const json = emptyRootAs({}, plain(result, references));
  if (!isObject(json))
    throw new LuaResultError(
      "json unmarshal obj failed: json: cannot unmarshal array into Go value of type map[string]interface {}",
    );
  return json;
}

function requireKind(json: JsonObject): JsonObject {
  if (typeof json["kind"] !== "string" || json["kind"] === "")
    throw new LuaResultError(
      `json unmarshal obj failed: Object 'Kind' is missing in '${JSON.stringify(sorted(json))}'`,
    );
  return json;
}

function typed(result: LuaResult | undefined, shape: GoShape): Json {
  if (result?.type !== "table")
    throw new LuaResultError(`expect the returned requires type is table but got ${result?.type ?? "nil"}`);
  const json = plain(result);
  const isStruct = typeof shape === "object" && "fields" in shape;
  const decoded = decodeGo(isStruct ? emptyRootAs({}, json) : json, shape);
  if ("problem" in decoded) throw new LuaResultError(`json unmarshal obj failed: ${decoded.problem}`);
  return decoded.value;
}

/** With sorted keys, as Go writes maps. */
function sorted(json: Json): Json {
  if (Array.isArray(json)) return json.map(sorted);
  if (!isObject(json)) return json;
  return Object.fromEntries(
    Object.entries(json)
      .toSorted(([a], [b]) => (a < b ? -1 : 1))
      .map(([key, value]) => [key, sorted(value)]),
  );
}
