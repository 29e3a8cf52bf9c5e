/**
 * Brings an object of a built-in kind into the form in which a Kubernetes API server stores and shows it.
 *
 * There every object passes through a Go struct: nulls and empty optional fields vanish, structs are written even when they
 * are empty (`resources: {}`), quantities and times have one form. Controllers compare what they read with what they want,
 * so a server that keeps `minReadySeconds: 0` or `1000m` makes them write for ever. The fact tables say which field does what.
 */
import { isObject, setOwn, type DeepReadonly, type Json, type JsonObject } from "../base/index.ts";
import { structOf, type FactField, type FactStruct, type FactType, type Leaf } from "./facts.ts";
import type { KubernetesObject } from "./meta.ts";
import { canonicalQuantity } from "./quantity-form.ts";

/** Returns the object itself when it already has the form. Fields that the kind does not have are left alone. */
export function canonicalObject<T extends KubernetesObject>(table: string, name: string, object: DeepReadonly<T>): DeepReadonly<T> {
  return canonicalStruct(structOf(table, name), object as unknown as JsonObject, "root") as unknown as DeepReadonly<T>;
}

/** The same for a part of an object, such as the pod template of a custom kind. */
export function canonicalPart(table: string, name: string, value: JsonObject): JsonObject {
  return canonicalStruct(structOf(table, name), value, "inside");
}

/** Where required fields that are missing get their zero: on top and in the status. Elsewhere their absence is an error to report. */
type Place = "root" | "status" | "inside";

function canonicalStruct(struct: FactStruct, value: JsonObject, place: Place): JsonObject {
  const { flat } = struct;
  let result = value;
  const own = (): JsonObject => (result === value ? (result = { ...value }) : result);
  for (const key of Object.keys(value)) {
    const field = flat.get(key);
    if (!field) continue;
    const before = value[key] ?? null;
    const after = before === null ? null : canonicalValue(field.type, before, placeOf(place, key));
    if (after === null || isOmitted(field, after, place)) delete own()[key];
    else if (after !== before) own()[key] = after;
  }
  for (const field of alwaysWritten(struct)) {
    if (result[field.name] !== undefined) continue;
    if (field.type.shape === "struct") own()[field.name] = canonicalStruct(field.type.struct, {}, placeOf(place, field.name));
    else if (place !== "inside" || field.optional || isOpenText(struct, field)) own()[field.name] = zeroOf(field.type) ?? null;
  }
  return result;
}

const placeOf = (place: Place, key: string): Place => (place === "status" || (place === "root" && key === "status") ? "status" : "inside");

function canonicalValue(type: FactType, value: Json, place: Place): Json {
  if (type.shape === "leaf") return canonicalLeaf(type.leaf, value);
  if (type.shape === "struct") return isObject(value) ? canonicalStruct(type.struct, value, place) : value;
  if (type.shape === "list") {
    if (!Array.isArray(value)) return value;
    let changed = false;
    const items = value.map((item) => {
      const after = canonicalValue(type.of, item, place);
      changed ||= after !== item;
      return after;
    });
    return changed ? items : value;
  }
  // Labels, annotations and data: texts have one form, so the map need not be walked.
  if (!isObject(value) || (type.of.shape === "leaf" && type.of.leaf === "string")) return value;
  let result = value;
  for (const [key, item] of Object.entries(value)) {
    const after = canonicalValue(type.of, item, place);
    if (after === item) continue;
    if (result === value) result = { ...value };
    setOwn(result, key, after);
  }
  return result;
}

function canonicalLeaf(leaf: Leaf, value: Json): Json {
  if (leaf === "Quantity") return typeof value === "string" || typeof value === "number" ? canonicalQuantity(value) : value;
  if (leaf === "Time" && typeof value === "string" && !/^.{19}Z$/.test(value)) return canonicalTime(value, 19, "Z");
  if (leaf === "MicroTime" && typeof value === "string" && !/^.{19}\.\d{6}Z$/.test(value)) return canonicalTime(value, 23, "000Z");
  return value;
}

function canonicalTime(text: string, length: number, end: string): string {
  const time = Date.parse(text);
  return Number.isNaN(time) ? text : `${new Date(time).toISOString().slice(0, length)}${end}`;
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
    fields = [...struct.flat.values()].filter(({ always, type }) => always && !type.pointer && (type.shape === "struct" || (type.shape === "leaf" && zeroOf(type) !== undefined)));
    alwaysFields.set(struct, fields);
  }
  return fields;
}

function zeroOf(type: FactType): Json | undefined {
  if (type.shape !== "leaf") return undefined;
  if (type.leaf === "string") return "";
  if (type.leaf === "bool") return false;
  if (type.leaf === "Quantity") return "0";
  return type.leaf === "int32" || type.leaf === "int64" ? 0 : undefined;
}
