import { expect, test } from "vitest";
import type { Pod } from "@flotilla/kubernetes";
import { planRefusedStatus } from "./refused-status.ts";

const NOW_MS = Date.parse("2026-01-01T00:10:00Z");
const REFUSED = {
  type: "PodScheduled",
  status: "False",
  reason: "Unschedulable",
  message: "0/1 nodes are available",
  lastTransitionTime: "2026-01-01T00:00:00Z",
};
const pod = (status?: Pod["status"]): Pod => ({
  apiVersion: "v1",
  kind: "Pod",
  metadata: { name: "web" },
  spec: { containers: [] },
  status,
});

test("a refused pod gets the condition PodScheduled=False with the time of the first refusal", () => {
  expect(planRefusedStatus(pod(), "0/1 nodes are available", undefined, NOW_MS)).toEqual({
    conditions: [{ ...REFUSED, lastTransitionTime: "2026-01-01T00:10:00Z" }],
  });
  expect(planRefusedStatus(pod({ conditions: [REFUSED] }), "no room", undefined, NOW_MS)).toEqual({
    conditions: [{ ...REFUSED, message: "no room" }],
  });
});

test("a pod that was refused for the same reason is not written again, unless its nominated node changes", () => {
  const refused = pod({ conditions: [REFUSED] });

  expect(planRefusedStatus(refused, "0/1 nodes are available", undefined, NOW_MS)).toBeUndefined();
  expect(planRefusedStatus(refused, "0/1 nodes are available", "node-1", NOW_MS)).toEqual({
    conditions: [REFUSED],
    nominatedNodeName: "node-1",
  });
});
