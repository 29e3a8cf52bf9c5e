import { expect, test } from "vitest";
import { formatAge } from "./age.ts";

const SECOND = 1000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

const cases: [ms: number, want: string][] = [
  [-2 * SECOND, "<invalid>"],
  [-1 * SECOND, "0s"],
  [0, "0s"],
  [5 * SECOND, "5s"],
  [119 * SECOND, "119s"],
  [2 * MINUTE, "2m"],
  [3 * MINUTE + 12 * SECOND, "3m12s"],
  [10 * MINUTE + 5 * SECOND, "10m"],
  [179 * MINUTE, "179m"],
  [3 * HOUR, "3h"],
  [4 * HOUR + 5 * MINUTE, "4h5m"],
  [8 * HOUR + 5 * MINUTE, "8h"],
  [47 * HOUR, "47h"],
  [2 * DAY + 3 * HOUR, "2d3h"],
  [8 * DAY + 3 * HOUR, "8d"],
  [729 * DAY, "729d"],
  [730 * DAY, "2y"],
  [1000 * DAY, "2y270d"],
  [3000 * DAY, "8y"],
  [Number.NaN, "<unknown>"],
];
test.each(cases)("%i ms is %s", (ms, want) => {
  expect(formatAge(ms)).toBe(want);
});
