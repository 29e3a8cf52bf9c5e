/**
 * Brings an object of a built-in kind into the form in which a Kubernetes API server stores and shows it.
 *
 * There every object passes through a Go struct: nulls and empty optional fields vanish, structs are written even when they
 * are empty (`resources: {}`), quantities and times have one form, and a value of the wrong type is refused at once.
 * Controllers compare what they read with what they want, so a server that keeps `minReadySeconds: 0` or `1000m` makes them
 * write for ever. The fact tables say which field does what.
 */
import { isObject, setOwn, type DeepReadonly, type Json, type JsonObject } from "../base/index.ts";
import { badRequest, formatQuantity, partOf, tryParseQuantity } from "../machinery/index.ts";
import { structOf, type FactField, type FactStruct, type FactType, type Leaf } from "./facts.ts";
import { parseApiVersion, type KubernetesObject } from "./meta.ts";

/**
 * Returns the object itself when it already has the form. Fields that the kind does not have are left alone. Throws 400 for a
 * value of the wrong type, so what follows can rely on the types of known fields. Parts that are the very same in `settled`,
 * which has the form, are not looked at again.
 */
export function canonicalObject<T extends KubernetesObject>(table: string, name: string, object: DeepReadonly<T>, settled?: DeepReadonly<T>): DeepReadonly<T> {
  const { apiVersion } = object as DeepReadonly<KubernetesObject>;
  return explained(name, apiVersion, () => canonicalStruct(structOf(table, name), object as unknown as JsonObject, "root", settled as unknown as JsonObject)) as unknown as DeepReadonly<T>;
}

/** The same for a part of an object, such as the pod template of a custom kind. */
export function canonicalPart(table: string, name: string, value: JsonObject, { apiVersion, kind }: { readonly apiVersion: string; readonly kind: string }): JsonObject {
  return explained(kind, apiVersion, () => canonicalStruct(structOf(table, name), value, "inside", undefined));
}

class WrongTypeError extends Error {
  /** `PodSpec.containers`; filled in by the struct that holds the value. */
  field = "";
}

function explained(kind: string, apiVersion: string, work: () => JsonObject): JsonObject {
  try {
    return work();
  } catch (error) {
    if (!(error instanceof WrongTypeError)) throw error;
    throw badRequest(`${kind} in version ${JSON.stringify(parseApiVersion(apiVersion).version)} cannot be handled as a ${kind}: ${error.field}: ${error.message}`);
  }
}

/** Where required fields that are missing get their zero: on top and in the status. Elsewhere their absence is an error to report. */
type Place = "root" | "status" | "inside";

function canonicalStruct(struct: FactStruct, value: JsonObject, place: Place, settled: Json | undefined): JsonObject {
  const { flat } = struct;
  let result = value;
  const own = (): JsonObject => (result === value ? (result = { ...value }) : result);
  for (const key of Object.keys(value)) {
    const field = flat.get(key);
    if (!field) continue;
    const before = value[key] ?? null;
    const known = settled === undefined ? undefined : partOf(settled, key);
    if (before === known && before !== null) continue;
    const after = before === null ? null : canonicalField(struct, field, before, placeOf(place, key), known);
    if (after === null || isOmitted(field, after, place)) delete own()[key];
    else if (after !== before) own()[key] = after;
  }
  for (const field of alwaysWritten(struct)) {
    if (result[field.name] !== undefined) continue;
    if (field.type.shape === "struct") own()[field.name] = canonicalStruct(field.type.struct, {}, placeOf(place, field.name), undefined);
    else if (place !== "inside" || field.optional || isOpenText(struct, field)) own()[field.name] = zeroOf(field.type);
  }
  return result;
}

const placeOf = (place: Place, key: string): Place => (place === "status" || (place === "root" && key === "status") ? "status" : "inside");

function canonicalField(struct: FactStruct, field: FactField, value: Json, place: Place, settled: Json | undefined): Json {
  try {
    return canonicalValue(field.type, value, place, settled);
  } catch (error) {
    if (error instanceof WrongTypeError && error.field === "") error.field = `${struct.name}.${field.name}`;
    throw error;
  }
}

function canonicalValue(type: FactType, value: Json, place: Place, settled: Json | undefined): Json {
  if (type.shape === "leaf") return canonicalLeaf(type.leaf, value);
  if (type.shape === "struct") return canonicalStruct(type.struct, isObject(value) ? value : refuse("an object", value), place, settled);
  if (type.shape === "list") return canonicalList(type.of, Array.isArray(value) ? value : refuse("a list", value), place, settled);
  return canonicalMap(type.of, isObject(value) ? value : refuse("an object", value), place, settled);
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
    const after = canonicalItem(of, before, place, settled === undefined ? undefined : partOf(settled, key));
    // A null that has no zero to stand for is nothing: pruning would take it out, and leave an empty map behind.
    if (after === before && after !== null) continue;
    if (result === map) result = { ...map };
    if (after === null) Reflect.deleteProperty(result, key);
    else setOwn(result, key, after);
  }
  return result;
}

