/**
 * Validation of a value by a structural schema. The order of checks, the wording and the odd `<nil>` fields are those of a real
 * server, which clients and their tests compare.
 */
import { equalJson, isObject, type Json, type JsonObject } from "../base/index.ts";
import { formatPath, type PathStep } from "./field-path.ts";
import { formatCheck } from "./formats.ts";
import { listTypeErrors } from "./list-type.ts";
import { labelKeyProblem, labelValueProblem } from "./names.ts";
import { OBJECT_META } from "./object-meta-schema.ts";
import { compilePattern, type Pattern } from "./pattern.ts";
import type { Schema } from "./schema.ts";
import { partOf } from "./share.ts";
import type { FieldError } from "./status.ts";

export interface ValidationContext {
  readonly path: PathStep[];
  readonly errors: FieldError[];
}

/** One schema as validation sees it. What is costly to prepare is prepared when first needed; what most values need is at hand. */
export class ValidationNode {
  readonly schema: Schema;
  readonly isEmbedded: boolean;
  readonly required: readonly string[];
  /** The `typeof` of values that need no further look; undefined when there is more to check than the type. */
  readonly plainType: "string" | "boolean" | undefined;
  readonly hasJunctors: boolean;
  readonly expectedType: string;
  readonly formatCheck: ((text: string) => boolean) | undefined;
  readonly hasSizes: boolean;
  private readonly fields = new Map<string, ValidationNode>();
  private rest: ValidationNode | undefined;
  private compiledPattern: Pattern | undefined;
  private itemNode: ValidationNode | undefined;

  constructor(schema: Schema) {
    const { type, format, pattern, minLength, maxLength } = schema;
    this.schema = schema;
    this.isEmbedded = schema["x-kubernetes-embedded-resource"] === true;
    this.required = this.isEmbedded ? [...new Set([...(schema.required ?? []), "apiVersion", "kind"])] : (schema.required ?? []);
    this.hasJunctors = schema.allOf !== undefined || schema.anyOf !== undefined || schema.oneOf !== undefined || schema.not !== undefined;
    this.expectedType = schema["x-kubernetes-int-or-string"] === true ? "integer,string" : (type ?? "");
    this.formatCheck = format === undefined ? undefined : formatCheck(format);
    this.hasSizes = schema.minProperties !== undefined || schema.maxProperties !== undefined;
    const isBare = !this.hasJunctors && schema.enum === undefined;
    const isBareText = isBare && pattern === undefined && minLength === undefined && maxLength === undefined && this.formatCheck === undefined;
    this.plainType = type === "string" && isBareText ? "string" : type === "boolean" && isBare ? "boolean" : undefined;
  }

  field(key: string): ValidationNode | undefined {
    return this.fields.get(key) ?? this.findField(key);
  }

  get items(): ValidationNode | undefined {
    if (this.schema.items) this.itemNode ??= nodeOf(this.schema.items);
    return this.itemNode;
  }

  get pattern(): Pattern | undefined {
    if (this.schema.pattern !== undefined) this.compiledPattern ??= compilePattern(this.schema.pattern);
    return this.compiledPattern;
  }

