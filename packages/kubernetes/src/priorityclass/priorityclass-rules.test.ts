import { expect, test } from "vitest";
import { completedBy, problemsOf } from "../../../apimachinery/src/kind/test-review.ts";
import { type PriorityClass } from "./priorityclass-kind.ts";
import { rules, systemPriorityClasses } from "./priorityclass-rules.ts";

const makeClass = (rest: object): PriorityClass => ({
  apiVersion: "scheduling.k8s.io/v1",
  kind: "PriorityClass",
  metadata: { name: "a" },
  ...rest,
});

test("a class defaults to PreemptLowerPriority", () => {
  expect(completedBy(rules, makeClass({ value: 1 })).preemptionPolicy).toBe("PreemptLowerPriority");
});

test("the system classes are valid", () => {
  expect(systemPriorityClasses().flatMap((object) => problemsOf(rules, object))).toEqual([]);
});

const cases: Record<string, [rest: object, old: object | undefined, want: string[]]> = {
  "the system- name prefix is reserved": [
    { metadata: { name: "system-x" } },
    undefined,
    [
      "metadata.name: Forbidden: priority class names with 'system-' prefix are reserved for system use only. " +
        "error: system-x is not a known system priority class",
    ],
  ],
  "the value of a user class is limited": [
    { value: 1_000_000_001 },
    undefined,
    ["value: Forbidden: maximum allowed value of a user defined priority is 1000000000"],
  ],
  "the value is immutable": [
    { value: 2 },
    { value: 1, preemptionPolicy: "PreemptLowerPriority" },
    ["value: Forbidden: may not be changed in an update."],
  ],
  "a preemption policy must be known": [
    { preemptionPolicy: "X" },
    undefined,
    ['preemptionPolicy: Unsupported value: "X": supported values: "PreemptLowerPriority", "Never"'],
  ],
};
for (const [behaviour, [rest, old, want]] of Object.entries(cases)) {
  test(behaviour, () => {
    expect(problemsOf(rules, makeClass(rest), old && makeClass(old))).toEqual(want);
  });
}