function canonicalItem(of: FactType, value: Json, place: Place, settled: Json | undefined): Json {
  if (value !== null) return value === settled ? value : canonicalValue(of, value, place, settled);
  // Inside lists and maps null stands for the zero of their items.
  return of.shape === "struct" ? canonicalStruct(of.struct, {}, place, undefined) : zeroOf(of);
}

/** Long enough to recognise what was sent, short enough for an answer and a log. */
const SHOWN_LENGTH = 64;

function refuse(expected: string, value: Json): never {
  const shown = Array.isArray(value) ? "a list" : isObject(value) ? "an object" : JSON.stringify(value).slice(0, SHOWN_LENGTH);
  throw new WrongTypeError(`expected ${expected}, got ${shown}`);
}

/** What should be base64 is often a secret that somebody forgot to encode, so it is not repeated. */
function refuseSecretly(): never {
  throw new WrongTypeError("expected a text in base64");
}

const BASE64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/;

function canonicalLeaf(leaf: Leaf, value: Json): Json {
  switch (leaf) {
    case "string":
      return typeof value === "string" ? value : refuse("a text", value);
    case "bool":
      return typeof value === "boolean" ? value : refuse("true or false", value);
    case "int32":
    case "int64":
      return Number.isInteger(value) ? value : refuse("a whole number", value);
    case "float64":
      return typeof value === "number" ? value : refuse("a number", value);
    case "bytes":
      return typeof value === "string" && BASE64.test(value.replaceAll(/[\r\n]/g, "")) ? value : refuseSecretly();
    case "Time":
      return typeof value === "string" && /^.{19}Z$/.test(value) ? value : canonicalTime(value, 19, "Z");
    case "MicroTime":
      return typeof value === "string" && /^.{19}\.\d{6}Z$/.test(value) ? value : canonicalTime(value, 23, "000Z");
    case "Quantity":
      return canonicalQuantity(value);
    case "IntOrString":
      return typeof value === "string" || Number.isInteger(value) ? value : refuse("a whole number or a text", value);
    default:
      return value;
  }
}

/** Nearly every quantity that is written already has its one form. */
const USUAL_QUANTITY = /^[1-9]\d{0,2}(?:[munkMGTPE]|[KMGTPE]i)?$/;

function canonicalQuantity(value: Json): string {
  if (typeof value === "string" && USUAL_QUANTITY.test(value)) return value;
  const quantity = typeof value === "string" || typeof value === "number" ? tryParseQuantity(value) : undefined;
  return quantity ? formatQuantity(quantity) : refuse("a quantity such as 500m or 1Gi", value);
}

function canonicalTime(value: Json, length: number, end: string): string {
  const time = typeof value === "string" ? Date.parse(value) : Number.NaN;
  return Number.isNaN(time) ? refuse("a time such as 2024-05-01T12:00:00Z", value) : `${new Date(time).toISOString().slice(0, length)}${end}`;
}

/** What `omitempty` leaves out. A pointer tells zero from absent; a required text that is empty counts as missing. */
function isOmitted({ type, always, optional }: FactField, value: Json, place: Place): boolean {
  if (type.pointer || type.shape === "struct") return false;
  if (always) return value === "" && !optional && place === "inside" && type.shape === "leaf" && type.leaf === "string";
  if (type.shape === "leaf") return value === "" || value === 0 || value === false;
  return Array.isArray(value) ? value.length === 0 : isObject(value) && Object.keys(value).length === 0;
}

/** Required texts that may well be empty. */
const OPEN_TEXTS = new Set(["HTTPHeader.value", "Sysctl.value", "ResourceHealth.resourceID"]);
const isOpenText = (struct: FactStruct, field: FactField): boolean => OPEN_TEXTS.has(`${struct.name}.${field.name}`);

const alwaysFields = new WeakMap<FactStruct, FactField[]>();

/** Fields that Go writes whatever their value: structs, and scalars without `omitempty`. */
function alwaysWritten(struct: FactStruct): FactField[] {
  let fields = alwaysFields.get(struct);
  if (!fields) {
    fields = [...struct.flat.values()].filter(({ always, type }) => always && !type.pointer && (type.shape === "struct" || zeroOf(type) !== null));
    alwaysFields.set(struct, fields);
  }
  return fields;
}

/** Null where Go's zero is null in JSON too: times, lists and maps. */
function zeroOf(type: FactType): Json {
  if (type.shape !== "leaf") return null;
  if (type.leaf === "string") return "";
  if (type.leaf === "bool") return false;
  if (type.leaf === "Quantity") return "0";
  return type.leaf === "int32" || type.leaf === "int64" ? 0 : null;
}
