import { expect, test } from "vitest";
import type { JsonObject } from "@flotilla/base";
import type { StatusItem } from "./status-item.ts";
import { conditionSums, reflectConditions } from "./summed-conditions.ts";

const sums = conditionSums({
  everywhere: ["Available"],
  anywhere: ["ReplicaFailure"],
  doneReasons: { Available: "Done" },
});
const item = (clusterName: string, ...conditions: JsonObject[]): StatusItem => ({
  clusterName,
  status: { conditions },
});
const sum = (...items: StatusItem[]): unknown => sums.sum({ status: {}, before: {}, items });
const available = (status: string, reason = "Done", message = "fine"): JsonObject => ({
  type: "Available",
  status,
  reason,
  message,
});

const cases: Record<string, { items: StatusItem[]; want: JsonObject[] }> = {
  "is true with the members' message if it is true everywhere": {
    items: [item("oslo", available("True")), item("paris", available("True"))],
    want: [available("True")],
  },
  "has the reason of a member that is not done": {
    items: [item("oslo", available("True")), item("paris", available("True", "Updating", "soon"))],
    want: [available("True", "Updating", "oslo (fine), paris (soon)")],
  },
  "is false if it is false on one member, and names it": {
    items: [item("oslo", available("False", "TooFew", "1 of 3")), item("paris", available("True"))],
    want: [available("False", "TooFew", "not True on oslo (1 of 3)")],
  },
  "is unknown while a member has not reported": {
    items: [item("oslo", available("True")), { clusterName: "paris" }],
    want: [available("Unknown", "NotReported", "not True on paris (not reported)")],
  },
  "does not exist if no member has it": { items: [item("oslo"), { clusterName: "paris" }], want: [] },
};
for (const [behaviour, { items, want }] of Object.entries(cases)) {
  test(`a condition that must hold everywhere ${behaviour}`, () => {
    expect(sum(...items)).toEqual(want.length > 0 ? { conditions: want } : {});
  });
}

test("a failure is true if it is true on one member, and names at most ten of them", () => {
  const failure = { type: "ReplicaFailure", status: "True", reason: "FailedCreate", message: "quota" };
  const items = Array.from({ length: 12 }, (_none, index) => item(`m${index + 10}`, failure));

  expect(sum(item("oslo"), item("paris", failure))).toEqual({
    conditions: [{ ...failure, message: "True on paris (quota)" }],
  });
  expect(sum(...items)).toMatchObject({ conditions: [{ message: expect.stringMatching(/ and 2 more$/) as string }] });
});

test("conditions of other types stay, and a type that members no longer report is removed", () => {
  const status = { replicas: 1, conditions: [{ type: "Mine", status: "True" }, available("True")] };

  expect(sums.sum({ status, before: {}, items: [item("oslo")] })).toEqual({
    replicas: 1,
    conditions: [{ type: "Mine", status: "True" }],
  });
});

test("a member reports the listed conditions without times, which would be written again and again", () => {
  const object = {
    apiVersion: "apps/v1",
    kind: "Deployment",
    metadata: { name: "web" },
    status: { conditions: [{ ...available("True"), lastUpdateTime: "2024-05-01T12:00:00Z" }, { type: "Other" }] },
  };

  expect(reflectConditions(object, ["Available"])).toEqual([available("True")]);
});
