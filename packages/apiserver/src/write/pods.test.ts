import { expect, test } from "vitest";
import { graceSecondsOf } from "./pods.ts";

const cases: Record<string, { spec?: object; status?: object; asked?: number; want: number }> = {
  "the grace period defaults to 30 seconds": { want: 30 },
  "terminationGracePeriodSeconds sets the grace period": { spec: { terminationGracePeriodSeconds: 5 }, want: 5 },
  "an explicit gracePeriodSeconds wins": { spec: { terminationGracePeriodSeconds: 5 }, asked: 0, want: 0 },
  "a negative grace period becomes one second": { spec: { terminationGracePeriodSeconds: -7 }, want: 1 },
  "caps an infinite grace period": { spec: { terminationGracePeriodSeconds: 2 ** 53 }, want: 2_147_483_647 },
  "an unscheduled pod has no grace period": { spec: { nodeName: "" }, want: 0 },
  "a finished pod has no grace period": { status: { phase: "Failed" }, want: 0 },
};
for (const [behaviour, { spec, status = {}, asked, want }] of Object.entries(cases)) {
  // oxlint-disable-next-line vitest/valid-title -- The name of the case is the title.
  test(behaviour, () => {
    const pod = { spec: { nodeName: "node-1", ...spec }, status: { phase: "Running", ...status } };

    const seconds = graceSecondsOf(pod, asked);

    expect(seconds).toBe(want);
  });
}
