import { expect, test } from "vitest";
import { ageColumn } from "@flotilla/apimachinery";
import { problemsOf, warningsOf } from "../../../apimachinery/src/kind/test-review.ts";
import { ResourceQuota } from "./resourcequota-kind.ts";
import { rules } from "./resourcequota-rules.ts";

type Spec = NonNullable<ResourceQuota["spec"]>;
const makeQuota = (spec: Spec, status?: ResourceQuota["status"]): ResourceQuota => ({
  apiVersion: "v1",
  kind: "ResourceQuota",
  metadata: { name: "q", namespace: "shop" },
  spec,
  status,
});

const cases: Record<string, [spec: object, old: object | undefined, want: string[]]> = {
  "a hard limit must not be negative": [
    { hard: { pods: "-1" } },
    undefined,
    ['spec.hard[pods]: Invalid value: "-1": must be greater than or equal to 0'],
  ],
  "a scope must be known": [{ scopes: ["X"] }, undefined, ['spec.scopes: Invalid value: ["X"]: unsupported scope']],
  "a scope must apply to the limited resources": [
    { hard: { services: "1" }, scopes: ["BestEffort"] },
    undefined,
    ['spec.scopes: Invalid value: ["BestEffort"]: unsupported scope applied to resource'],
  ],
  "Terminating and NotTerminating scopes exclude each other": [
    { scopes: ["Terminating", "NotTerminating"] },
    undefined,
    ['spec.scopes: Invalid value: ["Terminating","NotTerminating"]: conflicting scopes'],
  ],
  "a scope selector needs values where its operator requires them": [
    { scopeSelector: { matchExpressions: [{ scopeName: "PriorityClass", operator: "In" }] } },
    undefined,
    [
      "spec.scopeSelector.matchExpressions.values: Required value: must be at least one value when `operator` is 'In' or 'NotIn' for scope selector",
    ],
  ],
  "scopes are immutable": [
    { scopes: ["BestEffort"] },
    {},
    ['spec.scopes: Invalid value: ["BestEffort"]: field is immutable'],
  ],
  "the order of scopes does not matter": [
    { scopes: ["Terminating", "BestEffort"] },
    { scopes: ["BestEffort", "Terminating"] },
    [],
  ],
};
for (const [behaviour, [spec, old, want]] of Object.entries(cases)) {
  test(behaviour, () => {
    expect(problemsOf(rules, makeQuota(spec), old && makeQuota(old))).toEqual(want);
  });
}

test("warns of requests above the limits", () => {
  expect(warningsOf(rules, makeQuota({ hard: { cpu: "2", "limits.cpu": "1" } }))).toEqual([
    "ResourceQuota cpu (2) should be less than limits.cpu (1)",
  ]);
});

test("the table shows the usage of requests and limits", () => {
  const quota = makeQuota(
    {},
    { hard: { pods: "2", "limits.cpu": "4", cpu: "1" }, used: { pods: "1", "limits.cpu": "500m" } },
  );
  const { columns } = ResourceQuota.versions.v1 ?? { columns: [ageColumn] };

  expect(columns.slice(1, 3).map(({ value }) => value?.(quota as never, 0))).toEqual([
    "cpu: 0/1, pods: 1/2",
    "limits.cpu: 500m/4",
  ]);
});
