/**
 * Validates the rules of a CRD when it is written: invalid rule fields, expressions that do not compile, and rules that
 * could cost too much, alone or all together.
 */
import { field } from "@flotilla/apimachinery";
import type { FieldError, Schema } from "@flotilla/apimachinery";
import type { ValidationRuleErrors } from "../types/contract.ts";
import { escapeName } from "../syntax/escaping.ts";
import { validFieldPath } from "./field-paths.ts";
import { type CompiledRule, compileRules, rulesOf, type ValidationRule } from "./rule-compiler.ts";
import { declareSchemaType, MAX_REQUEST_BYTES } from "./schema-type.ts";
import { MAX } from "../cost/size-range.ts";
import type { CelType } from "../types/types.ts";

/** The maximum worst-case cost of one rule, and of all rules of a schema. */
const MAX_RULE_COST = 10_000_000;
const MAX_SCHEMA_COST = 100_000_000;
/**
 * The rules that are named when the total is too large: those with at least a hundredth of it, at most the four
 * largest.
 */
const MAX_NAMED = 4;

const REASONS = ["FieldValueDuplicate", "FieldValueForbidden", "FieldValueInvalid", "FieldValueRequired"];

export interface CheckRulesOptions {
  /** The path of the schema: `spec.validation.openAPIV3Schema`. */
  readonly path: string;
  /** Does not limit the cost of single rules, because the CRD already had such rules. The total is still limited. */
  readonly suppressRuleCost?: boolean;
}

export function checkValidationRules(schema: Schema, options: CheckRulesOptions): ValidationRuleErrors {
  const check = new RuleCheck(options);
  const schemaErrors: FieldError[] = [];
  check.visit(
    {
      schema,
      path: options.path,
      type: undefined,
      isRoot: true,
      inScope: false,
      cardinality: 1,
      uncorrelated: undefined,
      compiles: true,
    },
    schemaErrors,
  );
  return { schemaErrors, celErrors: check.celErrors, totalErrors: check.totalErrors() };
}

/** A location in the schema during the traversal. */
interface Place {
  readonly schema: Schema;
  readonly path: string;
  /** The type from the enclosing location, where there are rules above. */
  readonly type: CelType | undefined;
  readonly isRoot: boolean;
  /** Whether this location or an enclosing one has rules, so that types are needed. */
  readonly inScope: boolean;
  /** How often the location can occur in an object; undefined when it is unbounded. */
  readonly cardinality: number | undefined;
  /** The enclosing location within which old values cannot be correlated. */
  readonly uncorrelated: string | undefined;
  /** Rules in `not`, `oneOf` and the like are not compiled. */
  readonly compiles: boolean;
}

class RuleCheck {
  readonly celErrors: FieldError[] = [];
  private readonly options: CheckRulesOptions;
  private sum = 0;
  private readonly expensive: { path: string; cost: number }[] = [];

  constructor(options: CheckRulesOptions) {
    this.options = options;
  }

  /** Adds errors in rules' fields to `schemaErrors`, at this location and below. */
  visit(place: Place, schemaErrors: FieldError[]): void {
    const errors: FieldError[] = [];
    this.visitBelow(place, errors);
    const rules = rulesOf(place.schema);
    for (const [index, rule] of rules.entries())
      errors.push(...ruleErrors(rule, `${place.path}.x-kubernetes-validations[${index}]`, place.schema));
    // An invalid rule below must be fixed first; errors of this location's rules would only confuse.
    if (rules.length > 0 && errors.length === 0 && place.compiles) this.compile(place, rules);
    schemaErrors.push(...errors);
  }

  private visitBelow(place: Place, errors: FieldError[]): void {
    const { schema, path } = place;
    const { additionalProperties, properties, items, not, allOf, oneOf, anyOf } = schema;
    const type = this.typeOf(place);
    const below = {
      isRoot: false,
      inScope: type !== undefined || place.inScope,
      cardinality: childCardinality(place),
      compiles: place.compiles,
    };
    if (typeof additionalProperties === "object") {
      this.visit(
        {
          ...place,
          ...below,
          schema: additionalProperties,
          path: `${path}.additionalProperties`,
          type: type?.parameters[1],
        },
        errors,
      );
    }
    for (const [key, property] of Object.entries(properties ?? {})) {
      const escaped = escapeName(key);
      this.visit(
        {
          ...place,
          ...below,
          schema: property,
          path: `${path}.properties[${key}]`,
          type: escaped === undefined ? undefined : type?.fields?.get(escaped),
        },
        errors,
      );
    }
    const uncompiled = { ...place, isRoot: false, compiles: false };
    if (not) this.visit({ ...uncompiled, schema: not, path: `${path}.not` }, errors);
    for (const [name, parts] of [
      ["allOf", allOf],
      ["oneOf", oneOf],
      ["anyOf", anyOf],
    ] as const) {
      for (const [index, part] of (parts ?? []).entries())
        this.visit({ ...uncompiled, schema: part, path: `${path}.${name}[${index}]` }, errors);
    }
    if (items) {
      const uncorrelated =
        schema["x-kubernetes-list-type"] === "map" ? place.uncorrelated : (place.uncorrelated ?? path);
      this.visit(
        { ...place, ...below, schema: items, path: `${path}.items`, type: type?.parameters[0], uncorrelated },
        errors,
      );
    }
  }

  /** The type of values here, where it is needed: taken from the parent, or created from the schema. */
  private typeOf(place: Place): CelType | undefined {
    const { schema, type, isRoot, inScope, compiles } = place;
    if (type || !compiles) return type;
    return inScope || rulesOf(schema).length > 0
      ? declareSchemaType(schema, { isResource: isRoot || schema["x-kubernetes-embedded-resource"] === true })
      : undefined;
  }

