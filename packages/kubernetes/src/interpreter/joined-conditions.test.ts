import { expect, test } from "vitest";
import { joinConditions } from "./joined-conditions.ts";
import { textOf } from "@flotilla/base";

const template = { apiVersion: "example.io/v1", kind: "Widget", metadata: { name: "w" } };
const ready = (clusterName: string, message: string, more: object = {}) => ({
  clusterName,
  status: { conditions: [{ type: "Ready", status: "True", reason: "Done", message, ...more }] },
});

test("merges equal conditions into one that names every cluster", () => {
  const joined = joinConditions(template, [
    ready("oslo", "fine", { lastTransitionTime: "2024-05-01T12:00:00Z" }),
    ready("paris", "late", { status: "False" }),
    ready("rome", "good"),
  ]);

  expect(joined).toEqual([
    {
      type: "Ready",
      status: "True",
      reason: "Done",
      message: "oslo=fine, rome=good",
      lastTransitionTime: "2024-05-01T12:00:00Z",
    },
    { type: "Ready", status: "False", reason: "Done", message: "paris=late" },
  ]);
});

test("limits a message to the API's maximum and reports how many clusters it leaves out", () => {
  const items = Array.from({ length: 100 }, (_, index) => ready(`member${index}`, "x".repeat(1000)));

  const [joined] = joinConditions(template, items);

  const message = textOf(joined?.["message"]);
  expect(message.length).toBeLessThanOrEqual(32_768);
  expect(message).toMatch(/^member0=x+, member1=.*, and 68 more$/);
});

test("truncates a single message that is too long", () => {
  const [joined] = joinConditions(template, [ready("oslo", "x".repeat(40_000))]);

  expect(textOf(joined?.["message"]).length).toBeLessThanOrEqual(32_768);
});

test("rejects a condition without a message and names the cluster", () => {
  const items = [{ clusterName: "oslo", status: { conditions: [{ type: "Ready", status: "True" }] } }];

  expect(() => joinConditions(template, items)).toThrow(
    'summing the status of Widget w: condition "Ready" of cluster oslo has no message',
  );
});
