import { expect, test } from "vitest";
import { deadlineInMs } from "./plan-broadcastjob.ts";
import type { ReadonlyBroadcastJob } from "./plan-broadcastjob.ts";

const STARTED = "2024-05-01T12:00:00Z";
const NOW = Date.parse(STARTED) + 60_000;

const makeJob = (phase: string, activeDeadlineSeconds: number): ReadonlyBroadcastJob =>
  ({
    metadata: { name: "job" },
    spec: { completionPolicy: { type: "Always", activeDeadlineSeconds } },
    status: { active: 0, failed: 0, succeeded: 0, desired: 1, phase, startTime: STARTED },
  }) as unknown as ReadonlyBroadcastJob;

const cases: Record<string, [job: ReadonlyBroadcastJob, want: number | undefined]> = {
  "requeues a running job for its deadline": [makeJob("running", 90), 30_000],
  "requeues a job past its deadline at once": [makeJob("running", 30), 1],
  // Nothing ends a paused job, so requeueing it would never stop.
  "a paused job waits for a change, even past its deadline": [makeJob("paused", 30), undefined],
  "a failed job has no deadline": [makeJob("failed", 30), undefined],
};
for (const [behaviour, [job, want]] of Object.entries(cases)) {
  test(behaviour, () => {
    expect(deadlineInMs(job, NOW)).toBe(want);
  });
}
