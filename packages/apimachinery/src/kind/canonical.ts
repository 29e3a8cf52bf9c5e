/**
 * Converts an object of a built-in kind to the form in which a Kubernetes API server stores and returns it.
 *
 * In Kubernetes every object passes through a Go struct: nulls and empty optional fields are dropped, structs are
 * written even when they are empty (`resources: {}`), quantities and times are normalized, and a value of the wrong
 * type is rejected at once. Controllers compare what they read with the desired state, so a server that keeps
 * `minReadySeconds: 0` or `1000m` makes them write forever. The fact tables define the behaviour of each field.
 */
import { isObject, setOwn, type DeepReadonly, type Json, type JsonObject, ownOf } from "@flotilla/base";
import { formatQuantity, quantityProblem, tryParseQuantity } from "../quantity.ts";
import { jsonTypeName } from "../patch/patch-errors.ts";
import { timeProblem } from "../exact/go-time.ts";
import { undecodable } from "../text/decode-error.ts";
import { structOf, type FactField, type FactStruct, type FactType, type Leaf } from "./facts.ts";
import { parseApiVersion, type KubernetesObject } from "./meta.ts";

/**
 * Returns the object itself when it is already canonical. Fields that the kind does not have are left unchanged. Throws
 * 400 for a value of the wrong type, so callers can rely on the types of known fields. Parts that are identical in
 * `settled`, which is canonical, are not checked again.
 */
export function canonicalObject<T extends KubernetesObject>(
  table: string,
  name: string,
  object: DeepReadonly<T>,
  settled?: DeepReadonly<T>,
): DeepReadonly<T> {
  const { apiVersion } = object as DeepReadonly<KubernetesObject>;
  return explained(name, apiVersion, () =>
    canonicalStruct(structOf(table, name), object as unknown as JsonObject, "root", settled as unknown as JsonObject),
  ) as unknown as DeepReadonly<T>;
}

/** The same for a part of an object, such as the pod template of a custom kind. */
export function canonicalPart(
  table: string,
  name: string,
  value: JsonObject,
  { apiVersion, kind }: { readonly apiVersion: string; readonly kind: string },
): JsonObject {
  return explained(kind, apiVersion, () => canonicalStruct(structOf(table, name), value, "inside", undefined));
}

/**
 * The same for callers that word the rejection themselves: a webhook receives the decoding error and denies the request
 * in its own name.
 */
export function decodedPart(
  table: string,
  name: string,
  value: JsonObject,
  refusal: (problem: string) => Error,
  settled?: JsonObject,
): JsonObject {
  try {
    return canonicalStruct(structOf(table, name), value, "inside", settled);
  } catch (error) {
    throw error instanceof WrongTypeError ? refusal(error.problem) : error;
  }
}

/**
 * Decodes the metadata of an object as its kind does, before the server replaces some of its fields. Throws 400 for a
 * value of the wrong type.
 */
export function checkMetadata(
  metadata: Json,
  { apiVersion, kind }: { readonly apiVersion: string; readonly kind: string },
): void {
  explained(kind, apiVersion, () => canonicalStruct(metadataHolder(kind), { metadata }, "inside", undefined));
}

/** A struct with the kind's name that has only metadata. */
function metadataHolder(name: string): FactStruct {
  const field: FactField = {
    name: "metadata",
    number: 1,
    type: { shape: "struct", struct: structOf("meta-v1", "ObjectMeta"), pointer: false },
    optional: true,
    always: true,
  };
  return { table: "meta-v1", name, fields: [field], flat: new Map([["metadata", field]]), schema: {} };
}

/** Go's decoder reports the struct the field is in and the path to it: `PodSpec.spec.containers`. */
class WrongTypeError extends Error {
  /** The struct that holds the value; empty until the first struct while unwinding. */
  struct = "";
  /** Field names, starting at the outermost struct. */
  readonly path: string[] = [];
  /** The Go type of the value; unset when a type with a custom decoder rejected it. */
  readonly type: string | undefined;

  constructor(message: string, type?: string) {
    super(message);
    this.type = type;
  }

  get problem(): string {
    return this.type === undefined
      ? this.message
      : `json: cannot unmarshal ${this.message} into Go struct field ${this.struct}.${this.path.join(".")} of type ${this.type}`;
  }
}

function explained(kind: string, apiVersion: string, work: () => JsonObject): JsonObject {
  try {
    return work();
  } catch (error) {
    if (!(error instanceof WrongTypeError)) throw error;
    throw undecodable({ sent: kind, version: parseApiVersion(apiVersion).version, kind }, error.problem);
  }
}

/**
 * Where missing required fields get their zero value: at the root and in the status. Elsewhere their absence is an
 * error to report.
 */
type Place = "root" | "status" | "inside";

