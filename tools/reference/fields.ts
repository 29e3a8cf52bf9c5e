/**
 * The fields of a schema as table rows. Common Kubernetes types (metadata, pod templates, label selectors, conditions)
 * are named and not expanded. Pure.
 */
import type { Schema } from "@flotilla/apimachinery";

export interface FieldRow {
  path: string;
  type: string;
  /** Whether it is required, its default, its values, and its description, as far as the schema has them. */
  notes: string;
}

/** Deeper than any kind; a recursive schema ends here. */
const MAX_DEPTH = 12;

export function fieldsOf(schema: Schema): FieldRow[] {
  const { apiVersion: _apiVersion, kind: _kind, metadata: _metadata, ...rest } = schema.properties ?? {};
  return Object.entries(rest).flatMap(([name, field]) =>
    rowsOf(name, field, schema.required?.includes(name) ?? false, 0),
  );
}

function rowsOf(path: string, schema: Schema, isRequired: boolean, depth: number): FieldRow[] {
  const known = wellKnown(path, schema);
  const row: FieldRow = { path, type: known ?? typeOf(schema), notes: notesOf(schema, isRequired) };
  if (known !== undefined || depth >= MAX_DEPTH) return [row];
  const [suffix, inner] = innerOf(schema);
  const children = Object.entries(inner.properties ?? {});
  return [
    row,
    ...children.flatMap(([name, field]) =>
      rowsOf(`${path}${suffix}.${name}`, field, inner.required?.includes(name) ?? false, depth + 1),
    ),
  ];
}

/** The element type of a list or a map, with the path suffix of its fields. */
function innerOf(schema: Schema): [suffix: string, inner: Schema] {
  if (schema.items) {
    const [suffix, inner] = innerOf(schema.items);
    return [`[]${suffix}`, inner];
  }
  if (typeof schema.additionalProperties === "object") {
    const [suffix, inner] = innerOf(schema.additionalProperties);
    return [`.*${suffix}`, inner];
  }
  return ["", schema];
}

const has = (schema: Schema, ...names: string[]): boolean =>
  names.every((name) => schema.properties && Object.hasOwn(schema.properties, name));

function wellKnown(path: string, schema: Schema): string | undefined {
  const name = path.split(".").at(-1) ?? "";
  const item = schema.items ?? {};
  if (name === "conditions" && has(item, "type", "status")) return "conditions";
  if (has(schema, "matchLabels", "matchExpressions")) return "label selector";
  if (has(item, "matchLabels", "matchExpressions")) return "list of label selectors";
  if (
    name.toLowerCase().endsWith("template") &&
    schema.properties?.["spec"] &&
    (has(schema.properties["spec"], "containers") || isOpen(schema.properties["spec"]) || isOpen(schema))
  )
    return "pod template";
  if (/template$/i.test(name) && isOpen(schema)) return "template";
  if (name === "volumeClaimTemplates") return "list of volume claims";
  if (has(item, "image", "name") && /containers$/i.test(name)) return "list of containers";
  if (name === "volumes" && schema.items) return "list of volumes";
  if (has(schema, "nodeSelectorTerms")) return "node selector";
  if (
    has(item, "effect", "key", "operator", "tolerationSeconds") ||
    (name.toLowerCase().endsWith("tolerations") && schema.items)
  )
    return "list of tolerations";
  return undefined;
}

const isOpen = (schema: Schema): boolean =>
  schema["x-kubernetes-preserve-unknown-fields"] === true && !schema.properties;

function typeOf(schema: Schema): string {
  if (schema["x-kubernetes-int-or-string"]) return "integer or string";
  if (schema.type === "array")
    return schema.items?.type === "object" || !schema.items ? "list" : `list of ${plural(typeOf(schema.items))}`;
  if (typeof schema.additionalProperties === "object")
    return schema.additionalProperties.type === "string" ? "map of strings" : "map";
  if (schema["x-kubernetes-embedded-resource"]) return "object of any kind";
  if (schema["x-kubernetes-preserve-unknown-fields"] && !schema.properties) return "anything";
  if (schema.type === "string")
    return schema.format === "date-time" ? "time" : schema.format === "duration" ? "duration" : "text";
  if (schema.type === "integer" || schema.type === "number") return "number";
  return schema.type ?? "anything";
}

function plural(type: string): string {
  return type === "text" || type === "number" || type === "time" ? `${type}s` : type;
}

function notesOf({ description, enum: values, default: fallback }: Schema, isRequired: boolean): string {
  const facts = [
    isRequired ? "required" : undefined,
    values && values.length > 0
      ? values.map((value) => `\`${typeof value === "string" ? value : JSON.stringify(value)}\``).join(", ")
      : undefined,
    fallback === undefined || (typeof fallback === "object" && fallback !== null && Object.keys(fallback).length === 0)
      ? undefined
      : `default \`${typeof fallback === "string" ? fallback : JSON.stringify(fallback)}\``,
  ].filter((fact) => fact !== undefined);
  return sentences(facts.join("; "), description);
}

function sentences(...parts: readonly (string | undefined)[]): string {
  return parts.filter((part) => part !== undefined && part !== "").join(". ");
}
