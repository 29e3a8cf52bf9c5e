import { expect, test } from "vitest";
import { deepFreeze } from "@flotilla/base";
import { findCondition, isConditionTrue, withCondition, type Condition } from "./conditions.ts";

const NOON = "2024-05-01T12:00:00Z";
const LATER = "2024-05-01T13:00:00Z";
const ready: Condition = {
  type: "Ready",
  status: "True",
  reason: "Up",
  message: "all fine",
  observedGeneration: 1,
  lastTransitionTime: NOON,
};
const other: Condition = { type: "Synced", status: "False", reason: "No", message: "", lastTransitionTime: NOON };
const list = deepFreeze([ready, other]) as readonly Condition[];

test("an unchanged condition returns the same list", () => {
  expect(
    withCondition(
      list,
      { type: "Ready", status: "True", reason: "Up", message: "all fine", observedGeneration: 1 },
      LATER,
    ),
  ).toBe(list);
});

test("a changed message keeps lastTransitionTime", () => {
  const next = withCondition(
    list,
    { type: "Ready", status: "True", reason: "Up", message: "still fine", observedGeneration: 2 },
    LATER,
  );

  expect(next).toEqual([{ ...ready, message: "still fine", observedGeneration: 2 }, other]);
  expect(next[1]).toBe(list[1]);
});

test("a changed status updates lastTransitionTime", () => {
  const next = withCondition(list, { type: "Ready", status: "False", reason: "Down", message: "gone" }, LATER);

  expect(next[0]).toEqual({
    type: "Ready",
    status: "False",
    reason: "Down",
    message: "gone",
    lastTransitionTime: LATER,
  });
});

test("a new condition is appended", () => {
  expect(
    withCondition<Condition>(undefined, { type: "Ready", status: "Unknown", reason: "New", message: "" }, NOON),
  ).toEqual([{ type: "Ready", status: "Unknown", reason: "New", message: "", lastTransitionTime: NOON }]);
});

test("conditions are found by type", () => {
  expect(findCondition(list, "Synced")).toBe(list[1]);
  expect(findCondition(undefined, "Synced")).toBeUndefined();
  expect([isConditionTrue(list, "Ready"), isConditionTrue(list, "Synced"), isConditionTrue(list, "Nope")]).toEqual([
    true,
    false,
    false,
  ]);
});
