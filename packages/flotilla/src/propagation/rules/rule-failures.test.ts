import { expect, test } from "vitest";
import { createFakeClock, createLog } from "@flotilla/base";
import { InterpretError } from "@flotilla/kubernetes";
import { createFakeClient } from "@flotilla/testing/fake-client.ts";
import { createReportRuleFailure } from "./rule-failures.ts";

const object = { apiVersion: "v1", kind: "Widget", metadata: { name: "w", uid: "1" } };

function setUp() {
  const clock = createFakeClock();
  const reported: string[] = [];
  const logged: unknown[] = [];
  const report = createReportRuleFailure({
    hub: "hub",
    client: createFakeClient({ clock }),
    clock,
    log: createLog({ level: "info", clock, write: (line) => void logged.push(JSON.parse(line)) }),
    events: { record: (_cluster, _regarding, { reason, message }) => void reported.push(`${reason}: ${message}`) },
  });
  return { clock, reported, logged, report };
}

test("a continuing failure is reported periodically, and another one at once", () => {
  const { clock, reported, report } = setUp();

  for (const message of ["a", "a", "b"]) report(object, "GetReplicasFailed", new InterpretError(message));
  clock.advance(5 * 60_000);
  report(object, "GetReplicasFailed", new InterpretError("b"));

  expect(reported).toEqual(["GetReplicasFailed: a", "GetReplicasFailed: b", "GetReplicasFailed: b"]);
});

test("an error that is not a rule failure emits no event", () => {
  const { reported, report } = setUp();

  report(object, "GetReplicasFailed", new Error("connection lost"));

  expect(reported).toEqual([]);
});

test("the recovery of a rule is reported once, and only after its failure was reported", () => {
  const { reported, report } = setUp();

  report.over(object, "GetReplicasFailed");
  report(object, "GetReplicasFailed", new InterpretError("a"));
  report.over(object, "GetDependenciesFailed");
  report.over(object, "GetReplicasFailed");
  report.over(object, "GetReplicasFailed");

  expect(reported).toEqual([
    "GetReplicasFailed: a",
    "GetReplicasSucceed: Get replicas of resource template successfully.",
  ]);
});

test("a failure is logged with the object and the error as often as it is reported", () => {
  const { logged, report } = setUp();

  report(object, "GetReplicasFailed", new InterpretError("a"));
  report(object, "GetReplicasFailed", new InterpretError("a"));
  report.over(object, "GetReplicasFailed");

  expect(logged).toMatchObject([
    { level: "warn", controller: "interpreter", key: "hub/w", kind: "Widget", reason: "GetReplicasFailed", error: "a" },
    { level: "info", controller: "interpreter", key: "hub/w", reason: "GetReplicasFailed" },
  ]);
});
