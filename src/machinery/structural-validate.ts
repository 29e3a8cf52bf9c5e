/**
 * Validation of a value by a structural schema. The order of checks, the wording and the odd `<nil>` fields are those of a real
 * server, which clients and their tests compare.
 */
import { equalJson, isObject, type Json, type JsonObject } from "../base/index.ts";
import { formatPath, type PathStep } from "./field-path.ts";
import { formatCheck } from "./formats.ts";
import { listTypeErrors } from "./list-type.ts";
import { OBJECT_META } from "./object-meta-schema.ts";
import { compilePattern, type Pattern } from "./pattern.ts";
import type { Schema } from "./schema.ts";
import type { FieldError } from "./status.ts";

export interface ValidationContext {
  readonly path: PathStep[];
  readonly errors: FieldError[];
}

/** One schema as validation sees it; what is costly to prepare is prepared when first needed. */
export class ValidationNode {
  readonly schema: Schema;
  readonly isEmbedded: boolean;
  private readonly children = new Map<string, ValidationNode>();
  private compiledPattern: Pattern | undefined;

  constructor(schema: Schema) {
    this.schema = schema;
    this.isEmbedded = schema["x-kubernetes-embedded-resource"] === true;
  }

  field(key: string): ValidationNode | undefined {
    let child = this.children.get(key);
    if (!child) {
      const { properties, additionalProperties } = this.schema;
      const schema = properties && Object.hasOwn(properties, key) ? properties[key] : this.isEmbedded && key === "metadata" ? OBJECT_META : undefined;
      if (schema) this.children.set(key, (child = nodeOf(schema)));
      else if (typeof additionalProperties === "object") child = nodeOf(additionalProperties);
    }
    return child;
  }

  get pattern(): Pattern | undefined {
    if (this.schema.pattern !== undefined) this.compiledPattern ??= compilePattern(this.schema.pattern);
    return this.compiledPattern;
  }
}

const nodes = new WeakMap<Schema, ValidationNode>();

function nodeOf(schema: Schema): ValidationNode {
  let node = nodes.get(schema);
  if (!node) nodes.set(schema, (node = new ValidationNode(schema)));
  return node;
}

/** A hostile object should cost one answer, not megabytes of it. */
const MAX_ERRORS = 100;

export function validateNode(node: ValidationNode, value: Json, context: ValidationContext): void {
  const { schema } = node;
  if (context.errors.length >= MAX_ERRORS) return;
  if (value === null) {
    if (schema.nullable !== true && schema.type !== undefined) report(context, "TypeInvalid", typeMessage(context, expectedType(schema), "null"));
    return;
  }
  checkType(schema, value, context);
  checkJunctors(schema, value, context);
  if (typeof value === "string") checkText(node, value, context);
  else if (typeof value === "number") checkNumber(schema, value, context);
  else if (Array.isArray(value)) checkList(schema, value, context);
  if (schema.enum && !schema.enum.some((allowed) => equalJson(allowed, value)))
    report(context, "NotSupported", `Unsupported value: ${JSON.stringify(value)}: supported values: ${schema.enum.map((allowed) => JSON.stringify(allowed)).join(", ")}`);
  if (isObject(value)) checkMap(node, value, context);
}

function report({ path, errors }: ValidationContext, type: FieldError["type"], message: string): void {
  errors.push({ type, field: formatPath(path) || "<nil>", message });
}

/** Most messages repeat the path: `Invalid value: 5: spec.a in body should be …`. */
function reportInvalid(context: ValidationContext, value: Json, should: string): void {
  report(context, "Invalid", `Invalid value: ${JSON.stringify(value)}: ${formatPath(context.path)} in body ${should}`);
}

function reportWithoutField({ errors }: ValidationContext, message: string): void {
  errors.push({ type: "Invalid", field: "<nil>", message: `Invalid value: "": ${message}` });
}

const typeMessage = ({ path }: ValidationContext, expected: string, shown: string): string =>
  `Invalid value: ${JSON.stringify(shown)}: ${formatPath(path)} in body must be of type ${expected}: ${JSON.stringify(shown)}`;

function expectedType(schema: Schema): string {
  return schema["x-kubernetes-int-or-string"] === true ? "integer,string" : (schema.type ?? "");
}

function typeOf(value: Json): string {
  if (value === null) return "null";
  if (Array.isArray(value)) return "array";
  if (typeof value === "number") return Number.isInteger(value) ? "integer" : "number";
  return typeof value;
}

function checkType(schema: Schema, value: Json, context: ValidationContext): void {
  const actual = typeOf(value);
  const expected = expectedType(schema);
  const fits = expected === "" || expected === actual || (expected === "number" && actual === "integer") || (expected === "integer,string" && (actual === "integer" || actual === "string"));
  if (!fits) report(context, "TypeInvalid", typeMessage(context, expected, actual));
}

function checkText(node: ValidationNode, text: string, context: ValidationContext): void {
  const { maxLength, minLength, pattern, format } = node.schema;
  // Lengths count code points, which are never more than the UTF-16 units and never fewer than half of them.
  if (maxLength !== undefined && text.length > maxLength && codePoints(text) > maxLength) report(context, "TooLong", `Too long: may not be more than ${maxLength} bytes`);
  if (minLength !== undefined && text.length < minLength * 2 && codePoints(text) < minLength) reportInvalid(context, text, `should be at least ${minLength} chars long`);
  if (pattern !== undefined && node.pattern?.test(text) === false) reportInvalid(context, text, `should match '${pattern}'`);
  const check = format === undefined ? undefined : formatCheck(format);
  if (check && !check(text)) report(context, "TypeInvalid", typeMessage(context, format ?? "", text));
}

