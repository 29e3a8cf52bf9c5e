/**
 * CEL values of JSON with a schema. Nothing is converted before an expression reads it: an object or a list is a thin
 * view, and a scalar is used directly. The schema determines the CEL type of a JSON number or string.
 */
import { equalJson, isLongInteger, isObject, type Json, type JsonObject } from "@flotilla/base";
import type { Schema } from "@flotilla/apimachinery";
import { ArrayList, equalElements, itemsOf } from "../values/collections.ts";
import { equal } from "../values/equality.ts";
import { escapeName, unescapeName } from "../syntax/escaping.ts";
import { parseDateTime, parseFullDate, parseWordDuration } from "../values/formats-time.ts";
import { intOf } from "../values/numbers.ts";
import { CelDouble, CelError, CelList, CelMap, CelOpaque, type CelValue, NO_SUCH_OVERLOAD } from "../values/values.ts";

const TEXT: Schema = { type: "string" };
/** Fields that every resource has, whether its schema states them or not. */
const RESOURCE: Record<string, Schema> = {
  kind: TEXT,
  apiVersion: TEXT,
  metadata: { type: "object", properties: { name: TEXT, generateName: TEXT } },
};

/** The schema of a resource with kind, version and name in it. */
export function withResourceFields(schema: Schema): Schema {
  const { kind, apiVersion, metadata } = schema.properties ?? {};
  const names = metadata?.properties;
  const isStated =
    kind?.type === "string" &&
    apiVersion?.type === "string" &&
    metadata?.type === "object" &&
    names?.["name"]?.type === "string" &&
    names["generateName"]?.type === "string";
  return isStated ? schema : { ...schema, properties: { ...schema.properties, ...RESOURCE } };
}

/** One schema for reading values. Its children are created on first access. */
export class ValueNode {
  readonly schema: Schema;
  /** Has named properties, whose names are escaped and for which null means absent. */
  readonly isObject: boolean;
  readonly listType: Schema["x-kubernetes-list-type"];
  readonly listKeys: readonly string[];
  private readonly children = new Map<string, ValueNode | undefined>();
  private itemNode: ValueNode | undefined;

  constructor(schema: Schema, isResource: boolean) {
    this.schema = isResource ? withResourceFields(schema) : schema;
    this.isObject = this.schema.properties !== undefined && Object.keys(this.schema.properties).length > 0;
    this.listType = schema["x-kubernetes-list-type"];
    // The real server looks keys up by their escaped names, so a key such as `namespace` is never found.
    this.listKeys = (schema["x-kubernetes-list-map-keys"] ?? []).map((key) => escapeName(key) ?? key);
  }

  get items(): ValueNode | undefined {
    if (this.schema.items) this.itemNode ??= nodeFor(this.schema.items);
    return this.itemNode;
  }

  /** The schema of a key; undefined for keys unknown to the schema. */
  child(key: string): ValueNode | undefined {
    let found = this.children.get(this.isObject ? key : "");
    if (!found && !this.children.has(this.isObject ? key : "")) {
      found = this.findChild(key);
      // Hostile keys must not fill the table: keys unknown to the schema are not cached.
      if (found) this.children.set(this.isObject ? key : "", found);
    }
    return found;
  }

  private findChild(key: string): ValueNode | undefined {
    const { properties, additionalProperties } = this.schema;
    if (this.isObject)
      return properties && Object.hasOwn(properties, key) ? nodeFor(properties[key] as Schema) : undefined;
    return typeof additionalProperties === "object" ? nodeFor(additionalProperties) : undefined;
  }
}

const nodes = new WeakMap<Schema, ValueNode>();

function nodeFor(schema: Schema): ValueNode {
  let node = nodes.get(schema);
  if (!node) nodes.set(schema, (node = new ValueNode(schema, schema["x-kubernetes-embedded-resource"] === true)));
  return node;
}

const invalid = (why: string): CelError => new CelError(`invalid data, ${why}`);

