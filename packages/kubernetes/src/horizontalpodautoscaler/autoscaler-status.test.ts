import { expect, test } from "vitest";
import { planAutoscalerStatus } from "./autoscaler-status.ts";
import type { FoundCondition } from "./autoscaler-status.ts";
import type { ReadonlyAutoscaler } from "./scaling-limits.ts";

const SIZES = { currentReplicas: 2, desiredReplicas: 2, metrics: undefined };
const found = (isTrue: boolean, reason: string): FoundCondition => ({
  type: "AbleToScale",
  isTrue,
  reason,
  message: "",
});

test("a condition that is found twice in one evaluation keeps the time since which it has its status", () => {
  const evaluate = (autoscaler: object, time: string) =>
    planAutoscalerStatus(
      autoscaler as ReadonlyAutoscaler,
      SIZES,
      [found(true, "SucceededGetScale"), found(false, "FailedGetBindings")],
      Date.parse(time),
    );

  const first = evaluate({}, "2024-05-01T12:00:00Z");
  const second = evaluate({ status: first }, "2024-05-01T12:05:00Z");

  expect(second.conditions).toEqual([
    {
      type: "AbleToScale",
      status: "False",
      reason: "FailedGetBindings",
      message: "",
      lastTransitionTime: "2024-05-01T12:00:00Z",
    },
  ]);
});
