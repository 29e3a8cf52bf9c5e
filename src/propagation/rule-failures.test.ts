import { expect, test } from "vitest";
import { createFakeClock } from "../base/index.ts";
import { InterpretError } from "../interpreter/index.ts";
import { createReportRuleFailure } from "./rule-failures.ts";

const object = { apiVersion: "v1", kind: "Widget", metadata: { name: "w", uid: "1" } };

function setUp() {
  const clock = createFakeClock();
  const told: string[] = [];
  const tell = createReportRuleFailure({
    hub: "hub",
    clock,
    events: { record: (_cluster, _regarding, { reason, message }) => void told.push(`${reason}: ${message}`) },
  });
  return { clock, told, tell };
}

test("a continuing failure is reported periodically, and another one at once", () => {
  const { clock, told, tell } = setUp();

  for (const message of ["a", "a", "b"]) tell(object, "GetReplicasFailed", new InterpretError(message));
  clock.advance(5 * 60_000);
  tell(object, "GetReplicasFailed", new InterpretError("b"));

  expect(told).toEqual(["GetReplicasFailed: a", "GetReplicasFailed: b", "GetReplicasFailed: b"]);
});

test("an error that is not a rule failure emits no event", () => {
  const { told, tell } = setUp();

  tell(object, "GetReplicasFailed", new Error("connection lost"));

  expect(told).toEqual([]);
});

test("the recovery of a rule is reported once, and only after its failure was reported", () => {
  const { told, tell } = setUp();

  tell.over(object, "GetReplicasFailed");
  tell(object, "GetReplicasFailed", new InterpretError("a"));
  tell.over(object, "GetDependenciesFailed");
  tell.over(object, "GetReplicasFailed");
  tell.over(object, "GetReplicasFailed");

  expect(told).toEqual(["GetReplicasFailed: a", "GetReplicasSucceed: Get replicas of resource template successfully."]);
});
