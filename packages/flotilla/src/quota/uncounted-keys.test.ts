/** Which limits of a FederatedResourceQuota count something. */
import { expect, test } from "vitest";
import { uncountedKeys } from "./uncounted-keys.ts";

test("limits of what pods request count, and other names of a ResourceQuota do not", () => {
  const counted = ["cpu", "memory", "ephemeral-storage", "hugepages-2Mi", "nvidia.com/gpu"];
  const others = ["requests.cpu", "limits.cpu", "pods", "count/deployments.apps", "requests.nvidia.com/gpu"];

  const found = uncountedKeys({
    overall: Object.fromEntries([...counted, ...others].map((key) => [key, "1"])),
    staticAssignments: [{ clusterName: "member1", hard: { pods: "1" } }],
  });

  expect(found.map(({ key, counted: instead }) => [key, instead])).toEqual([
    ["requests.cpu", "cpu"],
    ["limits.cpu", undefined],
    ["pods", undefined],
    ["count/deployments.apps", undefined],
    ["requests.nvidia.com/gpu", "nvidia.com/gpu"],
  ]);
  expect(found.filter(({ isAssigned }) => isAssigned).map(({ key }) => key)).toEqual(["pods"]);
});