function canonicalStruct(struct: FactStruct, value: JsonObject, place: Place, settled: Json | undefined): JsonObject {
  const { flat } = struct;
  let result = value;
  const own = (): JsonObject => (result === value ? (result = { ...value }) : result);
  for (const key of Object.keys(value)) {
    const field = flat.get(key);
    if (!field) continue;
    const before = value[key] ?? null;
    const known = settled === undefined ? undefined : ownOf(settled, key);
    if (before === known && before !== null) continue;
    const after = before === null ? null : canonicalField(struct, field, before, placeOf(place, key), known);
    if (after === null || isOmitted(field, after, place)) delete own()[key];
    else if (after !== before) own()[key] = after;
  }
  for (const field of alwaysWritten(struct)) {
    if (result[field.name] !== undefined) continue;
    if (field.type.shape === "struct")
      own()[field.name] = canonicalStruct(field.type.struct, {}, placeOf(place, field.name), undefined);
    else if (place !== "inside" || field.optional || isOpenText(struct, field)) own()[field.name] = zeroOf(field.type);
  }
  return result;
}

const placeOf = (place: Place, key: string): Place =>
  place === "status" || (place === "root" && key === "status") ? "status" : "inside";

function canonicalField(
  struct: FactStruct,
  field: FactField,
  value: Json,
  place: Place,
  settled: Json | undefined,
): Json {
  try {
    return canonicalValue(field.type, value, place, settled);
  } catch (error) {
    if (error instanceof WrongTypeError) {
      if (error.struct === "") error.struct = struct.name;
      error.path.unshift(field.name);
    }
    throw error;
  }
}

function canonicalValue(type: FactType, value: Json, place: Place, settled: Json | undefined): Json {
  if (type.shape === "leaf") return canonicalLeaf(type.leaf, value);
  if (type.shape === "struct") {
    const object = isObject(value) ? value : refuse(type, value);
    if (type.struct.name === "PodTemplateSpec" && place === "inside")
      return canonicalTemplate(type.struct, object, settled);
    return canonicalStruct(type.struct, object, place, settled);
  }
  if (type.shape === "list")
    return canonicalList(type.of, Array.isArray(value) ? value : refuse(type, value), place, settled);
  return canonicalMap(type.of, isObject(value) ? value : refuse(type, value), place, settled);
}

/** A template is shared by the objects of a workload on the hub and on its members, and is decoded for each of them. */
const canonicalTemplates = new WeakSet<JsonObject>();

function canonicalTemplate(struct: FactStruct, template: JsonObject, settled: Json | undefined): JsonObject {
  if (canonicalTemplates.has(template)) return template;
  const after = canonicalStruct(struct, template, "inside", settled);
  canonicalTemplates.add(after);
  return after;
}

function canonicalList(of: FactType, list: Json[], place: Place, settled: Json | undefined): Json[] {
  let items: Json[] | undefined;
  for (let index = 0; index < list.length; index++) {
    const before = list[index] as Json;
    const after = canonicalItem(of, before, place, Array.isArray(settled) ? settled[index] : undefined);
    if (after !== before) (items ??= [...list])[index] = after;
  }
  return items ?? list;
}

function canonicalMap(of: FactType, map: JsonObject, place: Place, settled: Json | undefined): JsonObject {
  let result = map;
  for (const key of Object.keys(map)) {
    const before = map[key] ?? null;
    const after = canonicalItem(of, before, place, settled === undefined ? undefined : ownOf(settled, key));
    // A null without a zero value counts as absent: pruning would remove it and leave an empty map behind.
    if (after === before && after !== null) continue;
    if (result === map) result = { ...map };
    if (after === null) Reflect.deleteProperty(result, key);
    else setOwn(result, key, after);
  }
  return result;
}

function canonicalItem(of: FactType, value: Json, place: Place, settled: Json | undefined): Json {
  if (value !== null) return value === settled ? value : canonicalValue(of, value, place, settled);
  // Inside lists and maps, null is the zero value of the item.
  return of.shape === "struct" ? canonicalStruct(of.struct, {}, place, undefined) : zeroOf(of);
}

function refuse(type: FactType | Leaf, value: Json): never {
  const isNumber = (type === "int32" || type === "int64") && typeof value === "number";
  throw new WrongTypeError(
    isNumber ? `number ${String(value)}` : jsonTypeName(value),
    typeof type === "string" ? LEAF_TYPES[type] : goType(type),
  );
}

const LEAF_TYPES: Readonly<Partial<Record<Leaf, string>>> = {
  string: "string",
  bool: "bool",
  int32: "int32",
  int64: "int64",
  float64: "float64",
  bytes: "[]uint8",
};

function goType(type: FactType): string {
  if (type.shape === "leaf") return LEAF_TYPES[type.leaf] ?? type.leaf;
  if (type.shape === "struct")
    return `${type.struct.table.slice(type.struct.table.lastIndexOf("-") + 1)}.${type.struct.name}`;
  return `${type.shape === "list" ? "[]" : "map[string]"}${goType(type.of)}`;
}

/**
 * Reports the position where the text stops being base64. The text is often a secret that a user forgot to encode, so
 * it is not repeated.
 */
