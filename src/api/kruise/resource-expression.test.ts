import { expect, test } from "vitest";
import { formatQuantity, parseQuantity } from "../../machinery/index.ts";
import { evaluateExpression, expressionQuantity } from "./resource-expression.ts";

const cases: Record<string, [expression: string, want: string]> = {
  "takes a share of what the pod has": ["cpu*30%", "300m"],
  "cuts off what is less than a thousandth": ["cpu/3", "333m"],
  "chooses the larger of two": ["max(cpu*10%, 200m)", "200m"],
  "keeps the notation of quantities": ["64Mi+64M", "128036Ki"],
  "does not care how words are written": ["MIN(CPU, 0.5)", "500m"],
  "binds tighter what stands in brackets": ["(cpu+1)*2", "4"],
};
for (const [behaviour, [expression, want]] of Object.entries(cases)) {
  test(behaviour, () => {
    const result = evaluateExpression(expression, { cpu: parseQuantity("1") });

    expect("value" in result && formatQuantity(expressionQuantity(result.value))).toBe(want);
  });
}

const problems: Record<string, [expression: string, want: string]> = {
  "two quantities cannot be multiplied": ["cpu*200m", "multiplication of two quantities"],
  "nothing is divided by nothing": ["cpu/0", "division by zero"],
  "a word must mean something": ["memory*2", "undefined variable: memory"],
  "a function must be one": ["abs(cpu)", "unknown function: abs"],
  "a result is not negative": ["cpu-5", "calculation result is negative: -4"],
  "a mistake has a place": ["cpu cpu", "parse error: syntax error at line 1, col 8"],
  "what is nested without end is not followed": ["(".repeat(1000), "parse error: nested too deeply at line 1, col 202"],
};
for (const [behaviour, [expression, problem]] of Object.entries(problems)) {
  test(behaviour, () => {
    expect(evaluateExpression(expression, { cpu: parseQuantity("1") })).toEqual({ problem });
  });
}
