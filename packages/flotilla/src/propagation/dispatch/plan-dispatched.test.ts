import { expect, test } from "vitest";
import { InterpretError } from "@flotilla/kubernetes";
import { makeBinding, makeDeployment } from "@flotilla/testing/builders.ts";
import { failureOf, planDispatched } from "./plan-dispatched.ts";

const NOW = "2024-05-01T12:00:00Z";
const binding = makeBinding(makeDeployment("shop/web").build()).build();

test("a successful dispatch writes no condition, which saves a write", () => {
  expect(planDispatched(binding, undefined, NOW)).toBe(binding);
});

test("a failed dispatch reports the reason, and clears it after recovery", () => {
  const failed = planDispatched(
    binding,
    { reason: "RenderFailed", message: "applying override policy registry; these members get no new copy" },
    NOW,
  );
  expect(failed.status?.conditions).toMatchObject([
    {
      type: "Dispatched",
      status: "False",
      reason: "RenderFailed",
      message: "applying override policy registry; these members get no new copy",
    },
  ]);

  expect(planDispatched(failed, undefined, NOW).status?.conditions).toMatchObject([
    { type: "Dispatched", status: "True" },
  ]);
});

test("an indivisible template is reported once for all members, other failures by member", () => {
  const error = new InterpretError("dividing CloneSet web: no such order");

  expect(failureOf([])).toBeUndefined();
  expect(
    failureOf([
      { cluster: "paris", error },
      { cluster: "oslo", error },
    ]),
  ).toEqual({
    reason: "DivideFailed",
    message: "paris, oslo: dividing CloneSet web: no such order; these members get no new copy",
  });
  expect(
    failureOf([
      { cluster: "paris", error: new Error("a") },
      { cluster: "oslo", error: new Error("b") },
    ]),
  ).toEqual({ reason: "RenderFailed", message: "paris: a; oslo: b; these members get no new copy" });
});

test("a held rollout is reported with the waiting pods, after any failures", () => {
  const held = { demanded: 9, waiting: 3, clusters: ["oslo"] };

  expect(failureOf([], { heldRollout: held })).toEqual({
    reason: "RolloutHeld",
    message: "3 of 9 pods of the rollout wait for oslo, which currently gets no copies",
  });
  expect(failureOf([{ cluster: "paris", error: new Error("a") }], { heldRollout: held })?.reason).toBe("RenderFailed");
});

test("a failed rollback is reported by member, with what the member does instead", () => {
  const failed = [{ cluster: "oslo", asked: 1, expected: 0 }];

  expect(failureOf([], { failedRollbacks: failed })).toEqual({
    reason: "RollbackFailed",
    message:
      "the previous template was sent to roll back pods of the release, but the member does not keep the " +
      "requested number of new pods (oslo keeps 0 instead of 1): something there changes the partition; " +
      "nothing more is sent until the template, its partition or a rule changes",
  });
});