  private compile(place: Place, rules: readonly ValidationRule[]): void {
    const type = this.typeOf(place);
    const at = `${place.path}.x-kubernetes-validations`;
    if (!type) {
      this.celErrors.push(
        field.internal(
          at,
          "internal error: failed to construct type information for x-kubernetes-validations rules: unable to convert structural schema to CEL declarations",
        ),
      );
      return;
    }
    const cardinality = place.cardinality ?? Math.floor(MAX_REQUEST_BYTES / ((type.minSerializedSize ?? 0) + 1));
    for (const [index, rule] of compileRules(rules, place.schema, type).entries())
      this.judge(rule, `${at}[${index}]`, cardinality, place.uncorrelated);
  }

  private judge(compiled: CompiledRule, at: string, cardinality: number, uncorrelated: string | undefined): void {
    const { rule, program, error, message, messageError, usesOldSelf } = compiled;
    this.observe("estimated rule cost", `${at}.rule`, Math.min(MAX, (program?.cost.max ?? 0) * cardinality));
    if (error !== undefined) this.celErrors.push(field.invalid(`${at}.rule`, field.shown(JSON.stringify(rule)), error));
    if (messageError !== undefined)
      this.celErrors.push(field.invalid(`${at}.messageExpression`, field.shown(JSON.stringify(rule)), messageError));
    if (message) this.observe("estimated messageExpression cost", `${at}.messageExpression`, message.cost.max);
    if (usesOldSelf) {
      if (uncorrelated !== undefined)
        this.celErrors.push(
          field.invalid(
            `${at}.rule`,
            rule.rule,
            `oldSelf cannot be used on the uncorrelatable portion of the schema within ${uncorrelated}`,
          ),
        );
    } else if (rule.optionalOldSelf !== undefined)
      this.celErrors.push(
        field.invalid(`${at}.optionalOldSelf`, rule.optionalOldSelf, "may not be set if oldSelf is not used in rule"),
      );
  }

  private observe(what: string, path: string, cost: number): void {
    if (this.options.suppressRuleCost !== true && cost > MAX_RULE_COST)
      this.celErrors.push(field.forbidden(path, tooCostly(what, cost, MAX_RULE_COST)));
    this.sum = Math.min(MAX, this.sum + cost);
    if (cost < MAX_SCHEMA_COST / 100) return;
    this.expensive.push({ path, cost });
    this.expensive.sort((a, b) => b.cost - a.cost);
    this.expensive.length = Math.min(this.expensive.length, MAX_NAMED);
  }

  totalErrors(): FieldError[] {
    if (this.sum <= MAX_SCHEMA_COST) return [];
    const named = this.expensive.map(({ path }) =>
      field.forbidden(
        path,
        "contributed to estimated rule cost total exceeding cost limit for entire OpenAPIv3 schema",
      ),
    );
    return [
      ...named,
      field.forbidden(
        this.options.path,
        tooCostly(
          "x-kubernetes-validations estimated rule cost total for entire OpenAPIv3 schema",
          this.sum,
          MAX_SCHEMA_COST,
        ),
      ),
    ];
  }
}

/** Elements and entries multiply; everything below an unbounded one is unbounded. */
function childCardinality({ schema, cardinality }: Place): number | undefined {
  const { type, additionalProperties, maxProperties, maxItems } = schema;
  const isMap = type === "object" && additionalProperties !== undefined;
  if (type !== "array" && !isMap) return cardinality;
  const most = isMap ? maxProperties : maxItems;
  return cardinality === undefined || most === undefined ? undefined : Math.min(MAX, cardinality * Math.max(0, most));
}

const hasLineBreak = (text: string): boolean => /[\n\r]/.test(text);

/** Validates the fields of a rule, before it is compiled. */
function ruleErrors(given: ValidationRule, at: string, schema: Schema): FieldError[] {
  const { rule, message = "", messageExpression = "", reason, fieldPath = "" } = given;
  const errors: FieldError[] = [];
  if (rule.trim() === "") errors.push(field.required(`${at}.rule`, "rule is not specified"));
  else if (message !== "" && message.trim() === "")
    errors.push(field.invalid(`${at}.message`, message, "must be non-empty if specified"));
  else if (hasLineBreak(message.trim()))
    errors.push(field.invalid(`${at}.message`, message, "must not contain line breaks"));
  else if (hasLineBreak(rule.trim()) && message.trim() === "")
    errors.push(field.required(`${at}.message`, "message must be specified if rule contains line breaks"));
  if (messageExpression !== "" && messageExpression.trim() === "")
    errors.push(field.required(`${at}.messageExpression`, "messageExpression must be non-empty if specified"));
  if (reason !== undefined && !REASONS.includes(reason)) {
    errors.push(field.notSupported(`${at}.reason`, reason, REASONS));
  }
  if (fieldPath === "") return errors;
  if (fieldPath.trim() === "")
    errors.push(field.invalid(`${at}.fieldPath`, fieldPath, "must be non-empty if specified"));
  if (hasLineBreak(fieldPath)) errors.push(field.invalid(`${at}.fieldPath`, fieldPath, "must not contain line breaks"));
  if (!validFieldPath(fieldPath, schema))
    errors.push(field.invalid(`${at}.fieldPath`, fieldPath, "must be a valid path"));
  return errors;
}

function tooCostly(what: string, cost: number, limit: number): string {
  const factor = cost / limit;
  const times = factor > 100 ? "more than 100x" : `${factor < 1.5 ? factor.toFixed(6) : factor.toFixed(1)}x`;
  return (
    `${what} exceeds budget by factor of ${times} (try simplifying the rule, or adding maxItems, maxProperties, ` +
    "and maxLength where arrays, maps, and strings are declared)"
  );
}
