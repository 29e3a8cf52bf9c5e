import { expect, test } from "vitest";
import { durationProblem, timeProblem } from "./go-time.ts";

const SECONDS = "2006-01-02T15:04:05Z07:00";
const MICRO = "2006-01-02T15:04:05.000000Z07:00";

const cases: Record<string, [value: string, micro: boolean, problem: string | undefined]> = {
  "whole seconds are a time": ["2024-05-01T12:00:00Z", false, undefined],
  "an offset is a time": ["2024-05-01T12:00:00+02:00", false, undefined],
  "parts of a second are a time": ["2024-05-01T12:00:00.123Z", false, undefined],
  "microseconds are a time where they are asked for": ["2024-05-01T12:00:00.123456Z", true, undefined],
  "the last day of February is one in a leap year": ["2024-02-29T00:00:00Z", false, undefined],
  "text is none": ["yesterday", false, `parsing time "yesterday" as "${SECONDS}": cannot parse "yesterday" as "2006"`],
  "nothing is none": ["", false, `parsing time "" as "${SECONDS}": cannot parse "" as "2006"`],
  "a date alone is none": ["2024-05-01", false, `parsing time "2024-05-01" as "${SECONDS}": cannot parse "" as "T"`],
  "whole seconds are none where microseconds are asked for": [
    "2024-01-01T00:00:00Z",
    true,
    `parsing time "2024-01-01T00:00:00Z" as "${MICRO}": cannot parse "Z" as ".000000"`,
  ],
  "a time without a zone is none": [
    "2024-05-01T12:00:00",
    false,
    `parsing time "2024-05-01T12:00:00" as "${SECONDS}": cannot parse "" as "Z07:00"`,
  ],
  "the thirteenth month is out of range": [
    "2024-13-01T00:00:00Z",
    false,
    'parsing time "2024-13-01T00:00:00Z": month out of range',
  ],
  "the last day of February is out of range otherwise": [
    "2023-02-29T00:00:00Z",
    false,
    'parsing time "2023-02-29T00:00:00Z": day out of range',
  ],
  "text behind a time is too much": [
    "2024-05-01T12:00:00Zzz",
    false,
    'parsing time "2024-05-01T12:00:00Zzz": extra text: "zz"',
  ],
};
for (const [behaviour, [value, micro, problem]] of Object.entries(cases)) {
  test(behaviour, () => {
    expect(timeProblem(value, micro)).toBe(problem);
  });
}

const durations: Record<string, string | undefined> = {
  "0": undefined,
  "1h30m": undefined,
  "-1.5h": undefined,
  "+.5s3ms": undefined,
  "10µs": undefined,
  "": 'time: invalid duration ""',
  soon: 'time: invalid duration "soon"',
  "5": 'time: missing unit in duration "5"',
  "5d": 'time: unknown unit "d" in duration "5d"',
  "1h x": 'time: unknown unit "h x" in duration "1h x"',
};
for (const [value, problem] of Object.entries(durations)) {
  test(`${JSON.stringify(value)} is ${problem === undefined ? "a duration" : "refused as one in Go's words"}`, () => {
    expect(durationProblem(value)).toBe(problem);
  });
}