function codePoints(text: string): number {
  let count = 0;
  for (const _character of text) count += 1;
  return count;
}

const INTEGER_RANGES: Readonly<Record<string, readonly [number, number]>> = { int32: [-(2 ** 31), 2 ** 31 - 1], int64: [-(2 ** 63), 2 ** 63] };

function checkNumber(schema: Schema, value: number, context: ValidationContext): void {
  const { minimum, maximum, multipleOf, format } = schema;
  if (schema.type === "integer") {
    const range = format === undefined ? undefined : INTEGER_RANGES[format];
    const where = formatPath(context.path);
    if (!Number.isInteger(value)) reportWithoutField(context, `Checked value must be of type integer ${range ? `with format ${format}` : "(default format)"} in ${where}`);
    else if (range && (value < range[0] || value > range[1])) reportWithoutField(context, `Checked value must be of type integer with format ${format} in ${where}`);
  }
  if (multipleOf !== undefined && !isMultiple(value, multipleOf)) reportInvalid(context, value, `should be a multiple of ${multipleOf}`);
  if (maximum !== undefined && (schema.exclusiveMaximum ? value >= maximum : value > maximum)) reportInvalid(context, value, `should be less than ${schema.exclusiveMaximum ? "" : "or equal to "}${maximum}`);
  if (minimum !== undefined && (schema.exclusiveMinimum ? value <= minimum : value < minimum)) reportInvalid(context, value, `should be greater than ${schema.exclusiveMinimum ? "" : "or equal to "}${minimum}`);
}

/** 0.3 is a multiple of 0.1, although their quotient as doubles is not whole. */
function isMultiple(value: number, step: number): boolean {
  const quotient = value / step;
  return Math.abs(quotient - Math.round(quotient)) < 1e-9 * Math.max(1, Math.abs(quotient));
}

function checkList(schema: Schema, list: readonly Json[], context: ValidationContext): void {
  const { minItems, maxItems, items } = schema;
  if (items) {
    const node = nodeOf(items);
    for (const [index, item] of list.entries()) {
      context.path.push(index);
      validateNode(node, item, context);
      context.path.pop();
    }
  }
  if (minItems !== undefined && list.length < minItems) reportInvalid(context, list.length, `should have at least ${minItems} items`);
  if (maxItems !== undefined && list.length > maxItems) report(context, "TooMany", `Too many: ${list.length}: must have at most ${maxItems} items`);
  for (const { index, message } of listTypeErrors(schema, list)) {
    context.path.push(index);
    report(context, "Duplicate", message);
    context.path.pop();
  }
}

function checkMap(node: ValidationNode, map: JsonObject, context: ValidationContext): void {
  const { minProperties, maxProperties, required } = node.schema;
  const size = minProperties !== undefined || maxProperties !== undefined ? Object.keys(map).length : 0;
  if (minProperties !== undefined && size < minProperties) return reportInvalid(context, size, `should have at least ${minProperties} properties`);
  if (maxProperties !== undefined && size > maxProperties) return report(context, "TooMany", `Too many: ${size}: must have at most ${maxProperties} items`);
  for (const key in map) {
    const child = node.field(key);
    if (!child) continue;
    context.path.push(key);
    validateNode(child, map[key] as Json, context);
    context.path.pop();
  }
  for (const key of node.isEmbedded ? new Set([...(required ?? []), "apiVersion", "kind"]) : (required ?? [])) {
    if (Object.hasOwn(map, key) && !(node.isEmbedded && map[key] === "" && (key === "apiVersion" || key === "kind"))) continue;
    context.path.push(key);
    report(context, "Required", "Required value");
    context.path.pop();
  }
}

/** Runs a schema on the side; its errors, without reporting them. */
function trial(schema: Schema, value: Json, path: readonly PathStep[]): FieldError[] {
  const context: ValidationContext = { path: [...path], errors: [] };
  validateNode(nodeOf(schema), value, context);
  return context.errors;
}

/** `allOf`, `anyOf`, `oneOf` and `not`. Structural schemas state only value constraints in them. */
function checkJunctors(schema: Schema, value: Json, context: ValidationContext): void {
  const { allOf, anyOf, oneOf, not } = schema;
  const where = JSON.stringify(formatPath(context.path));
  if (anyOf && schema["x-kubernetes-int-or-string"] !== true) {
    const trials = anyOf.map((option) => trial(option, value, context.path));
    if (!trials.some((errors) => errors.length === 0)) {
      context.errors.push(...closest(trials));
      reportWithoutField(context, `${where} must validate at least one schema (anyOf)`);
    }
  }
  if (oneOf) {
    const trials = oneOf.map((option) => trial(option, value, context.path));
    const valid = trials.filter((errors) => errors.length === 0).length;
    if (valid === 0) context.errors.push(...closest(trials));
    if (valid !== 1) reportWithoutField(context, `${where} must validate one and only one schema (oneOf). ${valid === 0 ? "None validated" : `Found ${valid} valid alternatives`}`);
  }
  if (allOf) {
    const trials = allOf.map((part) => trial(part, value, context.path));
    const failed = trials.filter((errors) => errors.length > 0);
    for (const errors of failed) context.errors.push(...errors);
    if (failed.length > 0) reportWithoutField(context, `${where} must validate all the schemas (allOf)${failed.length === trials.length ? ". None validated" : ""}`);
  }
  if (not && trial(not, value, context.path).length === 0) reportWithoutField(context, `${where} must not validate the schema (not)`);
}

/** Of several failed alternatives the one that came closest tells the user most. */
function closest(trials: readonly FieldError[][]): FieldError[] {
  return trials.reduce<FieldError[]>((best, errors) => (best.length === 0 || errors.length < best.length ? errors : best), []);
}
