/** A compiled ValidatingAdmissionPolicy: its expressions on one request, with one parameter. Pure. */
import type {
  AuditAnnotation,
  ValidatingAdmissionPolicySpec,
  Validation,
} from "@flotilla/apimachinery/facts/admissionregistration-v1.ts";
import type { DeepReadonly } from "@flotilla/base";
import {
  AdmissionCompiler,
  BOOL,
  CelError,
  compileMatchConditions,
  MAX_POLICY_COST,
  NULL,
  STRING,
} from "@flotilla/cel";
import type {
  AdmissionBindings,
  AdmissionInput,
  CelBudget,
  CelValue,
  CompiledAdmissionExpression,
  MatchConditions,
} from "@flotilla/cel";

/** Why a policy denies a request. */
export interface PolicyDenial {
  readonly message: string;
  readonly reason: string;
  /** The position of the validation. */
  readonly index: number;
}

export interface PolicyOutcome {
  /** What the actions of the binding are applied to. */
  readonly denials: readonly PolicyDenial[];
  /** Errors of audit annotations: these deny whatever the actions are. */
  readonly errors: readonly string[];
  readonly annotations: readonly { readonly key: string; readonly value: string }[];
}

export interface ValidatingPolicy {
  evaluate(input: AdmissionInput): PolicyOutcome;
}

interface CompiledValidation {
  readonly settings: DeepReadonly<Validation>;
  readonly expression: CompiledAdmissionExpression;
  readonly message: CompiledAdmissionExpression | undefined;
}

interface CompiledAnnotation {
  readonly key: string;
  readonly value: CompiledAdmissionExpression;
}

export const DEFAULT_REASON = "Invalid";
const MAX_MESSAGE_BYTES = 5 * 1024;
const NO_OUTCOME: PolicyOutcome = { denials: [], errors: [], annotations: [] };

export function compileValidatingPolicy(spec: DeepReadonly<ValidatingAdmissionPolicySpec>): ValidatingPolicy {
  const { validations = [], auditAnnotations = [], variables = [], matchConditions = [] } = spec;
  const hasParams = spec.paramKind !== undefined;
  const compiler = new AdmissionCompiler({ hasParams, hasVariables: variables.length > 0 });
  for (const { name, expression } of variables) compiler.addVariable(name, expression);
  const evaluation = new Evaluation(
    compiler,
    compileMatchConditions(matchConditions, { hasParams }),
    validations.map((settings) => compileValidation(compiler, settings)),
    auditAnnotations.map((annotation) => compileAnnotation(compiler, annotation)),
    spec.failurePolicy === "Ignore",
  );
  return { evaluate: (input) => evaluation.run(input) };
}

function compileValidation(compiler: AdmissionCompiler, settings: DeepReadonly<Validation>): CompiledValidation {
  const { expression, messageExpression } = settings;
  return {
    settings,
    expression: compiler.compile(expression, { returns: [BOOL] }),
    message: messageExpression
      ? compiler.compile(messageExpression, { returns: [STRING], hasAuthorizer: false })
      : undefined,
  };
}

const compileAnnotation = (
  compiler: AdmissionCompiler,
  { key, valueExpression }: DeepReadonly<AuditAnnotation>,
): CompiledAnnotation => ({ key, value: compiler.compile(valueExpression, { returns: [STRING, NULL] }) });

class Evaluation {
  readonly #compiler: AdmissionCompiler;
  readonly #conditions: MatchConditions;
  readonly #validations: readonly CompiledValidation[];
  readonly #annotations: readonly CompiledAnnotation[];
  readonly #ignoresErrors: boolean;

  constructor(
    compiler: AdmissionCompiler,
    conditions: MatchConditions,
    validations: readonly CompiledValidation[],
    annotations: readonly CompiledAnnotation[],
    ignoresErrors: boolean,
  ) {
    this.#compiler = compiler;
    this.#conditions = conditions;
    this.#validations = validations;
    this.#annotations = annotations;
    this.#ignoresErrors = ignoresErrors;
  }

  run(input: AdmissionInput): PolicyOutcome {
    const { matches, error } = this.#conditions.match(input);
    if (error !== undefined) return { ...NO_OUTCOME, denials: this.#failed(error, 0) };
    if (!matches) return NO_OUTCOME;
    const bindings = this.#compiler.bind(input);
    const budget: CelBudget = { remaining: MAX_POLICY_COST };
    const denials: PolicyDenial[] = [];
    const failing: number[] = [];
    for (const [index, { expression }] of this.#validations.entries()) {
      const result = evaluate(expression, bindings, budget);
      // Nothing else is evaluated, and no other result counts.
      if (budget.remaining < 0) return { ...NO_OUTCOME, denials: this.#failed((result as CelError).message, index) };
      if (result instanceof CelError) denials.push(...this.#failed(result.message, index));
      else if (result !== true) failing.push(index);
    }
    // Messages use what the validations left of the budget.
    for (const index of failing) denials.push(this.#denial(index, bindings, budget));
    return { denials: denials.toSorted((a, b) => a.index - b.index), ...this.#annotate(bindings) };
  }

  #failed(message: string, index: number): PolicyDenial[] {
    return this.#ignoresErrors ? [] : [{ message, reason: DEFAULT_REASON, index }];
  }

  #denial(index: number, bindings: AdmissionBindings, budget: CelBudget): PolicyDenial {
    const { settings, message } = this.#validations[index] as CompiledValidation;
    const result = message && budget.remaining >= 0 ? evaluate(message, bindings, budget) : undefined;
    return { index, reason: settings.reason ?? DEFAULT_REASON, message: denialMessage(settings, result) };
  }

  #annotate(bindings: AdmissionBindings): Pick<PolicyOutcome, "errors" | "annotations"> {
    const errors: string[] = [];
    const annotations: { key: string; value: string }[] = [];
    const budget: CelBudget = { remaining: MAX_POLICY_COST };
    for (const { key, value } of this.#annotations) {
      const result = evaluate(value, bindings, budget);
      if (result instanceof CelError) errors.push(result.message);
      else if (typeof result === "string" && result.trim() !== "") annotations.push({ key, value: result.trim() });
      if (budget.remaining < 0) break;
    }
    return { errors: this.#ignoresErrors ? [] : errors, annotations };
  }
}

function evaluate(
  { expression, problem }: CompiledAdmissionExpression,
  bindings: AdmissionBindings,
  budget: CelBudget,
): CelValue {
  return expression ? expression.evaluate(bindings, budget) : new CelError(`compilation error: ${problem.detail}`);
}

/** The evaluated message, or the fixed one, or the expression. An evaluated message must be one short line. */
export function denialMessage(
  { expression, message = "" }: Pick<DeepReadonly<Validation>, "expression" | "message">,
  evaluated: CelValue | undefined,
): string {
  const text = typeof evaluated === "string" ? evaluated.trim() : "";
  if (text !== "" && !text.includes("\n") && Buffer.byteLength(text) <= MAX_MESSAGE_BYTES) return text;
  return message.trim() || `failed expression: ${expression.trim()}`;
}
