import { expect, test } from "vitest";
import { InterpretError } from "../../interpreter/index.ts";
import { makeBinding, makeDeployment } from "../../testing/index.ts";
import { failureOf, planDispatched } from "./plan-dispatched.ts";

const NOW = "2024-05-01T12:00:00Z";
const binding = makeBinding(makeDeployment("shop/web").build()).build();

test("a dispatch that works says nothing, which costs no write", () => {
  expect(planDispatched(binding, undefined, NOW)).toBe(binding);
});

test("one that fails says why, and takes it back when it works again", () => {
  const failed = planDispatched(
    binding,
    { reason: "RenderFailed", message: "applying override policy registry; these members keep what they have" },
    NOW,
  );
  expect(failed.status?.conditions).toMatchObject([
    {
      type: "Dispatched",
      status: "False",
      reason: "RenderFailed",
      message: "applying override policy registry; these members keep what they have",
    },
  ]);

  expect(planDispatched(failed, undefined, NOW).status?.conditions).toMatchObject([
    { type: "Dispatched", status: "True" },
  ]);
});

test("a template that cannot be divided is told once for all members, anything else by member", () => {
  const error = new InterpretError("dividing CloneSet web: no such order");

  expect(failureOf([])).toBeUndefined();
  expect(
    failureOf([
      { cluster: "paris", error },
      { cluster: "oslo", error },
    ]),
  ).toEqual({
    reason: "DivideFailed",
    message: "paris, oslo: dividing CloneSet web: no such order; these members keep what they have",
  });
  expect(
    failureOf([
      { cluster: "paris", error: new Error("a") },
      { cluster: "oslo", error: new Error("b") },
    ]),
  ).toEqual({ reason: "RenderFailed", message: "paris: a; oslo: b; these members keep what they have" });
});

test("a rollout that waits for members is told with what waits, after anything that failed", () => {
  const held = { demanded: 9, waiting: 3, clusters: ["oslo"] };

  expect(failureOf([], held)).toEqual({
    reason: "RolloutHeld",
    message: "3 of 9 pods of the rollout wait for oslo, which gets no copies at the moment",
  });
  expect(failureOf([{ cluster: "paris", error: new Error("a") }], held)?.reason).toBe("RenderFailed");
});
