import { expect, test } from "vitest";
import { completedBy, problemsOf } from "../../../apimachinery/src/kind/test-review.ts";
import { type LimitRange } from "./limitrange-kind.ts";
import { rules } from "./limitrange-rules.ts";

const makeRange = (...limits: object[]): LimitRange => ({
  apiVersion: "v1",
  kind: "LimitRange",
  metadata: { name: "l", namespace: "shop" },
  spec: { limits: limits as NonNullable<LimitRange["spec"]>["limits"] },
});

test("container limits and requests default from the values that are set", () => {
  const completed = completedBy(
    rules,
    makeRange({
      type: "Container",
      max: { cpu: "2" },
      min: { cpu: "1", memory: "1Mi" },
      defaultRequest: { cpu: "1500m" },
    }),
  );

  expect(completed.spec?.limits[0]).toEqual({
    type: "Container",
    max: { cpu: "2" },
    min: { cpu: "1", memory: "1Mi" },
    default: { cpu: "2" },
    defaultRequest: { cpu: "1500m", memory: "1Mi" },
  });
});

const cases: Record<string, [limits: object[], want: string[]]> = {
  "a limit type may appear only once": [
    [{ type: "Pod" }, { type: "Pod" }],
    ['spec.limits[1].type: Duplicate value: "Pod"'],
  ],
  "a Pod limit has no defaults": [
    [{ type: "Pod", default: { cpu: "1" } }],
    ["spec.limits[0].default: Forbidden: may not be specified when `type` is 'Pod'"],
  ],
  "a claim limit needs a minimum or maximum": [
    [{ type: "PersistentVolumeClaim" }],
    [
      "spec.limits[0].limits: Required value: either minimum or maximum storage value is required, but neither was provided",
    ],
  ],
  "a default must be within its bounds": [
    [{ type: "Container", default: { cpu: "2" }, max: { cpu: "1" } }],
    [
      'spec.limits[0].defaultRequest[cpu]: Invalid value: "2": default request value 2 is greater than max value 1',
      'spec.limits[0].default[cpu]: Invalid value: "1": default value 2 is greater than max value 1',
    ],
  ],
  "a ratio must fit the bounds": [
    [{ type: "Pod", max: { cpu: "4" }, min: { cpu: "1" }, maxLimitRequestRatio: { cpu: "5" } }],
    ['spec.limits[0].maxLimitRequestRatio[cpu]: Invalid value: "5": ratio 5 is greater than max/min = 4.000000'],
  ],
};
for (const [behaviour, [limits, want]] of Object.entries(cases)) {
  test(behaviour, () => {
    expect(problemsOf(rules, makeRange(...limits))).toEqual(want);
  });
}
