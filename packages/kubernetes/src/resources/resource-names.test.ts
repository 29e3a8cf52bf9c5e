import { expect, test } from "vitest";
import {
  checkContainerResourceName,
  checkQuotaResourceName,
  checkResourceAmount,
  roundAmounts,
} from "./resource-names.ts";

const texts = (errors: readonly { message: string }[]): string[] => errors.map(({ message }) => message);

test.each(["cpu", "requests.memory", "hugepages-2Mi", "count/jobs.batch", "example.com/gpu", "services.nodeports"])(
  "a quota may name %s",
  (name) => {
    expect(checkQuotaResourceName("f", name)).toEqual([]);
  },
);

test("a quota rejects unknown resources", () => {
  expect(texts(checkQuotaResourceName("f", "foo"))).toEqual([
    'Invalid value: "foo": must be a standard resource type or fully qualified',
    'Invalid value: "foo": must be a standard resource for quota',
  ]);
});

test("a container may request only compute and extended resources", () => {
  expect(checkContainerResourceName("f", "example.com/gpu")).toEqual([]);
  expect(texts(checkContainerResourceName("f", "pods"))).toEqual([
    'Invalid value: "pods": must be a standard resource for containers',
  ]);
  expect(texts(checkContainerResourceName("f", "requests.example.com/a"))).toEqual([
    'Invalid value: "requests.example.com/a": doesn\'t follow extended resource name standard',
  ]);
});

test("counted resources must be integers and not negative", () => {
  expect(texts(checkResourceAmount("f", "pods", "1500m"))).toEqual(['Invalid value: "1500m": must be an integer']);
  expect(texts(checkResourceAmount("f", "cpu", "-1"))).toEqual([
    'Invalid value: "-1": must be greater than or equal to 0',
  ]);
  expect(checkResourceAmount("f", "cpu", "1500m")).toEqual([]);
});

test("quantities below a thousandth are rounded up, and all others are unchanged", () => {
  const amounts = { cpu: "1500m", memory: "1Gi" };

  expect(roundAmounts(amounts)).toBe(amounts);
  expect(roundAmounts({ cpu: "1u", memory: "1Gi" })).toEqual({ cpu: "1m", memory: "1Gi" });
});
