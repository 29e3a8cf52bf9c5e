/**
 * Turns Go types into fact tables: for each type its fields, for each field one line of words that `packages/apimachinery/src/kind/facts.ts` reads.
 *
 *   "containers": "[]Container 2 patch=merge:name list=map:name"
 *
 * The words are the type, the protobuf number, then what is stated about the field. An embedded struct is JSON-inline but
 * nested in protobuf, so it stays one entry, whose key starts with a dot. The entry with the empty key is about the type itself.
 */
import { omitZero } from "@flotilla/base";
import type { GoField, GoPackage, GoType } from "./go-types.ts";
import { SOURCES } from "./sources.ts";

/** type → JSON name → words. */
export type Table = Record<string, Record<string, string>>;

/** The key of what is stated about a type as a whole: `map=atomic`. */
export const OF_TYPE = "";

/** Types whose JSON form is not their Go form; `src/api` knows them by these names. */
const SCALARS: Record<string, string> = {
  "k8s.io/apimachinery/pkg/apis/meta/v1.Time": "Time",
  "k8s.io/apimachinery/pkg/apis/meta/v1.MicroTime": "MicroTime",
  "k8s.io/apimachinery/pkg/apis/meta/v1.Duration": "Duration",
  "k8s.io/apimachinery/pkg/apis/meta/v1.FieldsV1": "RawObject",
  "k8s.io/apimachinery/pkg/runtime.RawExtension": "RawObject",
  "k8s.io/apimachinery/pkg/api/resource.Quantity": "Quantity",
  "k8s.io/apimachinery/pkg/util/intstr.IntOrString": "IntOrString",
  "k8s.io/apimachinery/pkg/types.UID": "string",
  "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1.JSON": "Json",
  "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1.JSONSchemaPropsOrArray": "SchemaOrArray",
  "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1.JSONSchemaPropsOrBool": "SchemaOrBool",
  "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1.JSONSchemaPropsOrStringArray": "SchemaOrStringArray",
};
/** Those that are structs to Go: their zero is written, regardless of `omitempty`. */
const STRUCTS = new Set(["Quantity", "RawObject", "Time", "MicroTime"]);
const BASIC = new Set(["string", "bool", "int32", "int64", "float64", "bytes"]);
const LEAVES = new Set([...BASIC, ...Object.values(SCALARS)]);

export interface Packages {
  of(path: string): GoPackage;
}

/** Every type that the roots of `wanted` reach, by table. */
export function buildTables(packages: Packages, wanted: readonly string[]): Map<string, Table> {
  const tables = new Map<string, Table>();
  const pending: [table: string, type: string][] = wanted.flatMap((table) =>
    (SOURCES[table]?.roots ?? []).map((root): [string, string] => [table, root]),
  );
  for (let next = pending.pop(); next; next = pending.pop()) {
    const [file, name] = next;
    const table = tables.get(file) ?? {};
    tables.set(file, table);
    if (table[name]) continue;
    const source = SOURCES[file];
    const type = source && packages.of(source.package).types.get(name);
    if (!source || !type?.fields) throw new Error(`${file} has no struct ${name}`);
    const fields: Record<string, string> = {};
    table[name] = fields;
    const mapType = type.markers.find(([key]) => key === "structType" || key === "mapType")?.[1];
    if (mapType) fields[OF_TYPE] = `map=${mapType}`;
    for (const field of type.fields) {
      if (isTypeMeta(field)) Object.assign(fields, TYPE_META);
      const line = readField(packages, source.package, type, field);
      if (!line) continue;
      fields[line.key] = line.words;
      if (line.refersTo) pending.push(line.refersTo);
    }
  }
  return new Map(
    [...tables].sort(byKey).map(([file, table]) => [file, Object.fromEntries(Object.entries(table).sort(byKey))]),
  );
}

const byKey = ([a]: [string, unknown], [b]: [string, unknown]): number => (a < b ? -1 : a > b ? 1 : 0);

const isTypeMeta = ({ name, type }: GoField): boolean => name === "" && type.endsWith("TypeMeta");
/** An object inside of another one may state what it is, too: the claims of a StatefulSet. */
const TYPE_META = { apiVersion: "string 0 optional", kind: "string 0 optional" };

