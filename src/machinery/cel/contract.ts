/**
 * What a compiled expression and the compiled rules of a schema offer to their callers.
 *
 * An expression is compiled once and evaluated often. Evaluation never throws for what an expression or its data do: a
 * failure is a value of class `CelError`, as CEL has it. Work is counted in cost units while it is done; a budget that
 * runs out ends it.
 */
import type { JsonObject } from "../../base/index.ts";
import type { FieldError } from "../status.ts";
import type { Row } from "./functions.ts";
import type { CelType } from "./types.ts";
import type { CelError, CelValue } from "./values.ts";

/** Cost units that are left for the evaluations that share this budget. It is below zero once they were not enough. */
export interface CelBudget {
  remaining: number;
  /** Steps that searches may still take beyond their cost before these cost more. Evaluations fill it in. */
  freeSearchSteps?: number;
}

/** Static bounds of what one evaluation costs. `max` is at most 2^64-1, and exact below 2^53. */
export interface CelCost {
  readonly min: number;
  readonly max: number;
}

export interface CelProgram {
  readonly source: string;
  readonly resultType: CelType;
  readonly cost: CelCost;
  /** Whether the expression reads this variable. */
  uses(variable: string): boolean;
  /**
   * The value, or why there is none. Bindings are CEL values; `celValueOf(json, schema)` makes one of JSON, lazily. A
   * call stops with an error at its own limit (`MAX_CALL_COST`), and takes what it used from the budget.
   */
  evaluate(bindings: Readonly<Record<string, CelValue>>, budget: CelBudget): CelValue | CelError;
}

export interface CompileCelOptions {
  readonly variables: Readonly<Record<string, CelType>>;
  /** `cel.bind(name, value, expression)` names a part of the expression. Rules of definitions do not have it. */
  readonly hasBindings?: true;
  /** Elements of a list or a map that is written out may have different types. In rules of definitions they may not. */
  readonly mixesTypes?: true;
  /** Functions besides those of Kubernetes; none of them has the name of one of those. */
  readonly library?: readonly Row[];
}

/** `errors` reads as cel-go prints it: one `ERROR: <input>:1:8: …` with the line and a caret for each. */
export type CompileCelResult =
  | { readonly program: CelProgram; readonly errors?: undefined }
  | { readonly program?: undefined; readonly errors: string };

export interface ValidationOutcome {
  /** What makes the object invalid. */
  readonly errors: FieldError[];
  /** Rules that fail on what an update did not change: the write passes and each comes back in a `Warning:` header. */
  readonly warnings: string[];
}

/** The rules of one schema, compiled. */
export interface CompiledValidations {
  /** Whether there is any rule; `validate` of a schema without rules costs nothing. */
  readonly hasRules: boolean;
  /**
   * Runs every rule on the object, which was admitted and found valid by the schema before. With `oldObject` transition
   * rules run too, and failures of other rules on unchanged parts become warnings. The default budget is that of one
   * object.
   */
  validate(object: JsonObject, oldObject?: JsonObject, budget?: CelBudget): ValidationOutcome;
}

/** What is wrong with the rules of a definition's schema. */
export interface ValidationRuleErrors {
  /** What is wrong with a rule's own fields: an empty rule, an unknown reason, a path that does not exist. */
  readonly schemaErrors: FieldError[];
  /** What does not compile, costs too much, or uses `oldSelf` where it cannot be known. */
  readonly celErrors: FieldError[];
  /** Refusals of the cost of all rules together; they come last in the answer. */
  readonly totalErrors: FieldError[];
}
