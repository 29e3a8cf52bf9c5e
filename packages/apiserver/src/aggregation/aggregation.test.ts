import { expect, test } from "vitest";
import type { JsonObject } from "@flotilla/base";
import { withVerdict } from "./aggregation.ts";

const at = (nowMs: number): number => Date.UTC(2024, 0, 1) + nowMs;
const PASSED = { status: "True", reason: "Passed", message: "all checks passed" };
const OTHER = { type: "Other", status: "True" };
const object: JsonObject = { kind: "APIService", status: { conditions: [OTHER] } };
const conditionsOf = ({ status }: JsonObject): unknown => (status as JsonObject).conditions;

test("a verdict that another server has stored is not stored again", () => {
  const stored = withVerdict(object, PASSED, at(0));

  expect(withVerdict(stored, PASSED, at(5_000))).toBe(stored);
});

test("the time of the last transition is that of the stored status", () => {
  const stored = withVerdict(object, { ...PASSED, status: "False", reason: "A" }, at(0));
  const reworded = withVerdict(stored, { ...PASSED, status: "False", reason: "B" }, at(5_000));
  const changed = withVerdict(reworded, PASSED, at(9_000));

  expect(conditionsOf(reworded)).toMatchObject([
    OTHER,
    { type: "Available", status: "False", reason: "B", lastTransitionTime: "2024-01-01T00:00:00Z" },
  ]);
  expect(conditionsOf(changed)).toMatchObject([OTHER, { lastTransitionTime: "2024-01-01T00:00:09Z", ...PASSED }]);
});
