/**
 * The rules of a schema (`x-kubernetes-validations`): compiled once, then run on every object that is written.
 *
 * A rule accesses the value of its own schema location as `self`. Rules that use `oldSelf` run where an update has an
 * old value that correlates with the new one: the same field, the same key, the same element of a map list. Other rules
 * that fail on parts that an update leaves unchanged do not reject it; they become warnings.
 */
import { isObject, type Json, type JsonObject } from "@flotilla/base";
import type { FieldError, Schema } from "@flotilla/apimachinery";
import type { CelBudget, CompiledValidations, ValidationOutcome } from "../types/contract.ts";
import { Correlation, counterpartsIn } from "./correlation.ts";
import { escapeName } from "../syntax/escaping.ts";
import { ValueNode } from "../compile/json-values.ts";
import { type CompiledRule, compileRules, rulesOf } from "./rule-compiler.ts";
import { RuleRunner } from "./cel-rules.ts";
import { declareSchemaType } from "./schema-type.ts";
import type { CelType } from "../types/types.ts";

/** The maximum cost of all rules for one object. */
const MAX_OBJECT_COST = 10_000_000;

/** One schema location that has rules, or has locations with rules below it. */
class ValidationNode {
  readonly schema: Schema;
  readonly values: ValueNode;
  readonly rules: readonly CompiledRule[];
  readonly fields: ReadonlyMap<string, ValidationNode>;
  readonly entries: ValidationNode | undefined;
  readonly items: ValidationNode | undefined;
  /** Rules in `allOf`, which apply to the same values. */
  readonly parts: readonly ValidationNode[];

  constructor(source: Schema, schema: Schema, type: CelType, isResource: boolean) {
    this.schema = schema;
    this.values = new ValueNode(schema, isResource);
    this.rules = compileRules(rulesOf(source), schema, type);
    this.fields = fieldNodes(source, schema, type);
    const [element, entry] = type.kind === "list" ? [type.parameters[0], undefined] : [undefined, type.parameters[1]];
    this.items =
      source.items && schema.items && element && nodeFor(source.items, schema.items, element, isEmbedded(schema.items));
    const [values, known] = [source.additionalProperties, schema.additionalProperties];
    this.entries =
      typeof values === "object" && typeof known === "object" && entry
        ? nodeFor(values, known, entry, isEmbedded(known))
        : undefined;
    this.parts = (source.allOf ?? [])
      .map((part) => nodeFor(part, schema, type, isResource))
      .filter((node) => node !== undefined);
  }

  get isEmpty(): boolean {
    return this.rules.length === 0 && this.fields.size === 0 && !this.entries && !this.items && this.parts.length === 0;
  }
}

const isEmbedded = (schema: Schema): boolean => schema["x-kubernetes-embedded-resource"] === true;

function nodeFor(source: Schema, schema: Schema, type: CelType, isResource: boolean): ValidationNode | undefined {
  if (!hasRules(source)) return undefined;
  const node = new ValidationNode(source, schema, type, isResource);
  return node.isEmpty ? undefined : node;
}

function fieldNodes(source: Schema, schema: Schema, type: CelType): Map<string, ValidationNode> {
  const fields = new Map<string, ValidationNode>();
  for (const [key, property] of Object.entries(source.properties ?? {})) {
    const known = schema.properties?.[key];
    if (!known || !hasRules(property)) continue;
    const escaped = escapeName(key);
    const fieldType =
      escaped === undefined ? declareSchemaType(known, { isResource: isEmbedded(known) }) : type.fields?.get(escaped);
    const node = fieldType && nodeFor(property, known, fieldType, isEmbedded(known));
    if (node) fields.set(key, node);
  }
  return fields;
}

const ruled = new WeakMap<Schema, boolean>();

/** Reports whether there is a rule at or below a location. */
function hasRules(schema: Schema): boolean {
  let found = ruled.get(schema);
  if (found === undefined) {
    const { properties, additionalProperties, items, allOf } = schema;
    const children = [
      ...Object.values(properties ?? {}),
      ...(typeof additionalProperties === "object" ? [additionalProperties] : []),
      ...(items ? [items] : []),
      ...(allOf ?? []),
    ];
    found = rulesOf(schema).length > 0 || children.some(hasRules);
    ruled.set(schema, found);
  }
  return found;
}

/** Compiles all rules of a CRD's schema. Rules that do not compile fail every object, as on a real server. */
export function compileValidations(schema: Schema): CompiledValidations {
  const type = hasRules(schema) ? declareSchemaType(schema, { isResource: true }) : undefined;
  const root = type && nodeFor(schema, schema, type, true);
  if (!root) return { hasRules: false, validate: () => ({ errors: [], warnings: [] }) };
  return {
    hasRules: true,
    validate(object, oldObject, budget = { remaining: MAX_OBJECT_COST }) {
      return validateObject(root, object, oldObject, budget);
    },
  };
}

function validateObject(
  root: ValidationNode,
  object: JsonObject,
  oldObject: JsonObject | undefined,
  budget: CelBudget,
): ValidationOutcome {
  const walk = new Walk(budget);
  walk.visit(
    root,
    object,
    oldObject,
    "",
    oldObject === undefined ? Correlation.none : Correlation.root(object, oldObject, root.schema),
  );
  return { errors: walk.errors, warnings: walk.warnings };
}

class Walk {
  readonly errors: FieldError[] = [];
  readonly warnings: string[] = [];
  private readonly runner: RuleRunner;

  constructor(budget: CelBudget) {
    this.runner = new RuleRunner(budget, this.errors, this.warnings);
  }

  /** Returns whether there is budget left to continue. */
  visit(
    node: ValidationNode,
    value: Json | undefined,
    oldValue: Json | undefined,
    path: string,
    correlation: Correlation,
  ): boolean {
    if (value === null || value === undefined) return true;
    if (node.rules.length > 0 && !this.runner.run(node, value, oldValue, path, correlation)) return false;
    for (const part of node.parts)
      if (!this.visit(part, value, oldValue, path, correlation.withoutCurrent)) return false;
    if (Array.isArray(value)) return this.visitList(node, value, oldValue, path, correlation);
    return !isObject(value) || this.visitMap(node, value, oldValue, path, correlation);
  }

  private visitMap(
    node: ValidationNode,
    value: JsonObject,
    oldValue: Json | undefined,
    path: string,
    correlation: Correlation,
  ): boolean {
    const { entries, fields } = node;
    if (!entries && fields.size === 0) return true;
    const old = isObject(oldValue) ? oldValue : undefined;
    for (const key of Object.keys(value)) {
      const child = entries ?? fields.get(key);
      if (!child) continue;
      const before = old && Object.hasOwn(old, key) ? old[key] : undefined;
      const at = entries ? `${path}[${key}]` : path === "" ? key : `${path}.${key}`;
      if (!this.visit(child, value[key], before, at, correlation.key(key))) return false;
    }
    return true;
  }

  private visitList(
    node: ValidationNode,
    list: readonly Json[],
    oldValue: Json | undefined,
    path: string,
    correlation: Correlation,
  ): boolean {
    const { items } = node;
    if (!items) return true;
    const counterpart = counterpartsIn(node.schema, Array.isArray(oldValue) ? oldValue : []);
    for (const [index, item] of list.entries()) {
      if (!this.visit(items, item, counterpart?.(item), `${path}[${index}]`, correlation.index(index))) return false;
    }
    return true;
  }
}
