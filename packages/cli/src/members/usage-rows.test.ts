import { expect, test } from "vitest";
import { usageOf, withShares } from "./usage-rows.ts";

test("a pod uses the sum of its containers", () => {
  const metrics = {
    metadata: { namespace: "shop", name: "web-1" },
    containers: [{ usage: { cpu: "250m", memory: "1Mi" } }, { usage: { cpu: "1500u", memory: "512Ki" } }],
  };

  expect(usageOf("member1", metrics)).toEqual({
    cluster: "member1",
    namespace: "shop",
    name: "web-1",
    cpuMilli: 252,
    memoryBytes: 1.5 * 2 ** 20,
  });
});

test("a node has shares of what it can allocate", () => {
  const usage = usageOf("member1", { metadata: { name: "n1" }, usage: { cpu: "2", memory: "1Gi" } });

  expect(withShares(usage, { status: { allocatable: { cpu: "8", memory: "4Gi" } } })).toMatchObject({
    cpuPercent: 25,
    memoryPercent: 25,
  });
  expect(withShares(usage, undefined)).toBe(usage);
});
