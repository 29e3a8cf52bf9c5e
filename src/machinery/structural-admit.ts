/**
 * Pruning and defaulting in one pass. For a field that is `null` but may not be, its default stands in; without a default the
 * field is removed. Values of the wrong type are left for validation to report.
 */
import { copy, isObject, setOwn, type Json, type JsonObject } from "../base/index.ts";
import { formatPath, type PathStep } from "./field-path.ts";
import { OBJECT_META } from "./object-meta-schema.ts";
import type { Schema } from "./schema.ts";

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

export function admitNode(node: SchemaNode, value: Json, context: AdmitContext | undefined): Json {
  if (node.isLeaf) return value;
  if (Array.isArray(value)) return admitList(node, value, context);
  return isObject(value) ? admitMap(node, value, context) : value;
}

function admitList(node: SchemaNode, list: Json[], context: AdmitContext | undefined): Json {
  const { items } = node.below;
  if (!items || (items.isLeaf && items.fallback === undefined)) return list;
  let result: Json[] | undefined;
  for (let index = 0; index < list.length; index++) {
    const before = list[index] as Json;
    context?.path.push(index);
    const present = before === null && !items.nullable && items.fallback !== undefined ? copy(items.fallback) : before;
    const after = admitNode(items, present, context);
    context?.path.pop();
    if (after === before) continue;
    result ??= [...list];
    result[index] = after;
  }
  return result ?? list;
}

function admitMap(node: SchemaNode, map: JsonObject, context: AdmitContext | undefined): Json {
  const { fields, rest, defaults } = node.below;
  let result: JsonObject | undefined;
  for (const key in map) {
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
      else setOwn(result, key, admitNode(child, copy(child.fallback), undefined));
      continue;
    }
    if (child.isLeaf) continue;
    context?.path.push(key);
    const after = admitNode(child, before, context);
    context?.path.pop();
    if (after !== before) setOwn((result ??= { ...map }), key, after);
  }
  for (const [key, fallback] of defaults) {
    if (Object.hasOwn(map, key)) continue;
    const child = fields.get(key);
    setOwn((result ??= { ...map }), key, child ? admitNode(child, copy(fallback), undefined) : copy(fallback));
  }
  return result ?? map;
}
