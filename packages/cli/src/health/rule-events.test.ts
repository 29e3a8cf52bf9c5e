import { expect, test } from "vitest";
import { failingNow, failureAdvice, failureProblem } from "./rule-events.ts";

const NOW_MS = 10_000_000;
const event = (object: string, reason: string, message: string, ageMs: number) => ({
  object,
  reason,
  message,
  atMs: NOW_MS - ageMs,
});

test("a rule that failed and has not succeeded since is failing; a failure that would have been repeated is past", () => {
  const failing = failingNow(
    [
      event("Deployment shop/web", "GetReplicasFailed", "a", 2_000),
      event("Deployment shop/cart", "GetReplicasFailed", "b", 2_000),
      event("Deployment shop/cart", "GetReplicasSucceed", "", 1_000),
      event("Deployment shop/old", "GetReplicasFailed", "c", 600_000),
      event("Deployment shop/divided", "DivideFailed", "d", 3_599_999),
      event("Deployment shop/forgotten", "DivideFailed", "e", 3_600_000),
    ],
    NOW_MS,
  );

  expect(failing.map(({ object }) => object)).toEqual(["Deployment shop/web", "Deployment shop/divided"]);
});

const REJECTED = 'Job.batch "seed" is invalid: status.succeeded: Invalid value: 3';
const OWNER = "ResourceInterpreterCustomization jobs";
const failures: Record<string, { reason: string; message: string; problem: string; advice: RegExp }> = {
  "the status of a kind without a user's rule": {
    reason: "AggregateStatusFailed",
    message: REJECTED,
    problem: "status not written",
    advice: /^no rule of yours is involved/,
  },
  "the status that a user's rule made": {
    reason: "AggregateStatusFailed",
    message: `the hub rejects the status of AggregateStatus of ${OWNER}: ${REJECTED}`,
    problem: "rule failed",
    advice: /^correct the rule/,
  },
  "an object that the kind's own rule cannot read": {
    reason: "GetReplicasFailed",
    message: "replicas of Deployment web: spec is not an object",
    problem: "rule failed",
    advice: /^correct the object/,
  },
};
for (const [what, { reason, message, problem, advice }] of Object.entries(failures))
  test(`advice about a rule is given only where a user's rule fails: ${what}`, () => {
    expect(failureProblem({ reason, message })).toBe(problem);
    expect(failureAdvice({ reason, message })).toMatch(advice);
  });
