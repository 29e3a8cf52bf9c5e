/**
 * The API of compiled expressions and of the compiled rules of a schema.
 *
 * An expression is compiled once and evaluated often. Evaluation never throws because of an expression or its data: a
 * failure is a value of class `CelError`, as in CEL. Cost units are counted during evaluation; an exhausted budget ends
 * it.
 */
import type { JsonObject } from "@flotilla/base";
import type { FieldError } from "@flotilla/apimachinery";
import type { Row } from "./functions.ts";
import type { CelType } from "./types.ts";
import type { CelError, CelValue } from "../values/values.ts";

/** Remaining cost units of the evaluations that share this budget. Below zero once it is exceeded. */
export interface CelBudget {
  remaining: number;
  /** Search steps that are still free of charge beyond their cost. Evaluations set it. */
  freeSearchSteps?: number;
}

/** Static bounds of the cost of one evaluation. `max` is at most 2^64-1, and exact below 2^53. */
export interface CelCost {
  readonly min: number;
  readonly max: number;
}

export interface CelProgram {
  readonly source: string;
  readonly resultType: CelType;
  readonly cost: CelCost;
  /** Reports whether the expression reads this variable. */
  uses(variable: string): boolean;
  /**
   * The value, or an error. Bindings are CEL values; `celValueOf(json, schema)` creates one from JSON, lazily. A call
   * stops with an error at its own limit (`MAX_CALL_COST`), and subtracts its cost from the budget.
   */
  evaluate(bindings: Readonly<Record<string, CelValue>>, budget: CelBudget): CelValue | CelError;
}

export interface CompileCelOptions {
  readonly variables: Readonly<Record<string, CelType>>;
  /** `cel.bind(name, value, expression)` names a part of the expression. CRD rules do not have it. */
  readonly hasBindings?: true;
  /** Elements of a list or map literal may have different types. In CRD rules they may not. */
  readonly mixesTypes?: true;
  /** Functions in addition to those of Kubernetes, with distinct names. */
  readonly library?: readonly Row[];
  /** The types of which expressions can create objects, by name. CRD rules have none. */
  readonly messages?: (name: string) => CelType | undefined;
}

/** `errors` has cel-go's format: one `ERROR: <input>:1:8: …` with the line and a caret for each. */
export type CompileCelResult =
  | { readonly program: CelProgram; readonly errors?: undefined }
  | { readonly program?: undefined; readonly errors: string };

export interface ValidationOutcome {
  /** Reasons why the object is invalid. */
  readonly errors: FieldError[];
  /**
   * Rules that fail on parts that an update did not change: the write is accepted and each is returned in a `Warning:`
   * header.
   */
  readonly warnings: string[];
}

/** The compiled rules of one schema. */
export interface CompiledValidations {
  /** Reports whether there is any rule; `validate` of a schema without rules costs nothing. */
  readonly hasRules: boolean;
  /**
   * Runs every rule on the object, which has already been validated against the schema. With `oldObject` transition
   * rules run too, and failures of other rules on unchanged parts become warnings. The default budget is that of one
   * object.
   */
  validate(object: JsonObject, oldObject?: JsonObject, budget?: CelBudget): ValidationOutcome;
}

/** Errors in the rules of a CRD's schema. */
export interface ValidationRuleErrors {
  /** Errors in a rule's own fields: an empty rule, an unknown reason, a path that does not exist. */
  readonly schemaErrors: FieldError[];
  /** Rules that do not compile, cost too much, or use `oldSelf` where it cannot be known. */
  readonly celErrors: FieldError[];
  /** Errors about the total cost of all rules; they come last in the response. */
  readonly totalErrors: FieldError[];
}
