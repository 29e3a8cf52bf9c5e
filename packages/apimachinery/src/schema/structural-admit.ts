/**
 * Prunes and defaults in one pass. A `null` field that is not nullable gets its default; without a default it is
 * removed. Values of the wrong type are left for validation to report, except that objects lose unknown fields.
 */
import { copy, isObject, setOwn, type Json, type JsonObject, ownOf } from "@flotilla/base";
import { DecodeError } from "../text/decode-error.ts";
import { formatPath, type PathStep } from "../field-path.ts";
import { formatValue } from "../format-value.ts";
import type { Schema } from "../schema.ts";
import { coerceMetadata } from "./structural-metadata.ts";

/** The current position and the removed fields. */
export class AdmitWalk {
  readonly steps: PathStep[] = [];
  readonly unknownFields: string[];
  readonly embeddedFields: string[];
  /** Invalid metadata of embedded objects is rejected; otherwise its invalid fields are dropped. */
  readonly strict: boolean;

  constructor(unknownFields: string[], embeddedFields: string[], strict: boolean) {
    this.unknownFields = unknownFields;
    this.embeddedFields = embeddedFields;
    this.strict = strict;
  }

  unknown(key: string): void {
    this.unknownFields.push(formatPath([...this.steps, key]));
  }
}

/** One schema as admission uses it. Its children are compiled when the first value arrives. */
export class SchemaNode {
  readonly nullable: boolean;
  readonly fallback: Json | undefined;
  readonly preserves: boolean;
  readonly isEmbedded: boolean;
  /** The contents have no schema and are kept. */
  readonly isOpen: boolean;
  private readonly schema: Schema;
  private children: NodeChildren | undefined;

  constructor(schema: Schema) {
    this.schema = schema;
    this.nullable = schema.nullable === true;
    this.fallback = schema.default;
    this.preserves = schema["x-kubernetes-preserve-unknown-fields"] === true;
    this.isEmbedded = schema["x-kubernetes-embedded-resource"] === true;
    this.isOpen =
      this.preserves &&
      !this.isEmbedded &&
      schema.properties === undefined &&
      schema.additionalProperties === undefined &&
      schema.items === undefined;
  }

  get below(): NodeChildren {
    return (this.children ??= childrenOf(this.schema));
  }
}

interface NodeChildren {
  readonly fields: ReadonlyMap<string, SchemaNode>;
  /** The schema of keys that are not fields, or `any`. */
  readonly rest: SchemaNode | "any" | undefined;
  readonly items: SchemaNode | undefined;
  readonly defaults: readonly (readonly [string, Json])[];
}

const nodes = new WeakMap<Schema, SchemaNode>();

export function admitNodeOf(schema: Schema): SchemaNode {
  let node = nodes.get(schema);
  if (!node) nodes.set(schema, (node = new SchemaNode(schema)));
  return node;
}

function childrenOf({ properties = {}, additionalProperties, items }: Schema): NodeChildren {
  const fields = new Map<string, SchemaNode>();
  const defaults: [string, Json][] = [];
  for (const name of Object.keys(properties)) {
    const property = properties[name] as Schema;
    fields.set(name, admitNodeOf(property));
    if (property.default !== undefined && property.default !== null) defaults.push([name, property.default]);
  }
  const rest =
    typeof additionalProperties === "object"
      ? admitNodeOf(additionalProperties)
      : additionalProperties === undefined
        ? undefined
        : "any";
  return { fields, rest, items: items && admitNodeOf(items), defaults };
}

/**
 * `settled` is the value at the same path of an object that was admitted before: identical parts are skipped. `keeps`
 * means that an enclosing list keeps unknown fields.
 */
export function admitNode(
  node: SchemaNode,
  value: Json,
  walk: AdmitWalk | undefined,
  settled: Json | undefined,
  keeps = false,
): Json {
  if (typeof value !== "object" || value === null || value === settled || node.isOpen) return value;
  const preserves = keeps || node.preserves;
  if (Array.isArray(value)) return admitList(node, value, walk, Array.isArray(settled) ? settled : NOTHING, preserves);
  return admitMap(node, value, walk, settled, preserves);
}

