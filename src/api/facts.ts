/**
 * Reads the fact tables of `facts/`: what Kubernetes, Karmada and OpenKruise publish about their types, made by `npm
 * run facts`. A table is a JSON file of types, a type a list of fields, a field a line of words:
 *
 *   "containers": "[]Container 2 patch=merge:name list=map:name"
 *
 * That is the type, the protobuf number and what is stated about the field: `optional`; `always` (Go writes it even
 * when it is zero); how patches and apply merge it; its enumeration; its default. An empty name stands for the type
 * itself: one that is `map=atomic` has one owner wherever it is used. Tables load on first use and stay.
 */
import { readFileSync } from "node:fs";
import { required, type Json } from "../base/index.ts";
import type { Schema } from "../machinery/index.ts";
import type { Column, ScalePaths } from "./kind.ts";

export type Leaf =
  | "string"
  | "bool"
  | "int32"
  | "int64"
  | "float64"
  | "bytes"
  | "Time"
  | "MicroTime"
  | "Duration"
  | "Quantity"
  | "IntOrString"
  | "RawObject"
  | "Json"
  | "SchemaOrArray"
  | "SchemaOrBool"
  | "SchemaOrStringArray";

export type FactType =
  | { shape: "leaf"; leaf: Leaf; pointer: boolean }
  | { shape: "struct"; struct: FactStruct; pointer: boolean }
  | { shape: "list" | "map"; of: FactType; pointer: boolean };

export interface FactField {
  /** The JSON name; empty for an embedded struct, which is inline in JSON and nested in protobuf. */
  readonly name: string;
  /** 0 when the type has no protobuf form. */
  readonly number: number;
  readonly type: FactType;
  readonly optional: boolean;
  readonly always: boolean;
  readonly patchStrategy?: string;
  readonly patchMergeKey?: string;
  readonly listType?: "atomic" | "set" | "map";
  readonly listMapKeys?: readonly string[];
  readonly mapType?: "atomic" | "granular";
  readonly enum?: readonly string[];
  readonly default?: Json;
}

/** A type with its fields; they are read on first use, so types may contain themselves. */
export interface FactStruct {
  readonly table: string;
  readonly name: string;
  /** As declared: embedded structs are one field. */
  readonly fields: readonly FactField[];
  /** As JSON sees them: embedded structs are flattened. */
  readonly flat: ReadonlyMap<string, FactField>;
  readonly schema: Schema;
}

/** The key of what is stated about a type as a whole. */
const OF_TYPE = "";

type Table = Record<string, Record<string, string>>;

const tables = new Map<string, Table>();
const structs = new Map<string, FactStruct>();

function readJson(name: string): unknown {
  return JSON.parse(readFileSync(new URL(`./facts/${name}.json`, import.meta.url), "utf8"));
}

/** A type of a table, such as `structOf("apps-v1", "Deployment")`. */
export function structOf(table: string, name: string): FactStruct {
  const key = `${table}.${name}`;
  const known = structs.get(key);
  if (known) return known;
  if (!tables.has(table)) tables.set(table, readJson(table) as Table);
  const lines = required(tables.get(table)?.[name], `the type ${key} in the fact tables`);
  const struct = new LazyStruct(table, name, lines);
  structs.set(key, struct);
  return struct;
}

class LazyStruct implements FactStruct {
  readonly table: string;
  readonly name: string;
  readonly #lines: Record<string, string>;
  #fields?: FactField[];
  #flat?: Map<string, FactField>;
  #schema?: Schema;

  constructor(table: string, name: string, lines: Record<string, string>) {
    this.table = table;
    this.name = name;
    this.#lines = lines;
  }

  get fields(): readonly FactField[] {
    this.#fields ??= Object.entries(this.#lines)
      .filter(([key]) => key !== OF_TYPE)
      .map(([key, words]) => readField(this.table, key.startsWith(".") ? "" : key, words));
    return this.#fields;
  }

  get flat(): ReadonlyMap<string, FactField> {
    this.#flat ??= new Map(
      this.fields.flatMap((field) =>
        field.name === "" && field.type.shape === "struct"
          ? [...field.type.struct.flat]
          : [[field.name, field] as const],
      ),
    );
    return this.#flat;
  }

  get schema(): Schema {
    if (this.#schema) return this.#schema;
    const properties: Record<string, Schema> = {};
    const requiredFields: string[] = [];
    // Set before the properties are filled: a type that contains itself finds this very object.
    this.#schema = {
      type: "object",
      properties,
      required: requiredFields,
      ...(this.#lines[OF_TYPE] === "map=atomic" && { "x-kubernetes-map-type": "atomic" }),
    };
    for (const [name, field] of this.flat) {
      properties[name] = fieldSchema(field);
      if (!field.optional) requiredFields.push(name);
    }
    return this.#schema;
  }
}

function readField(table: string, name: string, line: string): FactField {
  const defaultAt = line.indexOf(" default=");
  const [type = "", number = "0", ...words] = (defaultAt < 0 ? line : line.slice(0, defaultAt)).split(" ");
  const fact = (key: string): string[] | undefined =>
    words
      .find((word) => word.startsWith(`${key}=`))
      ?.slice(key.length + 1)
      .split(":");
  const [patchStrategy, patchMergeKey] = fact("patch") ?? [];
  const [listType, listMapKeys] = fact("list") ?? [];
  const [mapType] = fact("map") ?? [];
  const values = words
    .find((word) => word.startsWith("enum="))
    ?.slice(5)
    .split("|");
  const fallback = defaultAt < 0 ? undefined : (JSON.parse(line.slice(defaultAt + 9)) as Json);
  return {
    name,
    number: Number(number),
    type: readType(table, type),
    optional: words.includes("optional"),
    always: words.includes("always"),
    ...(patchStrategy && { patchStrategy }),
    ...(patchMergeKey && { patchMergeKey }),
    ...(listType && { listType: listType as "atomic" | "set" | "map" }),
    ...(listMapKeys && { listMapKeys: listMapKeys.split(",") }),
    ...(mapType && { mapType: mapType as "atomic" | "granular" }),
    ...(values && { enum: values }),
    // A zero default says what absence means; it is written out only where a pointer tells them apart.
    ...(fallback !== undefined &&
      (type.startsWith("*") || !(fallback === "" || fallback === 0 || fallback === false)) && { default: fallback }),
  };
}

