import { expect, test } from "vitest";
import { formatTime } from "@flotilla/base";
import type { AdvancedCronJob } from "./advancedcronjob-kind.ts";
import { planRunTimes } from "./due-run.ts";

type Spec = AdvancedCronJob["spec"];

const LAST = "2024-05-01T12:00:00Z";
const at = (ms: number | undefined): string | undefined => (ms === undefined ? undefined : formatTime(ms));

const cases: Record<string, { spec: Partial<Spec>; now: string; want: (string | undefined)[] }> = {
  "no run is due before the first time": {
    spec: {},
    now: "2024-05-01T12:09:59Z",
    want: [undefined, "2024-05-01T12:10:00Z"],
  },
  "a run is due at its time": {
    spec: {},
    now: "2024-05-01T12:10:00Z",
    want: ["2024-05-01T12:10:00Z", "2024-05-01T12:20:00Z"],
  },
  "only the latest of several missed runs is due": {
    spec: {},
    now: "2024-05-01T12:35:00Z",
    want: ["2024-05-01T12:30:00Z", "2024-05-01T12:40:00Z"],
  },
  "a run past its starting deadline is not due": {
    spec: { startingDeadlineSeconds: 60 },
    now: "2024-05-01T12:11:30Z",
    want: [undefined, "2024-05-01T12:20:00Z"],
  },
  "a run within its starting deadline is due": {
    spec: { startingDeadlineSeconds: 120 },
    now: "2024-05-01T12:11:30Z",
    want: ["2024-05-01T12:10:00Z", "2024-05-01T12:20:00Z"],
  },
  "a schedule is in its time zone": {
    spec: { schedule: "0 8 * * *", timeZone: "America/New_York" },
    now: "2024-05-01T12:00:30Z",
    want: [undefined, "2024-05-02T12:00:00Z"],
  },
  "a schedule that names a zone keeps it": {
    spec: { schedule: "TZ=Asia/Tokyo 30 21 * * *" },
    now: "2024-05-01T12:31:00Z",
    want: ["2024-05-01T12:30:00Z", "2024-05-02T12:30:00Z"],
  },
  "a date that no year has never comes": {
    spec: { schedule: "0 0 31 2 *" },
    now: "2025-05-01T12:00:00Z",
    want: [undefined, undefined],
  },
  "a clock that is behind the last run waits for the next time": {
    spec: {},
    now: "2024-05-01T11:55:00Z",
    want: [undefined, "2024-05-01T12:00:00Z"],
  },
};
for (const [behaviour, { spec, now, want }] of Object.entries(cases)) {
  test(behaviour, () => {
    const times = planRunTimes({ schedule: "*/10 * * * *", template: {}, ...spec }, Date.parse(LAST), Date.parse(now));

    expect("reason" in times ? times : [at(times.dueMs), at(times.nextMs)]).toEqual(want);
  });
}

test("a hundred missed runs are accepted, one more is not", () => {
  const after = (minutes: number): unknown =>
    planRunTimes({ schedule: "* * * * *", template: {} }, Date.parse(LAST), Date.parse(LAST) + minutes * 60_000);

  expect(after(100)).toMatchObject({ dueMs: Date.parse(LAST) + 100 * 60_000 });
  expect(after(101)).toMatchObject({ reason: "TooManyMissedTimes" });
});

test("a schedule that cannot be parsed is reported", () => {
  const times = planRunTimes({ schedule: "now", template: {} }, 0, 0);

  expect(times).toEqual({
    reason: "UnparseableSchedule",
    message: 'unparsable schedule "now": expected exactly 5 fields, found 1: [now]',
  });
});
