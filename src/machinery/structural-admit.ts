/**
 * Pruning and defaulting in one pass. For a field that is `null` but may not be, its default stands in; without a default the
 * field is removed. Values of the wrong type are left for validation to report.
 */
import { copy, isObject, setOwn, type Json, type JsonObject } from "../base/index.ts";
import { formatPath, type PathStep } from "./field-path.ts";
import { OBJECT_META } from "./object-meta-schema.ts";
import type { Schema } from "./schema.ts";
import { partOf } from "./share.ts";

/** Where the walk is, kept only when somebody wants to know what is removed. */
export interface AdmitContext {
  readonly unknownFields: string[];
  readonly path: PathStep[];
}

/** One schema as admission sees it. Its children are compiled when the first value arrives. */
export class SchemaNode {
  readonly nullable: boolean;
  readonly fallback: Json | undefined;
  /** A scalar: nothing below it, so a value that is not null passes untouched. */
  readonly isLeaf: boolean;
  private readonly schema: Schema;
  private children: NodeChildren | undefined;

  constructor(schema: Schema) {
    this.schema = schema;
    this.nullable = schema.nullable === true;
    this.fallback = schema.default;
    this.isLeaf = schema.properties === undefined && schema.additionalProperties === undefined && schema.items === undefined && schema.type !== "object";
  }

  get below(): NodeChildren {
    return (this.children ??= childrenOf(this.schema));
  }
}

interface NodeChildren {
  readonly fields: ReadonlyMap<string, SchemaNode>;
  /** For keys that are not fields: their schema, or whether they stay as they are. */
  readonly rest: SchemaNode | "keep" | "prune";
  readonly items: SchemaNode | undefined;
  readonly defaults: readonly (readonly [string, Json])[];
}

const nodes = new WeakMap<Schema, SchemaNode>();

function nodeOf(schema: Schema): SchemaNode {
  let node = nodes.get(schema);
  if (!node) nodes.set(schema, (node = new SchemaNode(schema)));
  return node;
}

const EMBEDDED: Record<string, Schema> = { apiVersion: { type: "string" }, kind: { type: "string" }, metadata: OBJECT_META };

function childrenOf(schema: Schema): NodeChildren {
  const embedded = schema["x-kubernetes-embedded-resource"] === true;
  const properties = embedded ? { ...schema.properties, ...EMBEDDED } : (schema.properties ?? {});
  const fields = new Map<string, SchemaNode>();
  const defaults: [string, Json][] = [];
  for (const name of Object.keys(properties)) {
    const property = properties[name] as Schema;
    fields.set(name, nodeOf(property));
    if (property.default !== undefined) defaults.push([name, property.default]);
  }
  const { additionalProperties } = schema;
  const keeps = schema["x-kubernetes-preserve-unknown-fields"] === true || additionalProperties === true;
  return {
    fields,
    rest: typeof additionalProperties === "object" ? nodeOf(additionalProperties) : keeps ? "keep" : "prune",
    items: schema.items && nodeOf(schema.items),
    defaults,
  };
}

/** `settled` is the value at the same place of an object that was admitted before: what is the very same stays as it is. */
export function admitNode(node: SchemaNode, value: Json, context: AdmitContext | undefined, settled: Json | undefined): Json {
  if (node.isLeaf || value === settled) return value;
  if (Array.isArray(value)) return admitList(node, value, context, Array.isArray(settled) ? settled : NOTHING);
  return isObject(value) ? admitMap(node, value, context, settled) : value;
}

const NOTHING: readonly Json[] = [];

function admitList(node: SchemaNode, list: Json[], context: AdmitContext | undefined, settled: readonly Json[]): Json {
  const { items } = node.below;
  if (!items || (items.isLeaf && items.fallback === undefined)) return list;
  let result: Json[] | undefined;
  for (let index = 0; index < list.length; index++) {
    const before = list[index] as Json;
    if (before === settled[index] && before !== null) continue;
    context?.path.push(index);
    const present = before === null && !items.nullable && items.fallback !== undefined ? copy(items.fallback) : before;
    const after = admitNode(items, present, context, settled[index]);
    context?.path.pop();
    if (after === before) continue;
    result ??= [...list];
    result[index] = after;
  }
  return result ?? list;
}

function admitMap(node: SchemaNode, map: JsonObject, context: AdmitContext | undefined, settled: Json | undefined): Json {
  const { fields, rest, defaults } = node.below;
  let result: JsonObject | undefined;
  // Not `for in`: V8 keeps compiling and discarding a rarely reached `map[key]` in such a loop.
  for (const key of Object.keys(map)) {
    const before = map[key] as Json;
    const child = fields.get(key) ?? rest;
    if (child === "keep") continue;
    if (child === "prune") {
      context?.unknownFields.push(formatPath([...context.path, key]));
      Reflect.deleteProperty((result ??= { ...map }), key);
      continue;
    }
    if (before === null) {
      if (child.nullable) continue;
      result ??= { ...map };
      if (child.fallback === undefined || child.fallback === null) Reflect.deleteProperty(result, key);
      else setOwn(result, key, admitNode(child, copy(child.fallback), undefined, undefined));
      continue;
    }
    if (child.isLeaf) continue;
    const known = settled === undefined ? undefined : partOf(settled, key);
    if (before === known) continue;
    context?.path.push(key);
    const after = admitNode(child, before, context, known);
    context?.path.pop();
    if (after !== before) setOwn((result ??= { ...map }), key, after);
  }
  for (const [key, fallback] of defaults) {
    if (Object.hasOwn(map, key)) continue;
    const child = fields.get(key);
    setOwn((result ??= { ...map }), key, child ? admitNode(child, copy(fallback), undefined, undefined) : copy(fallback));
  }
  return result ?? map;
}