const QUANTITY_PATTERN =
  "^(\\+|-)?(([0-9]+(\\.[0-9]*)?)|(\\.[0-9]+))(([KMGTPE]i)|[numkMGTPE]|([eE](\\+|-)?(([0-9]+(\\.[0-9]*)?)|(\\.[0-9]+))))?$";

const LEAVES: Record<Leaf, Schema> = {
  string: { type: "string" },
  bool: { type: "boolean" },
  int32: { type: "integer", format: "int32" },
  int64: { type: "integer", format: "int64" },
  float64: { type: "number", format: "double" },
  bytes: { type: "string", format: "byte" },
  Time: { type: "string", format: "date-time" },
  MicroTime: { type: "string", format: "date-time" },
  Duration: { type: "string", format: "duration" },
  Quantity: { "x-kubernetes-int-or-string": true, pattern: QUANTITY_PATTERN },
  IntOrString: { "x-kubernetes-int-or-string": true },
  // What is inside belongs to whoever wrote the whole.
  RawObject: { type: "object", "x-kubernetes-preserve-unknown-fields": true, "x-kubernetes-map-type": "atomic" },
  Json: { "x-kubernetes-preserve-unknown-fields": true },
  SchemaOrArray: { "x-kubernetes-preserve-unknown-fields": true },
  SchemaOrBool: { "x-kubernetes-preserve-unknown-fields": true },
  SchemaOrStringArray: { "x-kubernetes-preserve-unknown-fields": true },
};

function readType(table: string, word: string, pointer = false): FactType {
  if (word.startsWith("*")) return readType(table, word.slice(1), true);
  if (word.startsWith("[]")) return { shape: "list", of: readType(table, word.slice(2)), pointer };
  if (word.startsWith("map:")) return { shape: "map", of: readType(table, word.slice(4)), pointer };
  if (Object.hasOwn(LEAVES, word)) return { shape: "leaf", leaf: word as Leaf, pointer };
  const dot = word.indexOf(".");
  const struct = dot < 0 ? structOf(table, word) : structOf(word.slice(0, dot), word.slice(dot + 1));
  return { shape: "struct", struct, pointer };
}

function typeSchema(type: FactType): Schema {
  if (type.shape === "leaf") return LEAVES[type.leaf];
  if (type.shape === "struct") return type.struct.schema;
  const inner = typeSchema(type.of);
  return type.shape === "list" ? { type: "array", items: inner } : { type: "object", additionalProperties: inner };
}

function fieldSchema(field: FactField): Schema {
  const schema = typeSchema(field.type);
  const extras: Schema = {
    ...(field.patchStrategy && { "x-kubernetes-patch-strategy": field.patchStrategy }),
    ...(field.patchMergeKey && { "x-kubernetes-patch-merge-key": field.patchMergeKey }),
    ...(field.listType && { "x-kubernetes-list-type": field.listType }),
    ...(field.listMapKeys && { "x-kubernetes-list-map-keys": [...field.listMapKeys] }),
    ...(field.mapType && { "x-kubernetes-map-type": field.mapType }),
    ...(field.default !== undefined && { default: field.default }),
    ...(field.always && !(field.type.shape === "leaf" && field.type.pointer) && { "x-flotilla-always": true }),
  };
  if (field.enum) extras.enum = [...field.enum];
  // The copy shares `properties` with the type, which may still be being filled.
  return Object.keys(extras).length === 0 ? schema : { ...schema, ...extras };
}

const kindSchemas = new Map<string, Schema>();

/** The schema of a whole object: the type's fields with apiVersion and kind. */
export function kindSchema(table: string, name: string): Schema {
  const key = `${table}.${name}`;
  let schema = kindSchemas.get(key);
  if (!schema) {
    const { properties, required: requiredFields } = structOf(table, name).schema;
    schema = {
      type: "object",
      properties: { apiVersion: { type: "string" }, kind: { type: "string" }, ...properties },
      ...(requiredFields && { required: requiredFields }),
    };
    kindSchemas.set(key, schema);
  }
  return schema;
}

/** What a CustomResourceDefinition of upstream states. */
interface DefinitionFacts {
  group: string;
  scope: "Namespaced" | "Cluster";
  names: {
    kind: string;
    listKind: string;
    plural: string;
    singular: string;
    shortNames?: string[];
    categories?: string[];
  };
  storageVersion: string;
  versions: Record<
    string,
    { columns: Column[]; subresources: { status?: object; scale?: ScalePaths }; schema: Schema }
  >;
}

const definitions = new Map<string, DefinitionFacts>();

/** The CustomResourceDefinition `<plural>.<group>`. */
function definitionFacts(name: string): DefinitionFacts {
  let facts = definitions.get(name);
  if (!facts) {
    facts = readJson(name) as DefinitionFacts;
    definitions.set(name, facts);
  }
  return facts;
}

/** The schema of one version of a CustomResourceDefinition. */
export function definitionSchema(name: string, version: string): Schema {
  return required(definitionFacts(name).versions[version], `version ${version} of ${name} in the fact tables`).schema;
}