/** The value of JSON under a schema; an error when it does not match. */
export function valueOf(json: Json | undefined, node: ValueNode): CelValue {
  const { schema } = node;
  if (json === null || json === undefined)
    return schema.nullable === true ? null : invalid("got null for schema with nullable=false");
  if (schema["x-kubernetes-int-or-string"] === true) {
    if (typeof json === "string") return json;
    return isInteger(json) ? integer(json) : invalid("expected XIntOrString value to be either a string or integer");
  }
  switch (schema.type) {
    case "string":
      return typeof json === "string" ? textOf(json, schema.format) : invalid(`expected string, got ${goType(json)}`);
    case "integer":
      return isInteger(json) ? integer(json) : invalid(`expected int, got ${goType(json)}`);
    case "boolean":
      return typeof json === "boolean" ? json : invalid(`expected bool, got ${goType(json)}`);
    case "object":
      return isObject(json)
        ? new JsonMap(json, node)
        : invalid("expected a map for the provided schema with type=object");
    case "array":
      if (!Array.isArray(json)) return invalid("expected an array for the provided schema with type=array");
      return node.items
        ? new JsonList(json, node, node.items)
        : new CelError("invalid array type, expected Items with a non-empty Schema");
    case "number":
      return typeof json === "number" ? new CelDouble(json) : invalid(`expected float, got ${goType(json)}`);
    default:
      if (schema["x-kubernetes-preserve-unknown-fields"] === true) return new Preserved(json);
      return new CelError(
        "invalid type, expected object, array, number, integer, boolean or string, or no type with " +
          "x-kubernetes-int-or-string or x-kubernetes-preserve-unknown-fields is true, got ",
      );
  }
}

const isInteger = (json: Json): json is number => isLongInteger(json) || Number.isInteger(json);
const integer = (value: number): CelValue => (Number.isSafeInteger(value) ? value : intOf(BigInt(value)));

function textOf(text: string, format: string | undefined): CelValue {
  switch (format) {
    case "duration":
      return parseWordDuration(text) ?? new CelError(`Invalid duration ${text}: unable to parse ${text} as duration`);
    case "date":
      return parseFullDate(text) ?? new CelError(`Invalid date formatted string ${text}`);
    case "date-time":
      return parseDateTime(text) ?? new CelError(`Invalid date-time formatted string ${text}`);
    case "byte":
      return Buffer.from(text, "base64");
    default:
      return text;
  }
}

function goType(json: Json): string {
  if (isLongInteger(json)) return "int64";
  if (typeof json === "number") return Number.isInteger(json) ? "int64" : "float64";
  if (typeof json === "boolean") return "bool";
  if (typeof json === "string") return "string";
  return Array.isArray(json) ? "[]interface {}" : "map[string]interface {}";
}

/** Data without a schema. It can only be compared. */
class Preserved extends CelOpaque {
  readonly typeName = "unknown";
  readonly json: Json;
  constructor(json: Json) {
    super();
    this.json = json;
  }

  equals(other: CelValue): boolean {
    return equalJson(this.json, other instanceof Preserved || other instanceof JsonMap ? other.json : other);
  }
}

export class JsonMap extends CelMap {
  readonly json: JsonObject;
  readonly node: ValueNode;
  constructor(json: JsonObject, node: ValueNode) {
    super();
    this.json = json;
    this.node = node;
  }

  get size(): number {
    return Object.keys(this.json).length;
  }

  find(key: CelValue): CelValue | undefined {
    if (typeof key !== "string") return key instanceof CelError ? key : NO_SUCH_OVERLOAD;
    const name = this.node.isObject ? unescapeName(key) : key;
    return name === undefined ? undefined : this.field(name);
  }

  /** The value of a property by its unescaped name. */
  field(name: string): CelValue | undefined {
    if (!Object.hasOwn(this.json, name)) return undefined;
    const json = this.json[name];
    if (this.node.isObject && (json === null || json === undefined)) return undefined;
    const child = this.node.child(name);
    return child && valueOf(json, child);
  }

  keys(): readonly CelValue[] {
    const known = Object.keys(this.json).filter((key) => this.node.child(key) !== undefined);
    return this.node.isObject ? known.map((key) => escapeName(key) ?? key) : known;
  }

  equals(other: CelValue): boolean | CelError {
    if (!(other instanceof CelMap)) return other instanceof CelError ? other : NO_SUCH_OVERLOAD;
    if (this.size !== other.size) return false;
    for (const key of Object.keys(this.json)) {
      const isEqual = this.node.child(key) ? this.equalKey(key, other) : this.equalUnknown(key, other);
      if (isEqual !== true) return isEqual;
    }
    return true;
  }

  private equalKey(key: string, other: CelMap): boolean | CelError {
    const [mine, theirs] = [this.find(key), other.find(key)];
    if (mine === undefined || theirs === undefined) return mine === theirs;
    return equal(mine, theirs);
  }