  private findField(key: string): ValidationNode | undefined {
    const { properties, additionalProperties } = this.schema;
    const schema = properties && Object.hasOwn(properties, key) ? properties[key] : this.isEmbedded && key === "metadata" ? OBJECT_META : undefined;
    if (schema) {
      const child = nodeOf(schema);
      this.fields.set(key, child);
      return child;
    }
    if (typeof additionalProperties === "object") this.rest ??= nodeOf(additionalProperties);
    return this.rest;
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

/** `settled` is the value at the same place of a valid object: what is the very same is not looked at again. */
export function validateNode(node: ValidationNode, value: Json, context: ValidationContext, settled?: Json): void {
  if (typeof value === node.plainType || value === settled) return;
  const { schema } = node;
  if (context.errors.length >= MAX_ERRORS) return;
  if (value === null) {
    if (schema.nullable !== true && schema.type !== undefined) report(context, "TypeInvalid", typeMessage(context, node.expectedType, "null"));
    return;
  }
  checkType(node.expectedType, value, context);
  if (node.hasJunctors) checkJunctors(schema, value, context);
  if (typeof value === "string") checkText(node, value, context);
  else if (typeof value === "number") checkNumber(schema, value, context);
  else if (Array.isArray(value)) checkList(node, value, context, settled);
  if (schema.enum && !schema.enum.some((allowed) => equalJson(allowed, value)))
    report(context, "NotSupported", `Unsupported value: ${JSON.stringify(value)}: supported values: ${schema.enum.map((allowed) => JSON.stringify(allowed)).join(", ")}`);
  if (isObject(value)) checkMap(node, value, context, settled);
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

function typeOf(value: Json): string {
  if (value === null) return "null";
  if (Array.isArray(value)) return "array";
  if (typeof value === "number") return Number.isInteger(value) ? "integer" : "number";
  return typeof value;
}

function checkType(expected: string, value: Json, context: ValidationContext): void {
  const actual = typeOf(value);
  const fits = expected === "" || expected === actual || (expected === "number" && actual === "integer") || (expected === "integer,string" && (actual === "integer" || actual === "string"));
  if (!fits) report(context, "TypeInvalid", typeMessage(context, expected, actual));
}

function checkText(node: ValidationNode, text: string, context: ValidationContext): void {
  const { maxLength, minLength, pattern, format } = node.schema;
  // Lengths count code points, which are never more than the UTF-16 units and never fewer than half of them.
  if (maxLength !== undefined && text.length > maxLength && codePoints(text) > maxLength) report(context, "TooLong", `Too long: may not be more than ${maxLength} bytes`);
  if (minLength !== undefined && text.length < minLength * 2 && codePoints(text) < minLength) reportInvalid(context, text, `should be at least ${minLength} chars long`);
  if (pattern !== undefined && node.pattern?.test(text) === false) reportInvalid(context, text, `should match '${pattern}'`);
  if (node.formatCheck && !node.formatCheck(text)) report(context, "TypeInvalid", typeMessage(context, format ?? "", text));
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
    if (!Number.isInteger(value)) reportWithoutField(context, `Checked value must be of type integer ${range ? `with format ${format}` : "(default format)"} in ${formatPath(context.path)}`);
    else if (range && (value < range[0] || value > range[1])) reportWithoutField(context, `Checked value must be of type integer with format ${format} in ${formatPath(context.path)}`);
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

function checkList({ schema, items }: ValidationNode, list: readonly Json[], context: ValidationContext, settled: Json | undefined): void {
  const { minItems, maxItems } = schema;
  if (items) checkItems(items, list, context, Array.isArray(settled) ? settled : NOTHING);
  if (minItems !== undefined && list.length < minItems) reportInvalid(context, list.length, `should have at least ${minItems} items`);
  if (maxItems !== undefined && list.length > maxItems) report(context, "TooMany", `Too many: ${list.length}: must have at most ${maxItems} items`);
  for (const { index, message } of listTypeErrors(schema, list)) {
    context.path.push(index);
    report(context, "Duplicate", message);
    context.path.pop();
  }
}

const NOTHING: readonly Json[] = [];

function checkItems(node: ValidationNode, list: readonly Json[], context: ValidationContext, settled: readonly Json[]): void {
  for (let index = 0; index < list.length; index++) {
    context.path.push(index);
    validateNode(node, list[index] as Json, context, settled[index]);
    context.path.pop();
  }
}

function checkMap(node: ValidationNode, map: JsonObject, context: ValidationContext, settled: Json | undefined): void {
  if (node.hasSizes && !checkSize(node.schema, Object.keys(map).length, context)) return;
  for (const key of Object.keys(map)) {
    const child = node.field(key);
    const value = map[key] as Json;
    if (!child || typeof value === child.plainType) continue;
    const known = settled === undefined ? undefined : partOf(settled, key);
    if (value === known) continue;
    context.path.push(key);
    validateNode(child, value, context, known);
    context.path.pop();
  }
  if (node.isEmbedded) checkEmbeddedLabels(map["metadata"], context);
  for (const key of node.required) {
    if (Object.hasOwn(map, key) && !(node.isEmbedded && map[key] === "" && (key === "apiVersion" || key === "kind"))) continue;
    context.path.push(key);
    report(context, "Required", "Required value");
    context.path.pop();
  }
}

/** A map of the wrong size is not looked into. */
function checkSize({ minProperties = 0, maxProperties = Infinity }: Schema, size: number, context: ValidationContext): boolean {
  if (size < minProperties) reportInvalid(context, size, `should have at least ${minProperties} properties`);
  else if (size > maxProperties) report(context, "TooMany", `Too many: ${size}: must have at most ${maxProperties} items`);
  return size >= minProperties && size <= maxProperties;
}

/** Labels of an object inside another one are labels all the same. */
function checkEmbeddedLabels(metadata: Json | undefined, context: ValidationContext): void {
  const labels = isObject(metadata) ? metadata["labels"] : undefined;
  if (!isObject(labels)) return;
  context.path.push("metadata", "labels");
  for (const [key, value] of Object.entries(labels)) {
    const keyProblem = labelKeyProblem(key);
    const valueProblem = typeof value === "string" ? labelValueProblem(value) : undefined;
    if (keyProblem) report(context, "Invalid", `Invalid value: ${JSON.stringify(key)}: ${keyProblem}`);
    if (valueProblem) report(context, "Invalid", `Invalid value: ${JSON.stringify(value)}: ${valueProblem}`);
  }
  context.path.length -= 2;
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
  const where = (): string => JSON.stringify(formatPath(context.path));
  if (anyOf && schema["x-kubernetes-int-or-string"] !== true) {
    const trials = anyOf.map((option) => trial(option, value, context.path));
    if (!trials.some((errors) => errors.length === 0)) {
      context.errors.push(...closest(trials));
      reportWithoutField(context, `${where()} must validate at least one schema (anyOf)`);
    }
  }
  if (oneOf) {
    const trials = oneOf.map((option) => trial(option, value, context.path));
    const valid = trials.filter((errors) => errors.length === 0).length;
    if (valid === 0) context.errors.push(...closest(trials));
    if (valid !== 1) reportWithoutField(context, `${where()} must validate one and only one schema (oneOf). ${valid === 0 ? "None validated" : `Found ${valid} valid alternatives`}`);
  }
  if (allOf) {
    const trials = allOf.map((part) => trial(part, value, context.path));
    const failed = trials.filter((errors) => errors.length > 0);
    for (const errors of failed) context.errors.push(...errors);
    if (failed.length > 0) reportWithoutField(context, `${where()} must validate all the schemas (allOf)${failed.length === trials.length ? ". None validated" : ""}`);
  }
  if (not && trial(not, value, context.path).length === 0) reportWithoutField(context, `${where()} must not validate the schema (not)`);
}

/** Of several failed alternatives the one that came closest tells the user most. */
function closest(trials: readonly FieldError[][]): FieldError[] {
  return trials.reduce<FieldError[]>((best, errors) => (best.length === 0 || errors.length < best.length ? errors : best), []);
}
