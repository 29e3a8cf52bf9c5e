/**
 * Validates a value with a structural schema. The order of checks, the wording and the odd `<nil>` fields are those of
 * a real server, which clients and their tests compare.
 *
 * One walk fills three lists, as in the real server: schema keyword errors, errors of embedded objects, and duplicates
 * in set and map lists.
 */
import { equalJson, isLongInteger, isObject, type Json, type JsonObject, ownOf } from "@flotilla/base";
import { formatJson, formatValue, quoteText } from "../format-value.ts";
import { formatCheck, isCheckedFormat } from "../formats.ts";
import { field, type FieldError } from "../field.ts";
import { listTypeErrors } from "./list-type.ts";
import { embeddedErrors } from "./structural-embedded.ts";
import { compilePattern, PatternWorkError, type Pattern } from "../regex/index.ts";
import type { Schema } from "../schema.ts";
import { checkLongInteger, checkNumber, isInt64, isJsonInteger } from "./structural-number.ts";
import { isProperty, type ValidationWalk, WalkStopped } from "./structural-walk.ts";

/** Limits the size of the response to a hostile object. */
const MAX_ERRORS = 100;
/** How much is shown of a string that is too long to match. */
const MAX_SHOWN_TEXT = 100;

/**
 * One schema as validation uses it. Costly parts are prepared on first use; parts that most values need are
 * precomputed.
 */
export class ValidationNode {
  readonly schema: Schema;
  readonly isEmbedded: boolean;
  /** The `typeof` of values that need no further check; undefined when there is more to check than the type. */
  readonly plainType: "string" | "boolean" | undefined;
  readonly hasJunctors: boolean;
  readonly types: readonly string[];
  /** The format, when it applies to the type. */
  readonly format: string;
  readonly formatCheck: ((text: string) => boolean) | undefined;
  private readonly fields = new Map<string, ValidationNode>();
  private rest: ValidationNode | undefined;
  private compiledPattern: Pattern | undefined;
  private itemNode: ValidationNode | undefined;

