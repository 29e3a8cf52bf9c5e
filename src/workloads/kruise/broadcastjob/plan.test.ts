import { expect, test } from "vitest";
import { deadlineInMs } from "./plan.ts";
import type { ReadonlyBroadcastJob } from "./plan.ts";

const STARTED = "2024-05-01T12:00:00Z";
const NOW = Date.parse(STARTED) + 60_000;

const makeJob = (phase: string, activeDeadlineSeconds: number): ReadonlyBroadcastJob =>
  ({
    metadata: { name: "job" },
    spec: { completionPolicy: { type: "Always", activeDeadlineSeconds } },
    status: { active: 0, failed: 0, succeeded: 0, desired: 1, phase, startTime: STARTED },
  }) as unknown as ReadonlyBroadcastJob;

const cases: Record<string, [job: ReadonlyBroadcastJob, want: number | undefined]> = {
  "a job that runs is looked at when its time is over": [makeJob("running", 90), 30_000],
  "a job whose time is over is looked at at once": [makeJob("running", 30), 1],
  // Nothing ends it while it is paused, so looking at it would never end either.
  "a job that is paused waits for a change, also when its time is over": [makeJob("paused", 30), undefined],
  "a job that failed has no more deadline": [makeJob("failed", 30), undefined],
};
for (const [behaviour, [job, want]] of Object.entries(cases)) {
  test(behaviour, () => {
    expect(deadlineInMs(job, NOW)).toBe(want);
  });
}
