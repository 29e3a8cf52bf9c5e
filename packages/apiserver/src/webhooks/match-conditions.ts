/** Match conditions: expressions that decide whether a webhook or policy is concerned with a request. */
import { AdmissionCompiler, BOOL, CelError, MAX_MATCH_COST } from "@flotilla/cel";
import type { AdmissionInput } from "@flotilla/cel";
import type { MatchCondition } from "@flotilla/apimachinery/facts/admissionregistration-v1.ts";
import type { DeepReadonly } from "@flotilla/base";

/** Whether all conditions hold, or why that is not known. A condition that is false outweighs errors of others. */
export type Matched = { readonly isMatch: boolean } | { readonly problem: string };

export type MatchConditions = (input: AdmissionInput) => Matched;

/** Undefined when there are no conditions. */
export function compileConditions(
  conditions: DeepReadonly<MatchCondition[]> | undefined,
  compiler = new AdmissionCompiler(),
): MatchConditions | undefined {
  if (!conditions || conditions.length === 0) return undefined;
  const compiled = conditions.map(({ expression }) => compiler.compile(expression.trim(), { returns: [BOOL] }));
  return (input) => {
    const bindings = compiler.bind(input);
    const budget = { remaining: MAX_MATCH_COST };
    const problems: string[] = [];
    for (const { expression, problem } of compiled) {
      const value = expression ? expression.evaluate(bindings, budget) : new CelError(problem.detail);
      if (value === false) return { isMatch: false };
      if (value instanceof CelError) problems.push(value.message);
      if (budget.remaining < 0) break;
    }
    if (problems.length === 0) return { isMatch: true };
    return { problem: problems.length === 1 ? problems.join() : `[${problems.join(", ")}]` };
  };
}
