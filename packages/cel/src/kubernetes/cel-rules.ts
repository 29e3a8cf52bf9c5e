/** Runs the rules of one location on one value and reports failures in the API server's wording. */
import type { Json } from "@flotilla/base";
import { field, type FieldError } from "@flotilla/apimachinery";
import type { CelBudget, CelProgram } from "../types/contract.ts";
import type { Correlation } from "./correlation.ts";
import { COST_ERROR } from "../values/frame.ts";
import { type ValueNode, valueOf } from "../compile/json-values.ts";
import type { CompiledRule, ValidationRule } from "./rule-compiler.ts";
import { CelError, CelOptional, type CelValue } from "../values/values.ts";

/** A location with rules. */
export interface RuledPlace {
  readonly values: ValueNode;
  readonly rules: readonly CompiledRule[];
}

const OUT_OF_BUDGET = "validation failed due to running out of cost budget, no further validation rules will be run";
const MAX_MESSAGE_BYTES = 5 * 1024;

/** The name of a rule in messages. */
const nameOf = ({ message, rule }: ValidationRule): string => (message || rule).trim();
const defaultMessage = (rule: ValidationRule): string =>
  rule.message ? rule.message.trim() : `failed rule: ${rule.rule.trim()}`;

export class RuleRunner {
  private readonly budget: CelBudget;
  private readonly errors: FieldError[];
  private readonly warnings: string[];

  constructor(budget: CelBudget, errors: FieldError[], warnings: string[]) {
    this.budget = budget;
    this.errors = errors;
    this.warnings = warnings;
  }

  /** Returns whether there is budget left to continue. */
  run(
    { rules, values }: RuledPlace,
    value: Json,
    oldValue: Json | undefined,
    path: string,
    correlation: Correlation,
  ): boolean {
    const type = values.schema.type ?? "";
    if (this.budget.remaining <= 0) return this.stop(path, type, OUT_OF_BUDGET);
    const self = valueOf(value, values);
    const oldSelf = oldValue === undefined || oldValue === null ? undefined : valueOf(oldValue, values);
    for (const rule of rules) {
      if (rule.error !== undefined) {
        this.errors.push(invalid(path, type, `rule compile error: ${rule.error}`));
        continue;
      }
      const isOptional = rule.rule.optionalOldSelf === true;
      if (!rule.program || (rule.usesOldSelf && oldSelf === undefined && !isOptional)) continue;
      const bindings: Record<string, CelValue> = { self };
      if (isOptional) bindings["oldSelf"] = oldSelf === undefined ? CelOptional.none : new CelOptional(oldSelf);
      else if (oldSelf !== undefined) bindings["oldSelf"] = oldSelf;
      const result = rule.program.evaluate(bindings, this.budget);
      if (this.budget.remaining < 0) return this.stop(path, type, OUT_OF_BUDGET);
      if (result === true) continue;
      const isFine =
        result instanceof CelError
          ? this.failed(result, rule, path, type)
          : this.refused(rule, bindings, value, path, type, correlation);
      if (!isFine) return false;
    }
    return true;
  }

  private stop(path: string, type: string, why: string): false {
    this.errors.push(invalid(path, type, why));
    this.budget.remaining = -1;
    return false;
  }

  /** The rule could not be evaluated. */
  private failed({ message }: CelError, { rule }: CompiledRule, path: string, type: string): boolean {
    if (message === COST_ERROR.message)
      return this.stop(
        path,
        type,
        `'${message}': no further validation rules will be run due to call cost exceeds limit for rule: ${nameOf(rule)}`,
      );
    const isOverload = message.startsWith("no such overload");
    const text = isOverload
      ? `'${message}': call arguments did not match a supported operator, function or macro signature for rule: ${nameOf(rule)}`
      : `${message} evaluating rule: ${nameOf(rule)}`;
    this.errors.push(invalid(path, type, text));
    return true;
  }

  /** The rule evaluated to false. */
  private refused(
    compiled: CompiledRule,
    bindings: Readonly<Record<string, CelValue>>,
    value: Json,
    path: string,
    type: string,
    correlation: Correlation,
  ): boolean {
    const at = compiled.fieldPath === "" ? path : path === "" ? compiled.fieldPath : `${path}.${compiled.fieldPath}`;
    const add = (error: FieldError): void => {
      if (!compiled.usesOldSelf && correlation.isUnchanged) this.warnings.push(`${error.field}: ${error.message}`);
      else this.errors.push(error);
    };
    const message = compiled.message && this.message(compiled.message, bindings);
    if (message instanceof CelError) {
      add(invalid(at, type, message.message));
      this.budget.remaining = -1;
      return false;
    }
    add(
      refusal(
        compiled.rule.reason,
        at,
        type === "object" || type === "array" ? undefined : value,
        message ?? defaultMessage(compiled.rule),
      ),
    );
    return true;
  }

  /**
   * The result of a message expression; undefined when it is not a printable string, an error when the budget is
   * exhausted.
   */
  private message(program: CelProgram, bindings: Readonly<Record<string, CelValue>>): string | CelError | undefined {
    const result = program.evaluate(bindings, this.budget);
    if (this.budget.remaining < 0)
      return new CelError(
        "messageExpression evaluation failed due to running out of cost budget, no further validation rules will be run",
      );
    if (result === COST_ERROR)
      return new CelError(
        `no further validation rules will be run due to call cost exceeds limit for messageExpression: ${JSON.stringify(program.source)}`,
      );
    if (typeof result !== "string") return undefined;
    const text = result.trim();
    return text === "" || text.includes("\n") || Buffer.byteLength(text) > MAX_MESSAGE_BYTES ? undefined : text;
  }
}

/** The path of the object itself is empty. */
const fieldOf = (path: string): string => (path === "" ? "<nil>" : path);

/** Shown instead of the value, which may be large: the type of the location. */
const invalid = (path: string, type: string, detail: string): FieldError => field.invalid(fieldOf(path), type, detail);

/** `value` is absent where it is not shown. */
function refusal(reason: string | undefined, path: string, value: Json | undefined, detail: string): FieldError {
  const at = fieldOf(path);
  const shown = value === undefined ? field.noValue : value;
  switch (reason) {
    case "FieldValueForbidden":
      return field.forbidden(at, detail);
    case "FieldValueRequired":
      return field.required(at, detail);
    case "FieldValueDuplicate":
      return field.duplicate(at, shown);
    default:
      return field.invalid(at, shown, detail);
  }
}
