import { expect, test } from "vitest";
import { hidesItsPods } from "./run-to-completion.ts";

const cases: Record<string, { kind: string; status: unknown; want: boolean }> = {
  "active pods of a BroadcastJob": { kind: "BroadcastJob", status: { active: 2 }, want: true },
  "a BroadcastJob without active pods": { kind: "BroadcastJob", status: { active: 0, succeeded: 2 }, want: false },
  "a Job that reports ready pods": { kind: "Job", status: { active: 1, ready: 0 }, want: false },
  "a Job of a cluster that does not report ready pods": { kind: "Job", status: { active: 1 }, want: true },
  "an active run of a CronJob": { kind: "CronJob", status: { active: [{ name: "web-1" }] }, want: true },
  "a CronJob between two runs": { kind: "CronJob", status: { lastScheduleTime: "2024-05-01T12:02:00Z" }, want: false },
  "an AdvancedCronJob that has run": {
    kind: "AdvancedCronJob",
    status: { lastScheduleTime: "2024-05-01T12:02:00Z" },
    want: true,
  },
  "a Deployment": { kind: "Deployment", status: { readyReplicas: 1 }, want: false },
  "a copy without a status": { kind: "BroadcastJob", status: undefined, want: false },
};
for (const [behaviour, { kind, status, want }] of Object.entries(cases))
  test(`${behaviour}: ${want ? "only the pods show whether they start" : "nothing is hidden"}`, () => {
    expect(hidesItsPods(kind, status)).toBe(want);
  });
