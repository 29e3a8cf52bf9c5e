import { expect, test } from "vitest";
import { formatTime } from "../base/index.ts";
import { graceSecondsOf } from "./pods.ts";

const cases: Record<string, { spec?: object; status?: object; asked?: number; want: number }> = {
  "a pod that says nothing has half a minute": { want: 30 },
  "a pod has the time that it asks for": { spec: { terminationGracePeriodSeconds: 5 }, want: 5 },
  "whoever deletes it knows better": { spec: { terminationGracePeriodSeconds: 5 }, asked: 0, want: 0 },
  "a negative time is a second": { spec: { terminationGracePeriodSeconds: -7 }, want: 1 },
  "a time without end ends": { spec: { terminationGracePeriodSeconds: 2 ** 53 }, want: 2_147_483_647 },
  "a pod without a node goes at once": { spec: { nodeName: "" }, want: 0 },
  "a pod that has ended goes at once": { status: { phase: "Failed" }, want: 0 },
};
for (const [behaviour, { spec, status = {}, asked, want }] of Object.entries(cases)) {
  // oxlint-disable-next-line vitest/valid-title -- The name of the case is the title.
  test(behaviour, () => {
    const pod = { spec: { nodeName: "node-1", ...spec }, status: { phase: "Running", ...status } };

    const seconds = graceSecondsOf(pod, asked);

    expect(seconds).toBe(want);
    expect(formatTime(Date.UTC(2024, 4, 1) + seconds * 1000)).toMatch(/^\d{4}-/);
  });
}
