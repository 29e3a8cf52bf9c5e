/** Schedules compared with results recorded from the library that OpenKruise and Kubernetes use. */
import { describe, expect, test } from "vitest";
import { formatTime } from "@flotilla/base";
import { parseSchedule, zonedSchedule } from "./cron.ts";
import { readCases } from "@flotilla/testing/recorded-cases.ts";

const CASES = new URL("./testdata/cron.jsonl.gz", import.meta.url);

interface Asked {
  schedule?: string;
  timeZone?: string;
  after: string;
}
interface Answered {
  effectiveSchedule: string;
  times?: string[];
  error?: string;
}

describe("the next time of a schedule matches the upstream library", () => {
  for (const { name, input, want } of readCases<Asked, Answered>(CASES, "next")) {
    test(`${name} ${input.schedule} ${input.timeZone ?? ""}`, () => {
      const effective = zonedSchedule(input.schedule ?? "", input.timeZone);

      const schedule = parseSchedule(effective);

      expect(effective).toBe(want.effectiveSchedule);
      expect(typeof schedule === "string" ? { error: schedule } : { times: timesOf(schedule, input.after, 4) }).toEqual(
        want.error === undefined ? { times: want.times } : { error: want.error },
      );
    });
  }
});

function timesOf(schedule: { next(afterMs: number): number | undefined }, after: string, count: number): string[] {
  const times: string[] = [];
  let time: number | undefined = Date.parse(after);
  while (times.length < count) {
    time = schedule.next(time);
    if (time === undefined) return times;
    times.push(formatTime(time));
  }
  return times;
}

const cases: Record<string, { schedule: string; after: string; want: string[] }> = {
  "skips the hour that daylight saving time removes": {
    schedule: "TZ=Europe/Berlin 30 2 * * *",
    after: "2024-03-30T12:00:00Z",
    want: ["2024-04-01T00:30:00Z", "2024-04-02T00:30:00Z"],
  },
  "runs twice in the repeated hour": {
    schedule: "TZ=America/New_York 30 1 * * *",
    after: "2024-11-03T00:00:00Z",
    want: ["2024-11-03T05:30:00Z", "2024-11-03T06:30:00Z"],
  },
  "matches the day of the month or the day of the week when both are given": {
    schedule: "0 0 13 * 5",
    after: "2024-09-01T00:00:00Z",
    want: ["2024-09-06T00:00:00Z", "2024-09-13T00:00:00Z"],
  },
  "never runs on a day that does not exist": { schedule: "59 23 31 2 *", after: "2024-05-01T12:00:00Z", want: [] },
};
for (const [behaviour, { schedule, after, want }] of Object.entries(cases)) {
  test(`a schedule ${behaviour}`, () => {
    const parsed = parseSchedule(schedule);

    expect(typeof parsed === "string" ? parsed : timesOf(parsed, after, 2)).toEqual(want);
  });
}
