import { expect, test } from "vitest";
import { durationProblem, timeProblem } from "./go-time.ts";

const SECONDS = "2006-01-02T15:04:05Z07:00";
const MICRO = "2006-01-02T15:04:05.000000Z07:00";

const cases: Record<string, [value: string, micro: boolean, problem: string | undefined]> = {
  "whole seconds are valid": ["2024-05-01T12:00:00Z", false, undefined],
  "a zone offset is valid": ["2024-05-01T12:00:00+02:00", false, undefined],
  "fractions of a second are valid": ["2024-05-01T12:00:00.123Z", false, undefined],
  "microseconds are valid for a MicroTime": ["2024-05-01T12:00:00.123456Z", true, undefined],
  "February 29 is valid in a leap year": ["2024-02-29T00:00:00Z", false, undefined],
  "text is invalid": [
    "yesterday",
    false,
    `parsing time "yesterday" as "${SECONDS}": cannot parse "yesterday" as "2006"`,
  ],
  "an empty string is invalid": ["", false, `parsing time "" as "${SECONDS}": cannot parse "" as "2006"`],
  "a date without a time is invalid": [
    "2024-05-01",
    false,
    `parsing time "2024-05-01" as "${SECONDS}": cannot parse "" as "T"`,
  ],
  "whole seconds are invalid for a MicroTime": [
    "2024-01-01T00:00:00Z",
    true,
    `parsing time "2024-01-01T00:00:00Z" as "${MICRO}": cannot parse "Z" as ".000000"`,
  ],
  "a time without a zone is invalid": [
    "2024-05-01T12:00:00",
    false,
    `parsing time "2024-05-01T12:00:00" as "${SECONDS}": cannot parse "" as "Z07:00"`,
  ],
  "the thirteenth month is out of range": [
    "2024-13-01T00:00:00Z",
    false,
    'parsing time "2024-13-01T00:00:00Z": month out of range',
  ],
  "February 29 is out of range otherwise": [
    "2023-02-29T00:00:00Z",
    false,
    'parsing time "2023-02-29T00:00:00Z": day out of range',
  ],
  "text after a time is invalid": [
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
