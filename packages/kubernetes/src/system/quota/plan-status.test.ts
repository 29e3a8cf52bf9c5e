import { expect, test } from "vitest";
import { readAmounts } from "../../quota/amounts.ts";
import { type ResourceQuota } from "../../resourcequota/resourcequota-kind.ts";
import { countedResources, planStatus } from "./plan-status.ts";

const makeQuota = (hard: Record<string, string>, status?: ResourceQuota["status"]): ResourceQuota => ({
  apiVersion: "v1",
  kind: "ResourceQuota",
  metadata: { name: "q", namespace: "shop" },
  spec: { hard },
  status,
});

test("a quota counts each resource once, whatever its names in the quota", () => {
  expect(
    countedResources(
      makeQuota({ pods: "1", cpu: "1", "count/pods": "1", secrets: "1", "count/widgets.example.com": "1" }),
    ),
  ).toEqual([
    { group: "", resource: "pods" },
    { group: "", resource: "secrets" },
    { group: "example.com", resource: "widgets" },
  ]);
});

test("a new quota reports its limits and usage, without resources that are not counted", () => {
  expect(
    planStatus(makeQuota({ pods: "2", "count/nope.example.com": "1" }), readAmounts({ pods: "1", cpu: "1" })),
  ).toEqual({
    status: { hard: { pods: "2", "count/nope.example.com": "1" }, used: { pods: "1" } },
    shrinks: false,
  });
});

test("the status of a quota that is correct is not written", () => {
  expect(
    planStatus(makeQuota({ cpu: "2" }, { hard: { cpu: "2" }, used: { cpu: "1" } }), readAmounts({ cpu: "1000m" })),
  ).toEqual({ shrinks: false });
});

test("writes a lower usage than was charged, and checks it again", () => {
  expect(
    planStatus(makeQuota({ pods: "2" }, { hard: { pods: "2" }, used: { pods: "2" } }), readAmounts({ pods: "1" })),
  ).toMatchObject({ status: { used: { pods: "1" } }, shrinks: true });
});
