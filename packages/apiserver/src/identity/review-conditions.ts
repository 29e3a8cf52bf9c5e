/** Conditions on the requests for which an authorization webhook is called: CEL on `request`, the spec of the review. */
import { FlotillaError } from "@flotilla/base";
import type { JsonObject } from "@flotilla/base";
import { ACCESS_REVIEW_SPEC, BOOL, CelError, compileCel, dynamicValueOf, formatType } from "@flotilla/cel";

/** `error` is set when no condition is false and one cannot be evaluated. */
export type ReviewConditions = (spec: JsonObject) => { matches: boolean; error?: string | undefined };

/** As much as conditions of admission webhooks. */
const MAX_COST = 2_500_000;

/** Throws with the place and the reason when an expression does not compile. */
export function compileReviewConditions(expressions: readonly string[]): ReviewConditions {
  const variables = { request: ACCESS_REVIEW_SPEC };
  const programs = expressions.map((expression, index) => {
    const { program, errors } = compileCel(expression, { variables, hasBindings: true });
    const bad = (why: string): Error =>
      new FlotillaError(
        "Configuration",
        `matchConditions[${index}].expression: Invalid value: ${JSON.stringify(expression)}: ${why}`,
      );
    if (!program) throw bad(errors);
    if (program.resultType.kind !== BOOL.kind)
      throw bad(`must evaluate to bool, not ${formatType(program.resultType)}`);
    return { program, expression };
  });
  return (spec) => {
    if (programs.length === 0) return { matches: true };
    const bindings = { request: dynamicValueOf(spec) };
    const budget = { remaining: MAX_COST };
    let error: string | undefined;
    for (const { program, expression } of programs) {
      const result = program.evaluate(bindings, budget);
      if (result === false) return { matches: false };
      if (result instanceof CelError) error ??= `the condition '${expression}' failed: ${result.message}`;
    }
    return { matches: error === undefined, error };
  };
}
