import { expect, test } from "vitest";
import { planNodes } from "./nodes.ts";

const NOW = Date.UTC(2024, 4, 1, 12);

test("names nodes in order, assigns zones round-robin, and makes them ready", () => {
  const [first, , , fourth] = planNodes({ count: 4, nowMs: NOW });

  expect(first).toMatchObject({
    metadata: {
      name: "node-000",
      labels: { "kubernetes.io/hostname": "node-000", "topology.kubernetes.io/zone": "a" },
    },
    status: { capacity: { cpu: "32", memory: "128Gi", pods: "110" } },
  });
  expect(fourth?.metadata).toMatchObject({ name: "node-003", labels: { "topology.kubernetes.io/zone": "a" } });
  expect(first?.status?.conditions?.find(({ type }) => type === "Ready")?.status).toBe("True");
});
