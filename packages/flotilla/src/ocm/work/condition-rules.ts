/** Conditions from a work's rules: CEL expressions over the object on the member. */
import { omitZero } from "@flotilla/base";
import type { ConditionRule } from "@flotilla/apimachinery/facts/work-ocm-v1.ts";
import type { KubernetesObject, NextCondition } from "@flotilla/apimachinery";
import type { DeepReadonly } from "@flotilla/base";
import { CelError, dynamicValueOf, typeNameOf, type CelBudget, type CelValue } from "@flotilla/cel";
import { compileConditionRule } from "@flotilla/ocm";

type Rule = DeepReadonly<ConditionRule>;
type Verdict = Pick<NextCondition, "status" | "reason"> & { problem?: string };

/** The total cost limit of all rules of one manifest. */
const BUDGET = 10_000_000;

const JOB_COMPLETE: Rule = {
  condition: "Complete",
  type: "CEL",
  celExpressions: [
    "hasConditions(object.status) ? object.status.conditions.filter(c, c.type in ['Complete', 'Failed']).exists(c, c.status == 'True') : false",
  ],
  messageExpression: `result ? "Job is finished" : "Job is not finished"`,
};
const POD_COMPLETE: Rule = {
  condition: "Complete",
  type: "CEL",
  celExpressions: ["object.status.phase in ['Succeeded', 'Failed']"],
  messageExpression: `"Pod is in phase " + object.status.phase`,
};
const WELL_KNOWN: ReadonlyMap<string, Rule> = new Map([
  ["batch/v1 Job Complete", JOB_COMPLETE],
  ["v1 Pod Complete", POD_COMPLETE],
]);

/** One condition per rule, in order; a well-known rule that the kind does not support yields none. */
export function evaluateRules(object: DeepReadonly<KubernetesObject>, rules: readonly Rule[]): NextCondition[] {
  const budget: CelBudget = { remaining: BUDGET };
  const value = dynamicValueOf(object);
  return rules.flatMap((rule) => {
    const effective = effectiveRule(object, rule);
    return effective ? [evaluateRule(value, effective, budget)] : [];
  });
}

function effectiveRule({ apiVersion, kind }: DeepReadonly<KubernetesObject>, rule: Rule): Rule | undefined {
  if (rule.type !== "WellKnownConditions") return rule;
  const known = WELL_KNOWN.get(`${apiVersion} ${kind} ${rule.condition}`);
  return (
    known && {
      ...known,
      ...omitZero({ message: rule.message, messageExpression: rule.messageExpression }),
    }
  );
}

function evaluateRule(object: CelValue, rule: Rule, budget: CelBudget): NextCondition {
  if (rule.type !== "CEL")
    return {
      type: rule.condition,
      status: "Unknown",
      reason: "ConditionRuleInvalid",
      message: `unrecognized condition rule type ${rule.type}`,
    };
  const { status, reason, problem } = evaluateAll(object, rule.celExpressions ?? [], budget);
  return {
    type: rule.condition,
    status,
    reason,
    message: problem ?? messageFor(object, rule, status === "True", budget),
  };
}

/** All expressions must be true; evaluation stops at the first that is not. An expression that fails is not true. */
function evaluateAll(object: CelValue, expressions: readonly string[], budget: CelBudget): Verdict {
  const fails = (problem: string): Verdict => ({ status: "False", reason: "ConditionRuleExpressionError", problem });
  for (const expression of expressions) {
    const { program, errors } = compileConditionRule(expression);
    if (!program) return fails(withoutPrefix(errors));
    const result = program.evaluate({ object }, budget);
    if (result instanceof CelError) return fails(result.message);
    if (result === false) return { status: "False", reason: "ConditionRuleEvaluated" };
    if (result !== true) return fails(`expected bool result, got ${goTypeOf(result)}`);
  }
  return { status: "True", reason: "ConditionRuleEvaluated" };
}

function messageFor(
  object: CelValue,
  { condition, message, messageExpression }: Rule,
  result: boolean,
  budget: CelBudget,
): string {
  if (messageExpression) {
    const { program, errors } = compileConditionRule(messageExpression, { isMessage: true });
    if (!program) return withoutPrefix(errors).split("\n | ")[0] ?? "";
    const reported = program.evaluate({ object, result }, budget);
    if (reported instanceof CelError) return reported.message;
    if (typeof reported !== "string")
      return `expected message expression to have a string result, got ${goTypeOf(reported)}`;
    if (reported) return reported;
  }
  return message || `Manifest is ${result ? "" : "not "}${condition}`;
}

/** OCM prints Go type names. */
const GO_TYPES: Readonly<Record<string, string>> = {
  int: "int64",
  uint: "uint64",
  double: "float64",
  bytes: "[]uint8",
};
const goTypeOf = (value: CelValue): string => GO_TYPES[typeNameOf(value)] ?? typeNameOf(value);

const withoutPrefix = (errors: string): string => errors.replace(/^compilation failed: /, "");
