/** The patches that expressions of MutatingAdmissionPolicies return, as JSON. */
import type { Json, JsonObject } from "@flotilla/base";
import { setOwn } from "@flotilla/base";
import { describe, itemsOf, MessageValue } from "../values/collections.ts";
import { formatDuration, formatTimestamp } from "../values/time.ts";
import {
  CelDouble,
  CelDuration,
  CelError,
  CelList,
  CelMap,
  CelOptional,
  CelTimestamp,
  CelUint,
  type CelValue,
  typeNameOf,
} from "../values/values.ts";

/** A part of an object, from a value of type `Object`. */
export function patchObjectOf(value: CelValue): JsonObject | CelError {
  if (!(value instanceof MessageValue))
    return new CelError(`unsupported return type from ApplyConfiguration expression: ${typeNameOf(value)}`);
  return typeMismatch(value) ?? (jsonOf(value) as JsonObject | CelError);
}

/** The operations of a JSON patch, from a list of `JSONPatch`. */
export function jsonPatchOf(value: CelValue): JsonObject[] | CelError {
  if (!(value instanceof CelList)) return new CelError("type conversion error");
  const operations: JsonObject[] = [];
  for (const item of itemsOf(value)) {
    const operation = operationOf(item);
    if (operation instanceof CelError) return operation;
    operations.push(operation);
  }
  return operations;
}

function operationOf(item: CelValue): JsonObject | CelError {
  if (!(item instanceof MessageValue)) return new CelError("type conversion error");
  const set = item.find("value");
  const mismatch = set instanceof MessageValue ? typeMismatch(set) : undefined;
  const operation = mismatch ?? (jsonOf(item) as JsonObject | CelError);
  if (operation instanceof CelError && !mismatch)
    return new CelError(
      `JSONPath valueExpression evaluated to a type that could not marshal to JSON: ${operation.message}`,
    );
  return operation;
}

/** Objects are created with the name of their path, which the checker does not compare with the field. */
function typeMismatch(root: MessageValue): CelError | undefined {
  const visit = (value: CelValue, wanted: string): string | undefined => {
    if (value instanceof MessageValue) {
      if (value.typeName !== wanted)
        return (
          `unexpected type name ${JSON.stringify(value.typeName)}, expected ${JSON.stringify(wanted)}, which ` +
          "matches field name path from root Object type"
        );
      return first(value.keys(), (key) => visit(value.find(key) ?? null, `${wanted}.${describe(key)}`));
    }
    if (value instanceof CelList) return first(itemsOf(value), (item) => visit(item, wanted));
    if (value instanceof CelMap) return first(value.keys(), (key) => visit(value.find(key) ?? null, wanted));
    return undefined;
  };
  const problem = visit(root, root.typeName);
  return problem === undefined ? undefined : new CelError(`type mismatch: ${problem}`);
}

function first<T>(items: readonly T[], find: (item: T) => string | undefined): string | undefined {
  for (const item of items) {
    const found = find(item);
    if (found !== undefined) return found;
  }
  return undefined;
}

function jsonOf(value: CelValue): Json | CelError {
  if (value === null || typeof value === "boolean" || typeof value === "string" || typeof value === "number")
    return value;
  // Larger numbers have no exact form in JSON, and are text there.
  if (typeof value === "bigint") return String(value);
  if (value instanceof CelDouble) return value.value;
  if (value instanceof CelUint)
    return value.value <= Number.MAX_SAFE_INTEGER ? Number(value.value) : String(value.value);
  if (value instanceof Uint8Array) return Buffer.from(value).toString("base64");
  if (value instanceof CelTimestamp) return formatTimestamp(value);
  if (value instanceof CelDuration) return formatDuration(value);
  if (value instanceof CelOptional) return jsonOf(value.value ?? null);
  if (value instanceof CelList) return listJson(value);
  if (value instanceof CelMap) return mapJson(value);
  return value instanceof CelError
    ? value
    : new CelError(`unsupported conversion from ${typeNameOf(value)} to google.protobuf.Value`);
}

function listJson(list: CelList): Json[] | CelError {
  const result: Json[] = [];
  for (const item of itemsOf(list)) {
    const json = jsonOf(item);
    if (json instanceof CelError) return json;
    result.push(json);
  }
  return result;
}

function mapJson(map: CelMap): JsonObject | CelError {
  const result: JsonObject = {};
  for (const key of map.keys()) {
    const name = jsonOf(key);
    const json = jsonOf(map.find(key) ?? null);
    if (json instanceof CelError) return json;
    if (name instanceof CelError || typeof name === "object") return new CelError("a key of a map is not a scalar");
    setOwn(result, String(name), json);
  }
  return result;
}
