/** A walk through a value that is validated: where it is, what it found, and how errors name the place. */
import type { Json } from "../base/index.ts";
import { formatPath, type PathStep } from "./field-path.ts";
import { formatValue } from "./format-value.ts";
import { PatternWork } from "./pattern-work.ts";
import type { Schema } from "./schema.ts";
import type { FieldError } from "./status.ts";
import type { NumberReport } from "./structural-number.ts";

/**
 * Ends a walk: matching its patterns takes too long. Kept as one error among others it would let pass what stands in a
 * `not`.
 */
export class WalkStopped extends Error {
  readonly error: FieldError;
  constructor(error: FieldError) {
    super(error.message);
    this.error = error;
  }
}

/** Where a walk is and what it found. */
export class ValidationWalk implements NumberReport {
  readonly steps: PathStep[] = [];
  errors: FieldError[] = [];
  embedded: FieldError[] = [];
  duplicates: FieldError[] = [];
  /** How many checks passed. Of alternatives that all fail, the one with most is the one that was meant. */
  matches = 0;
  /** The field that the walk begins at; empty for a whole object. */
  readonly base: string;
  /** Errors in what is equal to its old value are dropped; otherwise the old value is only good for skipping. */
  readonly ratchets: boolean;
  /** What all patterns together may take, those of alternatives too. */
  readonly patternWork: PatternWork;
  /** The root schema, to tell keys of maps from fields. */
  private readonly root: Schema;

  constructor(root: Schema, base: string, ratchets: boolean, patternWork = new PatternWork()) {
    this.root = root;
    this.base = base;
    this.ratchets = ratchets;
    this.patternWork = patternWork;
  }

  /** A walk for an alternative, which is judged before its errors count. */
  branch(): ValidationWalk {
    const walk = new ValidationWalk(this.root, this.base, this.ratchets, this.patternWork);
    walk.steps.push(...this.steps);
    return walk;
  }

  /** As messages of keywords show it: `spec.list[0].key`. */
  path(): string {
    const [first] = this.steps;
    // The keys of a map at the very root are told with a dot before them.
    const isKey =
      typeof first === "string" && typeof this.root.additionalProperties === "object" && !isProperty(this.root, first);
    return isKey ? `.${formatPath(this.steps)}` : formatPath(this.steps);
  }

  /** As the other messages show it: keys of maps in brackets, `spec.map[key]`. */
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

  report(type: FieldError["type"], message: string): void {
    this.errors.push(this.errorHere(type, message));
  }

  errorHere(type: FieldError["type"], message: string): FieldError {
    const path = formatPath(this.steps);
    const field = this.base === "" ? path : path === "" ? this.base : `${this.base}.${path}`;
    return { type, field: field || "<nil>", message };
  }

  invalid(value: Json, message: string): void {
    this.report("Invalid", `Invalid value: ${formatValue(value)}: ${message}`);
  }

  /** What the real server cannot tie to a field. */
  remark(message: string): void {
    this.errors.push({ type: "Invalid", field: this.base || "<nil>", message: `Invalid value: "": ${message}` });
  }
}

export const isProperty = ({ properties }: Schema, key: string): boolean =>
  properties !== undefined && Object.hasOwn(properties, key);
