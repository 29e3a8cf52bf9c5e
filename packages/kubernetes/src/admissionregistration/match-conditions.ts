/** Validates match conditions, which are compiled when they are written. */
import { checkText, field, labelKeyProblems } from "@flotilla/apimachinery";
import type { FieldError, Sent } from "@flotilla/apimachinery";
import type { MatchCondition } from "@flotilla/apimachinery/facts/admissionregistration-v1.ts";
import { AdmissionCompiler, BOOL } from "@flotilla/cel";
import type { AdmissionExpressionProblem } from "@flotilla/cel";

const MAX_CONDITIONS = 64;

export function checkMatchConditions(
  at: string,
  conditions: readonly Sent<MatchCondition>[],
  { hasParams = false }: { hasParams?: boolean } = {},
): FieldError[] {
  if (conditions.length === 0) return [];
  const errors = conditions.length > MAX_CONDITIONS ? [field.tooMany(at, conditions.length, MAX_CONDITIONS)] : [];
  const compiler = new AdmissionCompiler({ hasParams });
  const names = new Set<string>();
  for (const [index, condition] of conditions.entries()) {
    const { name = "" } = condition;
    errors.push(...checkCondition(`${at}[${index}]`, condition, compiler));
    if (name !== "" && names.has(name)) errors.push(field.duplicate(`${at}[${index}].name`, name));
    names.add(name);
  }
  return errors;
}

function checkCondition(
  at: string,
  { name = "", expression: text = "" }: Sent<MatchCondition>,
  compiler: AdmissionCompiler,
): FieldError[] {
  const expression = text.trim();
  const errors =
    expression === ""
      ? [field.required(`${at}.expression`)]
      : expressionErrors(`${at}.expression`, expression, compiler.compile(expression, { returns: [BOOL] }).problem);
  return [
    ...errors,
    ...(name === "" ? [field.required(`${at}.name`)] : checkText(`${at}.name`, name, labelKeyProblems)),
  ];
}

/** The errors for an expression that does not compile. */
export function expressionErrors(
  path: string,
  expression: string,
  problem: AdmissionExpressionProblem | undefined,
): FieldError[] {
  if (!problem) return [];
  return [problem.internal ? field.internal(path, problem.detail) : field.invalid(path, expression, problem.detail)];
}
