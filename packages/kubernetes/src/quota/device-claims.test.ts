import { expect, test } from "vitest";
import { writeAmounts } from "./amounts.ts";
import { quotaEvaluatorOf } from "./evaluator.ts";

const usageOf = (...requests: object[]): unknown => {
  const claim = {
    apiVersion: "resource.k8s.io/v1",
    kind: "ResourceClaim",
    metadata: { name: "a" },
    spec: { devices: { requests } },
  };
  return writeAmounts(quotaEvaluatorOf("resource.k8s.io", "resourceclaims")?.usage(claim as never, 0) ?? new Map());
};
const exactly = (deviceClassName: string, fields: object): object => ({
  name: deviceClassName,
  exactly: { deviceClassName, allocationMode: "ExactCount", ...fields },
});

test("devices are counted by class, and a request for all counts as the maximum of a claim", () => {
  expect(usageOf(exactly("gpu", { count: 2 }), exactly("nic", { allocationMode: "All" }))).toEqual({
    "count/resourceclaims.resource.k8s.io": "1",
    "gpu.deviceclass.resource.k8s.io/devices": "2",
    "nic.deviceclass.resource.k8s.io/devices": "32",
  });
});

test("alternatives count with the maximum of each class", () => {
  const request = {
    name: "any",
    firstAvailable: [1, 3, 2].map((count) => ({
      name: `n${count}`,
      deviceClassName: "gpu",
      allocationMode: "ExactCount",
      count,
    })),
  };

  expect(usageOf(request)).toEqual({
    "count/resourceclaims.resource.k8s.io": "1",
    "gpu.deviceclass.resource.k8s.io/devices": "3",
  });
});
