/**
 * Decodes JSON into the shape of a Go struct as `encoding/json` does: unknown fields are dropped, a wrong type is an
 * error.
 */
import { isObject, setOwn } from "@flotilla/base";
import type { Json, JsonObject } from "@flotilla/base";
import { formatQuantity, quantityProblem, tryParseQuantity } from "@flotilla/apimachinery";

export type GoShape =
  | "any"
  | "string"
  | "int32"
  | "quantity"
  | { map: GoShape }
  /** `of` is Go's name of the type. */
  | { list: GoShape; of: string }
  /** `name` includes the package; `always` are fields that are written even when they were not set. */
  | { name: string; fields: Record<string, GoShape>; always?: JsonObject };

export type Decoded = { value: Json } | { problem: string };

/** `place` is the name of the value in messages: a type, or a field of a struct. */
export function decodeGo(json: Json, shape: GoShape, place?: string): Decoded {
  if (shape === "any") return { value: json };
  if (shape === "string") return typeof json === "string" ? { value: json } : wrong(json, place, "string");
  if (shape === "int32") {
    if (typeof json !== "number") return wrong(json, place, "int32");
    return Number.isInteger(json) && Math.abs(json) < 2 ** 31
      ? { value: json }
      : { problem: `json: cannot unmarshal number ${json} into ${place} of type int32` };
  }
  if (shape === "quantity") {
    if (typeof json !== "string" && typeof json !== "number") return wrong(json, place, "resource.Quantity");
    // Parsing and formatting makes a quantity canonical.
    const quantity = tryParseQuantity(json);
    return quantity ? { value: formatQuantity(quantity) } : { problem: quantityProblem(String(json)) };
  }
  if ("list" in shape) return decodeList(json, shape, place);
  if ("map" in shape)
    return isObject(json)
      ? decodeFields(json, Object.keys(json), () => shape.map, place, {})
      : wrong(json, place, "map");
  if (!isObject(json)) return wrong(json, place, shape.name);
  const known = Object.keys(shape.fields).filter((key) => Object.hasOwn(json, key));
  return decodeFields(
    json,
    known,
    (key) => shape.fields[key] ?? "any",
    `Go struct field ${shape.name.slice(shape.name.indexOf(".") + 1)}`,
    shape.always ?? {},
  );
}

function decodeList(json: Json, shape: { list: GoShape; of: string }, place: string | undefined): Decoded {
  if (!Array.isArray(json)) return wrong(json, place, shape.of);
  const list: Json[] = [];
  for (const item of json) {
    const decoded = decodeGo(item, shape.list, place);
    if ("problem" in decoded) return decoded;
    list.push(decoded.value);
  }
  return { value: list };
}

function decodeFields(
  json: JsonObject,
  keys: readonly string[],
  shapeOf: (key: string) => GoShape,
  place: string | undefined,
  start: JsonObject,
): Decoded {
  const decodedFields: JsonObject = { ...start };
  for (const key of keys) {
    const shape = shapeOf(key);
    const decoded = decodeGo(json[key] ?? null, shape, place === undefined ? undefined : `${place}.${key}`);
    if ("problem" in decoded) return decoded;
    setOwn(decodedFields, key, decoded.value);
  }
  return { value: decodedFields };
}

function wrong(json: Json, place: string | undefined, type: string): Decoded {
  const found =
    json === null ? "null" : Array.isArray(json) ? "array" : typeof json === "boolean" ? "bool" : typeof json;
  return { problem: `json: cannot unmarshal ${found} into ${place ?? "Go value"} of type ${type}` };
}
