import { expect, test } from "vitest";
import { formatQuantity, parseQuantity } from "@flotilla/apimachinery";
import { evaluateExpression, expressionQuantity } from "./resource-expression.ts";

const cases: Record<string, [expression: string, want: string]> = {
  "multiplies a variable by a percentage": ["cpu*30%", "300m"],
  "truncates below a thousandth": ["cpu/3", "333m"],
  "max returns the larger value": ["max(cpu*10%, 200m)", "200m"],
  "keeps the notation of quantities": ["64Mi+64M", "128036Ki"],
  "names are case-insensitive": ["MIN(CPU, 0.5)", "500m"],
  "parentheses override precedence": ["(cpu+1)*2", "4"],
};
for (const [behaviour, [expression, want]] of Object.entries(cases)) {
  test(behaviour, () => {
    const result = evaluateExpression(expression, { cpu: parseQuantity("1") });

    expect("value" in result && formatQuantity(expressionQuantity(result.value))).toBe(want);
  });
}

const problems: Record<string, [expression: string, want: string]> = {
  "two quantities cannot be multiplied": ["cpu*200m", "multiplication of two quantities"],
  "rejects division by zero": ["cpu/0", "division by zero"],
  "rejects an undefined variable": ["memory*2", "undefined variable: memory"],
  "rejects an unknown function": ["abs(cpu)", "unknown function: abs"],
  "rejects a negative result": ["cpu-5", "calculation result is negative: -4"],
  "a syntax error has a line and column": ["cpu cpu", "parse error: syntax error at line 1, col 8"],
  "rejects deep nesting": ["(".repeat(1000), "parse error: nested too deeply at line 1, col 202"],
};
for (const [behaviour, [expression, problem]] of Object.entries(problems)) {
  test(behaviour, () => {
    expect(evaluateExpression(expression, { cpu: parseQuantity("1") })).toEqual({ problem });
  });
}