  constructor(schema: Schema) {
    const { type, format = "", pattern, minLength, maxLength } = schema;
    this.schema = schema;
    this.isEmbedded = schema["x-kubernetes-embedded-resource"] === true;
    this.hasJunctors =
      schema.allOf !== undefined ||
      schema.anyOf !== undefined ||
      schema.oneOf !== undefined ||
      schema.not !== undefined;
    this.types = schema["x-kubernetes-int-or-string"] === true ? ["integer", "string"] : type ? [type] : [];
    this.format = isCheckedFormat(this.types.length === 1 ? type : undefined, format) ? format : "";
    this.formatCheck = this.format === "" ? undefined : formatCheck(this.format);
    const isBare = !this.hasJunctors && schema.enum === undefined;
    const isBareText =
      isBare &&
      pattern === undefined &&
      minLength === undefined &&
      maxLength === undefined &&
      this.formatCheck === undefined;
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
    const schema = properties && Object.hasOwn(properties, key) ? properties[key] : undefined;
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

export function nodeOf(schema: Schema): ValidationNode {
  let node = nodes.get(schema);
  if (!node) nodes.set(schema, (node = new ValidationNode(schema)));
  return node;
}

/** Validates a whole value and returns its keyword errors. When the walk had to end early, these are all errors. */
export function valueErrors(node: ValidationNode, value: Json, walk: ValidationWalk, old?: Json): FieldError[] {
  try {
    validateNode(node, value, walk, old);
    return walk.errors;
  } catch (error) {
    if (error instanceof WalkStopped) return [error.error];
    throw error;
  }
}

/** `old` is the previous value at the same path: identical parts are not validated again. */
function validateNode(node: ValidationNode, value: Json, walk: ValidationWalk, old?: Json): void {
  if (typeof value === node.plainType) {
    walk.matches += plainMatches(value);
    return;
  }
  if (value === old || walk.errors.length >= MAX_ERRORS) return;
  const before = walk.errors.length;
  checkValue(node, value, walk, old);
  if (walk.ratchets && old !== undefined && walk.errors.length > before && equalJson(value, old))
    walk.errors.length = before;
}

/** The type matches, and so do the checks that every value passes; a string has one more. */
const plainMatches = (value: Json): number => (typeof value === "string" ? 7 : 6);

function checkValue(node: ValidationNode, value: Json, walk: ValidationWalk, old: Json | undefined): void {
  const { schema } = node;
  if (value === null) {
    if (node.types.length > 0 && schema.nullable !== true) reportType(walk, node.types.join(","), "null");
    else walk.matches += 1;
    checkEnum(schema, value, walk);
    return;
  }
  if (node.types.length > 0 || node.format !== "") {
    walk.matches += 1;
    checkType(node, value, walk);
  }
  walk.matches += 4;
  if (node.hasJunctors) checkJunctors(schema, value, walk);
  if (typeof value === "string") checkText(node, value, walk);
  else if (typeof value === "number") {
    walk.matches += 2;
    checkNumber(schema, value, walk);
  } else if (isLongInteger(value)) {
    walk.matches += 2;
    checkLongInteger(schema, value, walk);
  } else if (Array.isArray(value)) checkList(node, value, walk, old);
  if (schema.enum) checkEnum(schema, value, walk);
  if (isObject(value)) checkMap(node, value, walk, old);
}

function reportType(walk: ValidationWalk, expected: string, shown: string): void {
  const text = quoteText(shown);
  walk.report(
    field.typeInvalid(
      walk.errorPath(),
      field.shown(text),
      `${walk.path()} in body must be of type ${expected}: ${text}`,
    ),
  );
}

function typeOf(value: Exclude<Json, null>): string {
  if (Array.isArray(value)) return "array";
  if (isLongInteger(value)) return "integer";
  if (typeof value === "number") return isInt64(value) ? "integer" : "number";
  return typeof value;
}

function checkType({ types, format }: ValidationNode, value: Exclude<Json, null>, walk: ValidationWalk): void {
  const actual = typeOf(value);
  const fits =
    types.includes(actual) ||
    (actual === "number" && types.includes("integer") && isJsonInteger(value as number)) ||
    (actual === "integer" && types.includes("number"));
  if (format !== "") {
    const isTextOrList = actual === "string" || actual === "array";
    const actualFormat = actual === "integer" ? "int64" : actual === "number" ? "float64" : "";
    if (!isTextOrList && !fits && actualFormat !== format) return reportType(walk, format, actualFormat);
    // The format decides for strings; lists pass unchecked, as in the real server.
    if (isTextOrList && !types.includes("number") && !types.includes("integer")) return void (walk.matches += 1);
  }
  if (!fits) reportType(walk, types.join(","), actual);
  else walk.matches += 1;
}

/** Only the first rule that a string violates is reported, and its format. */
function checkText(node: ValidationNode, text: string, walk: ValidationWalk): void {
  const { maxLength, minLength, pattern } = node.schema;
  walk.matches += 1;
  // Lengths count code points, of which there are at most as many as UTF-16 units and at least half as many.
  if (maxLength !== undefined && text.length > maxLength && codePoints(text) > maxLength)
    walk.report(field.tooLong(walk.errorPath(), maxLength));
  else if (minLength !== undefined && text.length < minLength * 2 && codePoints(text) < minLength)
    walk.invalid(text, `${walk.path()} in body should be at least ${minLength} chars long`);
  else if (pattern && node.pattern && !fits(node.pattern, text, walk))
    walk.invalid(text, `${walk.path()} in body should match '${pattern}'`);
  if (!node.formatCheck) return;
  walk.matches += 1;
  if (!node.formatCheck(text)) reportType(walk, node.format, text);
}

function fits(pattern: Pattern, text: string, walk: ValidationWalk): boolean {
  try {
    return pattern.test(text, walk.patternWork);
  } catch (error) {
    if (!(error instanceof PatternWorkError)) throw error;
    const shown = text.length > MAX_SHOWN_TEXT ? `${text.slice(0, MAX_SHOWN_TEXT)}...` : text;
    throw new WalkStopped(
      field.invalid(
        walk.errorPath(),
        field.shown(formatValue(shown)),
        `${walk.path()} in body cannot be checked: matching the patterns of this object takes more than ${error.limit} steps`,
      ),
    );
  }
}

function codePoints(text: string): number {
  let count = 0;
  for (let index = 0; index < text.length; index++) {
    if ((text.codePointAt(index) ?? 0) > 0xffff) index += 1;
    count += 1;
  }
  return count;
}

function checkEnum({ enum: allowed }: Schema, value: Json, walk: ValidationWalk): void {
  if (!allowed || allowed.length === 0 || (value !== null && allowed.some((item) => isAllowed(item, value)))) return;
  const supported = allowed.map((item) => (typeof item === "string" ? item : formatJson(item)));
  walk.report(field.notSupported(walk.errorPath(), field.shown(formatValue(value)), supported));
}

/** A fraction is truncated before it is compared with an integer. */
function isAllowed(item: Json, value: Json): boolean {
  if (typeof item === "number" && typeof value === "number")
    return item === value || (isInt64(item) && Math.trunc(value) === item);
  return equalJson(item, value);
}

function checkList(node: ValidationNode, list: readonly Json[], walk: ValidationWalk, old: Json | undefined): void {
  const { schema, items } = node;
  const { minItems, maxItems } = schema;
  walk.matches += 2;
  if (items) checkItems(node, items, list, walk, Array.isArray(old) ? old : NOTHING);
  if (minItems !== undefined && list.length < minItems)
    walk.invalid(list.length, `${walk.path()} in body should have at least ${minItems} items`);
  if (maxItems !== undefined && list.length > maxItems)
    walk.report(field.tooMany(walk.errorPath(), list.length, maxItems));
  walk.duplicates.push(...listTypeErrors(schema, list, () => walk.fieldPath()));
}

const NOTHING: readonly Json[] = [];

function checkItems(
  { schema }: ValidationNode,
  node: ValidationNode,
  list: readonly Json[],
  walk: ValidationWalk,
  old: readonly Json[],
): void {
  // In ratcheting lists only keyed elements can be correlated; otherwise the old list is only used for skipping, by
  // position.
  const oldOf = walk.ratchets
    ? elementFinder(schema, old)
    : (_item: Json, index: number): Json | undefined => old[index];
  for (let index = 0; index < list.length; index++) {
    const item = list[index] as Json;
    walk.steps.push(index);
    validateNode(node, item, walk, oldOf(item, index));
    walk.steps.pop();
  }
}

function elementFinder(schema: Schema, old: readonly Json[]): (item: Json) => Json | undefined {
  const keys = schema["x-kubernetes-list-type"] === "map" ? schema["x-kubernetes-list-map-keys"] : undefined;
  if (!keys || old.length === 0) return () => undefined;
  const idOf = (item: Json): string =>
    isObject(item) ? JSON.stringify(keys.map((key) => (Object.hasOwn(item, key) ? item[key] : null))) : "";
  const byId = new Map<string, Json>();
  for (const item of old) if (isObject(item)) byId.set(idOf(item), item);
  return (item) => byId.get(idOf(item));
}

function checkMap(node: ValidationNode, map: JsonObject, walk: ValidationWalk, old: Json | undefined): void {
  const { schema } = node;
  const { minProperties, maxProperties, required } = schema;
  walk.matches += 1;
  if (node.isEmbedded) walk.embedded.push(...embeddedErrors(map, walk.fieldPath()));
  if (minProperties !== undefined || maxProperties !== undefined) checkSize(schema, Object.keys(map).length, walk);
  if (schema.additionalProperties === false) {
    for (const key of Object.keys(map))
      if (!isProperty(schema, key)) walk.invalid(key, `${walk.path()}.${key} in body is a forbidden property`);
  }
  for (const key of Object.keys(map)) {
    const child = node.field(key);
    const value = map[key] as Json;
    if (!child) continue;
    if (typeof value === child.plainType) {
      walk.matches += plainMatches(value);
      continue;
    }
    const known = old === undefined ? undefined : ownOf(old, key);
    walk.steps.push(key);
    validateNode(child, value, walk, known);
    walk.steps.pop();
  }
  for (const key of required ?? NO_KEYS) {
    if (Object.hasOwn(map, key)) continue;
    walk.steps.push(key);
    walk.report(field.required(walk.errorPath()));
    walk.steps.pop();
  }
}

const NO_KEYS: readonly string[] = [];

function checkSize({ minProperties, maxProperties }: Schema, size: number, walk: ValidationWalk): void {
  if (minProperties !== undefined && size < minProperties)
    walk.invalid(size, `${walk.path()} in body should have at least ${minProperties} properties`);
  if (maxProperties !== undefined && size > maxProperties)
    walk.report(field.tooMany(walk.errorPath(), size, maxProperties));
}

/**
 * Validates a subschema separately, without an old value: an old value excuses nothing there, and skipping would count
 * as passing.
 */
function trial(schema: Schema, value: Json, walk: ValidationWalk): ValidationWalk {
  const branch = walk.branch();
  checkValue(nodeOf(schema), value, branch, undefined);
  return branch;
}

/** `allOf`, `anyOf`, `oneOf` and `not`. Structural schemas state only value constraints in them. */
function checkJunctors(schema: Schema, value: Json, walk: ValidationWalk): void {
  const { allOf, anyOf, oneOf, not } = schema;
  if (anyOf && anyOf.length > 0) {
    const trials: ValidationWalk[] = [];
    let passed: ValidationWalk | undefined;
    for (const option of anyOf) {
      const tried = trial(option, value, walk);
      if (tried.errors.length === 0) passed = tried;
      if (passed) break;
      trials.push(tried);
    }
    if (!passed) walk.remark(`${quoteText(walk.path())} must validate at least one schema (anyOf)`);
    take(walk, passed ?? closest(trials));
  }
  if (oneOf && oneOf.length > 0) {
    const trials = oneOf.map((option) => trial(option, value, walk));
    const passed = trials.filter(({ errors }) => errors.length === 0);
    if (passed.length !== 1) {
      walk.remark(
        `${quoteText(walk.path())} must validate one and only one schema (oneOf). ` +
          (passed.length === 0 ? "Found none valid" : `Found ${passed.length} valid alternatives`),
      );
    }
    if (passed.length <= 1) take(walk, passed[0] ?? closest(trials));
  }
  if (allOf && allOf.length > 0) {
    const trials = allOf.map((part) => trial(part, value, walk));
    for (const part of trials) take(walk, part);
    const passed = trials.filter(({ errors }) => errors.length === 0).length;
    if (passed !== trials.length)
      walk.remark(
        `${quoteText(walk.path())} must validate all the schemas (allOf)${passed === 0 ? ". None validated" : ""}`,
      );
  }
  if (not && trial(not, value, walk).errors.length === 0)
    walk.remark(`${quoteText(walk.path())} must not validate the schema (not)`);
}

function take(walk: ValidationWalk, branch: ValidationWalk | undefined): void {
  if (!branch) return;
  walk.errors.push(...branch.errors);
  walk.matches += branch.matches;
}

/** Of several failed alternatives the closest one is the most helpful to the user. */
function closest(trials: readonly ValidationWalk[]): ValidationWalk | undefined {
  let best = trials[0];
  for (const walk of trials) if (best && walk.matches > best.matches) best = walk;
  return best;
}
