import { expect, test } from "vitest";
import { problemsOf } from "../../../apimachinery/src/kind/test-review.ts";
import { type PodDisruptionBudget } from "./poddisruptionbudget-kind.ts";
import { rules } from "./poddisruptionbudget-rules.ts";

const makeBudget = (rest: object): PodDisruptionBudget => ({
  apiVersion: "policy/v1",
  kind: "PodDisruptionBudget",
  metadata: { name: "a", namespace: "shop" },
  ...rest,
});

const cases: Record<string, [rest: object, old: object | undefined, subresource: string | undefined, want: string[]]> =
  {
    "a budget has either minAvailable or maxUnavailable": [
      { spec: { minAvailable: 1, maxUnavailable: "50%" } },
      undefined,
      undefined,
      [
        "spec: Invalid value: " +
          '{"MinAvailable":1,"Selector":null,"MaxUnavailable":"50%","UnhealthyPodEvictionPolicy":null}: ' +
          "minAvailable and maxUnavailable cannot be both set",
      ],
    ],
    "a percentage must not exceed 100%": [
      { spec: { minAvailable: "101%" } },
      undefined,
      undefined,
      ['spec.minAvailable: Invalid value: "101%": must not be greater than 100%'],
    ],
    "an eviction policy must be known": [
      { spec: { unhealthyPodEvictionPolicy: "X" } },
      undefined,
      undefined,
      ['spec.unhealthyPodEvictionPolicy: Unsupported value: "X": supported values: "AlwaysAllow", "IfHealthyBudget"'],
    ],
    "an invalid selector value may be kept": [
      { spec: { selector: { matchExpressions: [{ key: "a", operator: "In", values: ["-"] }] } } },
      { spec: { selector: { matchExpressions: [{ key: "a", operator: "In", values: ["-"] }] } } },
      undefined,
      [],
    ],
    "status counts must not be negative and conditions must be complete": [
      { status: { disruptionsAllowed: -1, conditions: [{ type: "A", status: "True" }] } },
      {},
      "status",
      [
        "status.conditions[0].lastTransitionTime: Required value",
        "status.conditions[0].reason: Required value",
        "status.disruptionsAllowed: Invalid value: -1: must be greater than or equal to 0",
      ],
    ],
  };
for (const [behaviour, [rest, old, subresource, want]] of Object.entries(cases)) {
  test(behaviour, () => {
    expect(problemsOf(rules, makeBudget(rest), old && makeBudget(old), subresource)).toEqual(want);
  });
}
