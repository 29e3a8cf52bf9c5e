/** Match conditions: further requirements on a request before a webhook is called or a policy applies. */
import { AdmissionCompiler, type CompiledAdmissionExpression, MAX_MATCH_COST } from "./admission-expressions.ts";
import type { AdmissionInput } from "./admission-types.ts";
import { BOOL } from "../types/types.ts";
import { CelError } from "../values/values.ts";

/** `error` is set when no condition is false and at least one cannot be evaluated: the failure policy decides. */
export type MatchOutcome =
  | { readonly matches: true; readonly error?: undefined }
  | { readonly matches: false; readonly failedCondition: string; readonly error?: undefined }
  | { readonly matches?: undefined; readonly error: string };

export interface MatchConditions {
  match(input: AdmissionInput): MatchOutcome;
}

const MATCHES: MatchOutcome = Object.freeze({ matches: true });

/** Conditions are validated when they are written; one that does not compile is an error of every request. */
export function compileMatchConditions(
  conditions: readonly { readonly name: string; readonly expression: string }[],
  { hasParams = false }: { hasParams?: boolean } = {},
): MatchConditions {
  if (conditions.length === 0) return { match: () => MATCHES };
  const compiler = new AdmissionCompiler({ hasParams });
  const compiled = conditions.map(({ name, expression }) => ({
    name,
    compiled: compiler.compile(expression, { returns: [BOOL] }),
  }));
  return { match: (input) => evaluateAll(compiler, compiled, input) };
}

function evaluateAll(
  compiler: AdmissionCompiler,
  conditions: readonly { name: string; compiled: CompiledAdmissionExpression }[],
  input: AdmissionInput,
): MatchOutcome {
  const bindings = compiler.bind(input);
  const budget = { remaining: MAX_MATCH_COST };
  const errors = new Set<string>();
  for (const { name, compiled } of conditions) {
    const { expression, problem } = compiled;
    const result = expression
      ? expression.evaluate(bindings, budget)
      : new CelError(`compilation error: ${problem.detail}`);
    if (result === false) return { matches: false, failedCondition: name };
    if (budget.remaining < 0) return { error: (result as CelError).message };
    if (result instanceof CelError) errors.add(result.message);
  }
  const [first, ...others] = errors;
  if (first === undefined) return MATCHES;
  return { error: others.length === 0 ? first : `[${[...errors].join(", ")}]` };
}