function readField(
  packages: Packages,
  home: string,
  type: GoType,
  field: GoField,
): { key: string; words: string; refersTo?: [string, string] } | undefined {
  const [jsonName = "", ...options] = (field.tags["json"] ?? "").split(",");
  if (field.tags["json"] === "-") return undefined;
  const inline = options.includes("inline") || (field.name === "" && jsonName === "");
  if (isTypeMeta(field)) return undefined;

  const resolved = resolve(packages, home, type.imports, field.type);
  // Only the number: the wire kind follows from the type, and some tags state it wrongly (PodSpec.priority).
  const number = /^\w+,(\d+)/.exec(field.tags["protobuf"] ?? "")?.[1];
  const words = [resolved.words, number ?? "0"];
  if (!inline) {
    const marker = (name: string): string | undefined => field.markers.find(([key]) => key === name)?.[1];
    const omitted = options.includes("omitempty") || options.includes("omitzero");
    if (
      marker("required") === undefined &&
      marker("kubebuilder:validation:Required") === undefined &&
      (omitted || marker("optional") !== undefined)
    )
      words.push("optional");
    // Go writes a struct even when it is empty, regardless of omitempty.
    if (!options.includes("omitzero") && (!options.includes("omitempty") || resolved.isStruct)) words.push("always");
    const { patchStrategy, patchMergeKey } = field.tags;
    if (patchStrategy) words.push(`patch=${patchStrategy}${patchMergeKey ? `:${patchMergeKey}` : ""}`);
    const listType = marker("listType");
    const mapKeys = field.markers.filter(([key]) => key === "listMapKey").map(([, value]) => value);
    if (listType) words.push(`list=${listType}${mapKeys.length ? `:${mapKeys.join(",")}` : ""}`);
    const mapType = marker("mapType") ?? marker("structType");
    if (mapType) words.push(`map=${mapType}`);
    const listed = marker("kubebuilder:validation:Enum")?.replaceAll('"', "").split(";") ?? resolved.enum;
    if (listed) words.push(`enum=${listed.join("|")}`);
    const fallback = marker("default") ?? marker("kubebuilder:default");
    if (fallback !== undefined) words.push(`default=${readDefault(packages, home, type, fallback)}`);
  }
  return {
    key: inline ? `.${field.type.slice(field.type.lastIndexOf(".") + 1)}` : jsonName,
    words: words.join(" "),
    ...omitZero({ refersTo: resolved.refersTo }),
  };
}

/** `"TCP"`, `80`, `{}`, or `ref(Constant)`. */
function readDefault(packages: Packages, home: string, type: GoType, text: string): string {
  const named = /^ref\((?:.*\.)?(\w+)\)$/.exec(text)?.[1];
  if (named) {
    const value = packages.of(home).constants.get(named);
    if (value === undefined) throw new Error(`${home} ${type.name}: the default ${named} is no string constant`);
    return JSON.stringify(value);
  }
  if (text.startsWith("=")) return text.slice(1);
  try {
    return JSON.stringify(JSON.parse(text.startsWith("{") ? text.replaceAll(/(\w+):/g, '"$1":') : text));
  } catch {
    return JSON.stringify(text); // Kubebuilder leaves out the quotes of a plain word.
  }
}

interface Resolved {
  words: string;
  isStruct?: boolean;
  enum?: string[];
  refersTo?: [table: string, type: string];
}

/** A Go type expression as a word of the table, with named scalars and maps replaced by what they are. */
function resolve(packages: Packages, home: string, imports: Record<string, string>, expression: string): Resolved {
  if (expression.startsWith("*")) {
    const { isStruct: _, ...inner } = resolve(packages, home, imports, expression.slice(1));
    return { ...inner, words: `*${inner.words}` };
  }
  if (expression === "[]byte") return { words: "bytes" };
  if (expression.startsWith("[]")) {
    const { words, refersTo } = resolve(packages, home, imports, expression.slice(2));
    return { words: `[]${words}`, ...omitZero({ refersTo }) };
  }
  const map = /^map\[[\w.]+\](.*)$/.exec(expression);
  if (map) {
    const { words, refersTo } = resolve(packages, home, imports, map[1] ?? "");
    return { words: `map:${words}`, ...omitZero({ refersTo }) };
  }
  if (BASIC.has(expression)) return { words: expression };
  if (["int", "uint", "uint32", "uint8"].includes(expression)) return { words: "int64" };
  if (expression === "float32") return { words: "float64" };

  const dot = expression.indexOf(".");
  const path = dot < 0 ? home : imports[expression.slice(0, dot)];
  const name = expression.slice(dot + 1);
  if (path === undefined) throw new Error(`${home}: ${expression} is not imported`);
  const scalar = SCALARS[`${path}.${name}`];
  if (scalar) return { words: scalar, isStruct: STRUCTS.has(scalar) ? true : undefined };
  const target = packages.of(path).types.get(name);
  if (!target) throw new Error(`${home}: ${path} declares no ${name}`);
  if (target.underlying !== undefined) {
    const inner = resolve(packages, path, target.imports, target.underlying);
    const listed = target.markers
      .find(([key]) => key === "kubebuilder:validation:Enum")?.[1]
      .replaceAll('"', "")
      .split(";");
    const isEnum = target.markers.some(([key]) => key === "enum");
    const values = listed ?? (isEnum ? packages.of(path).enums.get(name) : undefined);
    return values ? { ...inner, enum: values } : inner;
  }
  const table = Object.keys(SOURCES).find((key) => SOURCES[key]?.package === path);
  if (!table) throw new Error(`${home}: ${path}.${name} is in no table`);
  return { words: path === home ? name : `${table}.${name}`, isStruct: true, refersTo: [table, name] };
}

/** True for the names that stand for a JSON form rather than for a type of a table. */
export const isLeaf = (word: string): boolean => LEAVES.has(word);
