/** The state of a validation walk: its position, its errors, and how errors name the path. */
import type { Json } from "@flotilla/base";
import { field, type FieldError } from "../field.ts";
import { formatPath, type PathStep } from "../field-path.ts";
import { formatValue } from "../format-value.ts";
import { PatternWork } from "../regex/index.ts";
import type { Schema } from "../schema.ts";
import type { NumberReport } from "./structural-number.ts";

/**
 * How often the alternatives of a schema (`anyOf` and others) may be tried for one object: nearly one for each value of
 * the largest one, in some 150 ms. The number of alternatives multiplies with the number of values.
 */
const MAX_TRIALS = 50_000;

/** Ends a walk: matching its patterns or trying its alternatives takes too long. As one error among others it would let a `not` pass. */
export class WalkStopped extends Error {
  readonly error: FieldError;
  constructor(error: FieldError) {
    super(error.message);
    this.error = error;
  }
}

/** The position and findings of a walk. */
export class ValidationWalk implements NumberReport {
  readonly steps: PathStep[] = [];
  errors: FieldError[] = [];
  embedded: FieldError[] = [];
  duplicates: FieldError[] = [];
  /** The number of passed checks. Of alternatives that all fail, the one with the most is the closest. */
  matches = 0;
  /** The field at which the walk starts; empty for a whole object. */
  readonly base: string;
  /** Errors in values that equal their old value are dropped; otherwise the old value is only used for skipping. */
  readonly ratchets: boolean;
  /** The step budget of all patterns, including those of alternatives. */
  readonly patternWork: PatternWork;
  /** The remaining trials, of this walk and of those of alternatives. */
  readonly trials: { left: number };
  /** The root schema, to distinguish map keys from fields. */
  private readonly root: Schema;

  constructor(
    root: Schema,
    base: string,
    ratchets: boolean,
    { patternWork, trials }: { patternWork: PatternWork; trials: { left: number } } = {
      patternWork: new PatternWork(),
      trials: { left: MAX_TRIALS },
    },
  ) {
    this.root = root;
    this.trials = trials;
    this.base = base;
    this.ratchets = ratchets;
    this.patternWork = patternWork;
  }

  /** A walk for an alternative, which is evaluated before its errors count. */
  branch(): ValidationWalk {
    if (--this.trials.left < 0)
      throw new WalkStopped(
        field.invalid(
          this.errorPath(),
          field.shown("..."),
          `${this.path()} in body cannot be checked: the alternatives of the schema (anyOf, oneOf, allOf, not) ` +
            `are tried more than ${MAX_TRIALS} times for this object`,
        ),
      );
    const walk = new ValidationWalk(this.root, this.base, this.ratchets, this);
    walk.steps.push(...this.steps);
    return walk;
  }

  /** The path in keyword messages: `spec.list[0].key`. */
  path(): string {
    const [first] = this.steps;
    // The keys of a map at the root are reported with a leading dot.
    const isKey =
      typeof first === "string" && typeof this.root.additionalProperties === "object" && !isProperty(this.root, first);
    return isKey ? `.${formatPath(this.steps)}` : formatPath(this.steps);
  }

  /** The path in other messages: map keys in brackets, `spec.map[key]`. */
  fieldPath(): string {
    let text = this.base;
    let schema: Schema | undefined = this.root;
    for (const step of this.steps) {
      const isField: boolean =
        typeof step === "string" &&
        (schema === undefined || isProperty(schema, step) || typeof schema.additionalProperties !== "object");
      text += isField ? `${text === "" ? "" : "."}${step}` : `[${step}]`;
      const { additionalProperties, items, properties }: Schema = schema ?? {};
      schema =
        typeof step === "number"
          ? items
          : isField
            ? properties?.[step]
            : typeof additionalProperties === "object"
              ? additionalProperties
              : undefined;
    }
    return text;
  }

  /** The path at which errors are reported. */
  errorPath(): string {
    const path = formatPath(this.steps);
    return (this.base === "" ? path : path === "" ? this.base : `${this.base}.${path}`) || "<nil>";
  }

  report(error: FieldError): void {
    this.errors.push(error);
  }

  invalid(value: Json | bigint, message: string): void {
    this.report(field.invalid(this.errorPath(), field.shown(formatValue(value)), message));
  }

  /** An error that the real server does not associate with a field. */
  remark(message: string): void {
    this.report(field.invalid(this.base || "<nil>", "", message));
  }
}

export const isProperty = ({ properties }: Schema, key: string): boolean =>
  properties !== undefined && Object.hasOwn(properties, key);