const NOTHING: readonly Json[] = [];

function admitList(
  node: SchemaNode,
  list: Json[],
  walk: AdmitWalk | undefined,
  settled: readonly Json[],
  preserves: boolean,
): Json {
  const { items } = node.below;
  if (!items && preserves) return list;
  let result: Json[] | undefined;
  for (let index = 0; index < list.length; index++) {
    const before = list[index] as Json;
    if (typeof before !== "object" || (before === settled[index] && before !== null)) continue;
    walk?.steps.push(index);
    const present =
      before === null && items && !items.nullable && items.fallback !== undefined ? copy(items.fallback) : before;
    const after = items ? admitNode(items, present, walk, settled[index], preserves) : emptied(present, walk);
    walk?.steps.pop();
    if (after === before) continue;
    result ??= [...list];
    result[index] = after;
  }
  return result ?? list;
}

const META_FIELDS = new Set(["apiVersion", "kind", "metadata"]);

function admitMap(
  node: SchemaNode,
  map: JsonObject,
  walk: AdmitWalk | undefined,
  settled: Json | undefined,
  preserves: boolean,
): Json {
  const { fields, rest, defaults } = node.below;
  let result: JsonObject | undefined;
  // Not `for in`: V8 keeps compiling and discarding a rarely reached `map[key]` in such a loop.
  for (const key of Object.keys(map)) {
    const before = map[key] as Json;
    const child = fields.get(key) ?? rest;
    if (node.isEmbedded && META_FIELDS.has(key)) {
      const after = admitEmbedded(key, before, fields.get(key), walk);
      if (after !== before) setOwn((result ??= { ...map }), key, after);
      continue;
    }
    if (child === undefined) {
      if (preserves) continue;
      walk?.unknown(key);
      Reflect.deleteProperty((result ??= { ...map }), key);
      continue;
    }
    if (child !== "any" && before === null) {
      if (child.nullable) continue;
      result ??= { ...map };
      if (child.fallback === undefined || child.fallback === null) Reflect.deleteProperty(result, key);
      else setOwn(result, key, admitNode(child, copy(child.fallback), undefined, undefined));
      continue;
    }
    if (typeof before !== "object") continue;
    const known = settled === undefined ? undefined : ownOf(settled, key);
    if (before === known) continue;
    walk?.steps.push(key);
    const after = child === "any" ? emptied(before, walk) : admitNode(child, before, walk, known);
    walk?.steps.pop();
    if (after !== before) setOwn((result ??= { ...map }), key, after);
  }
  for (const [key, fallback] of defaults) {
    if (Object.hasOwn(map, key)) continue;
    const child = fields.get(key);
    setOwn(
      (result ??= { ...map }),
      key,
      child ? admitNode(child, copy(fallback), undefined, undefined) : copy(fallback),
    );
  }
  return result ?? map;
}

/** Where a map allows any value but has no schema for it, scalars are kept and objects lose their contents. */
function emptied(value: Json, walk: AdmitWalk | undefined): Json {
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) {
    const list = value.map((item, index) => {
      walk?.steps.push(index);
      const after = emptied(item, walk);
      walk?.steps.pop();
      return after;
    });
    return list.every((item, index) => item === value[index]) ? value : list;
  }
  const keys = Object.keys(value);
  for (const key of keys) walk?.unknown(key);
  return keys.length === 0 ? value : {};
}

/** `apiVersion`, `kind` and `metadata` of an embedded object. */
function admitEmbedded(key: string, value: Json, child: SchemaNode | undefined, walk: AdmitWalk | undefined): Json {
  const strict = walk?.strict ?? false;
  if (key !== "metadata" && strict && typeof value !== "string")
    throw new DecodeError(
      `${formatPath([...(walk?.steps ?? []), key])}: Invalid value: ${formatValue(value)}: must be a string`,
    );
  const coerced =
    key === "metadata"
      ? coerceMetadata(value, formatPath([...(walk?.steps ?? []), key]), walk?.embeddedFields, strict)
      : value;
  return child && isObject(coerced) ? admitNode(child, coerced, undefined, undefined, true) : coerced;
}