  private equalUnknown(key: string, other: CelMap): boolean | CelError {
    if (!(other instanceof JsonMap)) return NO_SUCH_OVERLOAD;
    return !Object.hasOwn(other.json, key) || equalJson(this.json[key], other.json[key]);
  }
}

class JsonList extends CelList {
  readonly json: readonly Json[];
  private readonly node: ValueNode;
  private readonly itemNode: ValueNode;
  constructor(json: readonly Json[], node: ValueNode, itemNode: ValueNode) {
    super();
    this.json = json;
    this.node = node;
    this.itemNode = itemNode;
  }

  get size(): number {
    return this.json.length;
  }

  at(index: number): CelValue {
    return valueOf(this.json[index], this.itemNode);
  }

  equals(other: CelValue): boolean | CelError {
    if (!(other instanceof CelList)) return other instanceof CelError ? other : NO_SUCH_OVERLOAD;
    if (this.size !== other.size) return false;
    if (this.node.listType === "set") return this.equalsSet(other);
    return this.node.listType === "map" ? this.equalsMap(other) : equalElements(this, other);
  }

  /** Order has no meaning in a set. */
  private equalsSet(other: CelList): boolean {
    const mine = new Set(itemsOf(this).map(hashOf));
    return itemsOf(other).every((item) => mine.has(hashOf(item)));
  }

  /** Elements of a map list are matched by their keys. */
  private equalsMap(other: CelList): boolean | CelError {
    const mine = new Map(itemsOf(this).map((item) => [this.keyOf(item), item]));
    for (const item of itemsOf(other)) {
      const counterpart = mine.get(this.keyOf(item));
      if (counterpart === undefined) return false;
      const isEqual = equal(counterpart, item);
      if (isEqual !== true) return isEqual;
    }
    return true;
  }

  add(other: CelList): CelList {
    const type = this.node.listType;
    if (type !== "set" && type !== "map") return new ArrayList([...itemsOf(this), ...itemsOf(other)]);
    const keyOf = type === "set" ? hashOf : (item: CelValue): string => this.keyOf(item);
    const merged = new Map(itemsOf(this).map((item) => [keyOf(item), item]));
    for (const item of itemsOf(other)) {
      const key = keyOf(item);
      if (type === "map" || !merged.has(key)) merged.set(key, item);
    }
    return new MergedList([...merged.values()], this, keyOf);
  }

  private keyOf(item: CelValue): string {
    if (!(item instanceof JsonMap)) return "";
    return JSON.stringify(this.node.listKeys.map((key) => (Object.hasOwn(item.json, key) ? item.json[key] : null)));
  }
}

/** The union of a set or map list with another; compared as that list is. */
class MergedList extends ArrayList {
  private readonly origin: JsonList;
  private readonly keyOf: (item: CelValue) => string;
  constructor(items: readonly CelValue[], origin: JsonList, keyOf: (item: CelValue) => string) {
    super(items);
    this.origin = origin;
    this.keyOf = keyOf;
  }

  override equals(other: CelValue): boolean {
    if (!(other instanceof CelList) || other.size !== this.size) return false;
    const mine = new Map(this.items.map((item) => [this.keyOf(item), item]));
    return itemsOf(other).every((item) => {
      const counterpart = mine.get(this.keyOf(item));
      return counterpart !== undefined && equal(counterpart, item) === true;
    });
  }

  override add(other: CelList): CelList {
    const merged = new Map(this.items.map((item) => [this.keyOf(item), item]));
    for (const item of itemsOf(other)) if (!merged.has(this.keyOf(item))) merged.set(this.keyOf(item), item);
    return new MergedList([...merged.values()], this.origin, this.keyOf);
  }
}

/** The hash of an element of a set. */
function hashOf(item: CelValue): string {
  if (typeof item === "object")
    return item instanceof JsonMap || item instanceof Preserved
      ? JSON.stringify(item.json)
      : item instanceof JsonList
        ? JSON.stringify(item.json)
        : `#${JSON.stringify(item, bigintText)}`;
  return `${typeof item}:${item}`;
}

const bigintText = (_: string, value: unknown): unknown => (typeof value === "bigint" ? value.toString() : value);

/** JSON as a value under a schema, to bind to a variable. `isResource` as for `declareSchemaType`. */
export function celValueOf(json: Json, schema: Schema, isResource = false): CelValue {
  return valueOf(json, isResource ? new ValueNode(schema, true) : nodeFor(schema));
}
