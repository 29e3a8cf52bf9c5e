import { describe, expect, test } from "vitest";
import { reportRelease } from "./report-release.ts";
import type { Entry } from "./plan/release.ts";
import { ago, makeEntry, makeRelease } from "./plan/test-release.ts";

const NOW_MS = Date.parse(ago(0));

describe("the report of a rollback that has ended", () => {
  const cases: Record<string, { phase: "RolledBack" | "Failed"; clusters: Entry[]; want: string }> = {
    "says what the members have": {
      phase: "RolledBack",
      clusters: [makeEntry("oslo", { state: "RolledBack", returned: 10 }), makeEntry("paris")],
      want: "release web-2 failed in wave canary and was rolled back to web-1: crash loop",
    },
    "names the members that are not back": {
      phase: "Failed",
      clusters: [
        makeEntry("oslo", { state: "Unreachable", returned: 0, progressTime: ago(5) }),
        makeEntry("paris", { state: "RollingBack", returned: 4 }),
        makeEntry("rome", { state: "Unreachable" }),
      ],
      want: "release web-2 failed in wave canary and was rolled back to web-1, except on oslo, paris: crash loop",
    },
    "does not name members that have returned since": {
      phase: "Failed",
      clusters: [makeEntry("oslo", { state: "RolledBack", returned: 10 })],
      want: "release web-2 failed in wave canary and was rolled back to web-1: crash loop",
    },
  };
  for (const [behaviour, { phase, clusters, want }] of Object.entries(cases))
    test(behaviour, () => {
      const { input } = makeRelease({});
      const failure = { reason: "PodsFailing", message: "crash loop", wave: "canary", time: ago(60), retry: 0 };
      const status = { updated: 0, ready: 0, total: 20, unavailable: 0, phase, clusters, failure };

      expect(reportRelease({ ...input.rollout, status }, NOW_MS)?.what).toBe(want);
    });
});

describe("a release whose wave has a member that cannot be reached", () => {
  const cases: Record<string, { awayS: number; beside?: Partial<Entry>; want: string | undefined }> = {
    "stands still": {
      awayS: 120,
      want: "release web-2 in wave all, 0 of 20 pods updated, has stood still for 2 min: waits for oslo to be reachable",
    },
    "may continue within a moment": { awayS: 30, want: undefined },
    "makes progress while another member updates": { awayS: 120, beside: { state: "Updating" }, want: undefined },
  };
  for (const [behaviour, { awayS, beside, want }] of Object.entries(cases))
    test(behaviour, () => {
      const { input } = makeRelease({});
      const status = {
        updated: 0,
        ready: 0,
        total: 20,
        unavailable: 10,
        phase: "Progressing" as const,
        wave: "all",
        waveState: "Open" as const,
        waveStartedAt: ago(awayS),
        waitingFor: "oslo to be reachable",
        clusters: [makeEntry("oslo", { state: "Unreachable" }), makeEntry("paris", beside)],
      };

      expect(reportRelease({ ...input.rollout, status }, NOW_MS)?.what).toBe(want);
    });
});