function rejectBase64(value: string): never {
  const plain = value.replaceAll(/[\r\n]/g, "");
  const good = /^(?:[A-Za-z0-9+/]{4})*[A-Za-z0-9+/]{0,3}/.exec(plain)?.[0].length ?? 0;
  throw new WrongTypeError(`illegal base64 data at input byte ${good < plain.length ? good : good - (good % 4)}`);
}

const BASE64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/;
const MAX_INT32 = 2 ** 31 - 1;
const MIN_INT32 = -(2 ** 31);

function canonicalLeaf(leaf: Leaf, value: Json): Json {
  switch (leaf) {
    case "string":
      return typeof value === "string" ? value : refuse(leaf, value);
    case "bool":
      return typeof value === "boolean" ? value : refuse(leaf, value);
    case "int32":
      return isInt32(value) ? value : refuse(leaf, value);
    case "int64":
      return Number.isInteger(value) ? value : refuse(leaf, value);
    case "float64":
      return typeof value === "number" ? value : refuse(leaf, value);
    case "bytes":
      if (typeof value !== "string") return refuse(leaf, value);
      return BASE64.test(value) || BASE64.test(value.replaceAll(/[\r\n]/g, "")) ? value : rejectBase64(value);
    case "Time":
      return typeof value === "string" && USUAL_TIME.test(value) ? value : canonicalTime(value, false);
    case "MicroTime":
      return typeof value === "string" && USUAL_MICRO_TIME.test(value) ? value : canonicalTime(value, true);
    case "Quantity":
      return canonicalQuantity(value);
    case "IntOrString":
      return typeof value === "string" || isInt32(value) ? value : refuse("int32", value);
    default:
      return value;
  }
}

function isInt32(value: Json): boolean {
  return Number.isInteger(value) && (value as number) <= MAX_INT32 && (value as number) >= MIN_INT32;
}

/** Matches the canonical form, which nearly all written quantities already have. */
const USUAL_QUANTITY = /^[1-9]\d{0,2}(?:[munkMGTPE]|[KMGTPE]i)?$/;

function canonicalQuantity(value: Json): string {
  if (typeof value === "string" && USUAL_QUANTITY.test(value)) return value;
  const text = typeof value === "string" ? value.trim() : JSON.stringify(value);
  const quantity = tryParseQuantity(text);
  if (!quantity) throw new WrongTypeError(quantityProblem(text));
  return formatQuantity(quantity);
}

/** Matches times in canonical form with valid digits. */
const USUAL_TIME = /^\d{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|1\d|2[0-8])T(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\dZ$/;
const USUAL_MICRO_TIME = /^\d{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|1\d|2[0-8])T(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d\.\d{6}Z$/;

function canonicalTime(value: Json, micro: boolean): string {
  if (typeof value !== "string") return refuse("string", value);
  const problem = timeProblem(value, micro);
  if (problem !== undefined) throw new WrongTypeError(problem);
  const time = new Date(Date.parse(value.replace(",", "."))).toISOString();
  // JavaScript dates have milliseconds; the remaining digits are taken from the text.
  return micro ? `${time.slice(0, 20)}${/[.,](\d{6})/.exec(value)?.[1] ?? "000000"}Z` : `${time.slice(0, 19)}Z`;
}

/**
 * The fields that `omitempty` omits. A pointer distinguishes zero from absent; an empty required string counts as
 * missing.
 */
function isOmitted({ type, always, optional }: FactField, value: Json, place: Place): boolean {
  if (type.pointer || type.shape === "struct") return false;
  if (always) return value === "" && !optional && place === "inside" && type.shape === "leaf" && type.leaf === "string";
  // In Go a value of any type is a struct.
  if (type.shape === "leaf") return type.leaf !== "Json" && (value === "" || value === 0 || value === false);
  return Array.isArray(value) ? value.length === 0 : isObject(value) && Object.keys(value).length === 0;
}

/** Required strings that may be empty. */
const REQUIRED_BUT_EMPTY_ALLOWED = new Set([
  "HTTPHeader.value",
  "Sysctl.value",
  "ResourceHealth.resourceID",
  "TokenRequest.audience",
]);
const isOpenText = (struct: FactStruct, field: FactField): boolean =>
  REQUIRED_BUT_EMPTY_ALLOWED.has(`${struct.name}.${field.name}`);

const alwaysFields = new WeakMap<FactStruct, FactField[]>();

/** Fields that Go writes regardless of their value: structs, and scalars without `omitempty`. */
function alwaysWritten(struct: FactStruct): FactField[] {
  let fields = alwaysFields.get(struct);
  if (!fields) {
    fields = [...struct.flat.values()].filter(
      ({ always, type }) => always && !type.pointer && (type.shape === "struct" || zeroOf(type) !== null),
    );
    alwaysFields.set(struct, fields);
  }
  return fields;
}

/** Null where Go's zero value is null in JSON too: times, lists and maps. */
function zeroOf(type: FactType): Json {
  if (type.shape !== "leaf") return null;
  if (type.leaf === "string") return "";
  if (type.leaf === "bool") return false;
  if (type.leaf === "Quantity") return "0";
  return type.leaf === "int32" || type.leaf === "int64" ? 0 : null;
}
