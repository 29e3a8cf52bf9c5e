import { expect, test } from "vitest";
import { formatQuantity, parseQuantity } from "@flotilla/apimachinery";
import type { ReadonlyPod } from "@flotilla/kubernetes";
import { resourceValue, resourcesFor } from "./resources.ts";

const cases: Record<string, [expression: string, want: string]> = {
  "converts cores to thousandths": ["0.25", "250m"],
  "a number that is not a quantity becomes one that validation rejects": ["1e400", "-9223372036854775808m"],
};
for (const [behaviour, [expression, want]] of Object.entries(cases)) {
  test(behaviour, () => {
    const value = resourceValue(expression, parseQuantity("0"));

    expect(typeof value === "string" ? value : formatQuantity(value)).toBe(want);
  });
}

test("rejects names that would take too long to match", () => {
  const containers = Array.from({ length: 40 }, (_, index) => ({ name: `${"a".repeat(100_000)}${index}`, image: "i" }));
  const pod = { metadata: { name: "p" }, spec: { containers } } as unknown as ReadonlyPod;

  const evaluate = (): unknown =>
    resourcesFor(
      pod,
      {
        targetContainersMode: "sum",
        targetContainersNameRegex: "(a?){900}a{900}b$",
        resourcesExpr: { limits: { cpu: "cpu" } },
      },
      [],
    );

  expect(evaluate).toThrow("failed to get target containers: matching takes more than 20000000 steps");
});
