import { describe, expect, test } from "vitest";
import { isTimeZone, nextOpening } from "./plan-window.ts";

const [MINUTE_MS, HOUR_MS, DAY_MS] = [60_000, 3_600_000, 86_400_000];
const office = { start: "09:00", end: "17:00", timeZone: "UTC" };
const weekdays = ["Mon", "Tue", "Wed", "Thu", "Fri"] as const;

describe("a weekly window", () => {
  const cases: Record<string, { window: Parameters<typeof nextOpening>[0]; now: string; want: number | undefined }> = {
    "is open at its first minute": { window: office, now: "2026-05-01T09:00:00Z", want: 0 },
    "is open until its last second": { window: office, now: "2026-05-01T16:59:59Z", want: 0 },
    "opens on the next day once it has closed": { window: office, now: "2026-05-01T17:00:00Z", want: 16 * HOUR_MS },
    "opens in the part of a minute that is left": { window: office, now: "2026-05-01T08:59:30.500Z", want: 29_500 },
    "opens on Monday when it is Friday evening": {
      window: { ...office, days: [...weekdays] },
      now: "2026-05-01T18:00:00Z",
      want: 2 * DAY_MS + 15 * HOUR_MS,
    },
    "that has one day opens a week later": {
      window: { ...office, days: ["Fri"] },
      now: "2026-05-01T17:00:00Z",
      want: 6 * DAY_MS + 16 * HOUR_MS,
    },
    "over midnight is open on the morning after its day": {
      window: { days: ["Fri"], start: "22:00", end: "04:00", timeZone: "UTC" },
      now: "2026-05-02T03:59:00Z",
      want: 0,
    },
    "over midnight is closed on the morning of its day": {
      window: { days: ["Fri"], start: "22:00", end: "04:00", timeZone: "UTC" },
      now: "2026-05-01T03:00:00Z",
      want: 19 * HOUR_MS,
    },
    "whose end is its start is open for a day": {
      window: { days: ["Fri"], start: "09:00", end: "09:00", timeZone: "UTC" },
      now: "2026-05-02T08:59:00Z",
      want: 0,
    },
    "opens by the clock of its time zone": {
      window: { ...office, timeZone: "Europe/Oslo" },
      now: "2026-05-01T06:00:00Z",
      want: HOUR_MS,
    },
    "opens an hour earlier after the change to summer time": {
      window: { ...office, timeZone: "Europe/Oslo" },
      now: "2026-03-28T16:00:00Z",
      want: 15 * HOUR_MS,
    },
    "opens an hour later after the change to winter time": {
      window: { ...office, timeZone: "Europe/Oslo" },
      now: "2026-10-24T15:00:00Z",
      want: 17 * HOUR_MS,
    },
    "whose start is skipped by summer time opens when the clock has jumped": {
      window: { days: ["Sun"], start: "02:30", end: "05:00", timeZone: "Europe/Oslo" },
      now: "2026-03-29T00:00:00Z",
      want: HOUR_MS,
    },
    "opens at the first of two equal hours of winter time": {
      window: { days: ["Sun"], start: "02:30", end: "02:45", timeZone: "Europe/Oslo" },
      now: "2026-10-25T00:00:00Z",
      want: 30 * MINUTE_MS,
    },
    "of no day never opens": { window: { ...office, days: [] }, now: "2026-05-01T12:00:00Z", want: undefined },
    "of an unknown time zone never opens": {
      window: { ...office, timeZone: "Europe/Atlantis" },
      now: "2026-05-01T12:00:00Z",
      want: undefined,
    },
  };
  for (const [behaviour, { window, now, want }] of Object.entries(cases))
    test(behaviour, () => {
      expect(nextOpening(window, Date.parse(now))).toBe(want);
    });
});

test("only time zones of the runtime are known", () => {
  expect(["UTC", "Asia/Kathmandu", "Europe/Atlantis", ""].map(isTimeZone)).toEqual([true, true, false, false]);
});
