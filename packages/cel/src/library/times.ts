/** Components of timestamps, in UTC or a time zone, and of durations. */
import type { Row } from "../types/functions.ts";
import { zoneAt } from "../values/time.ts";
import { type CelDuration, CelError, type CelTimestamp, type CelValue } from "../values/values.ts";

type Part = (date: Date, timestamp: CelTimestamp) => number;

const DAY_MS = 86_400_000;
const dayOfYear: Part = (date) => {
  const start = new Date(date);
  start.setUTCMonth(0, 1);
  start.setUTCHours(0, 0, 0, 0);
  return Math.floor((date.getTime() - start.getTime()) / DAY_MS);
};

const PARTS: readonly (readonly [name: string, id: string, part: Part])[] = [
  ["getFullYear", "timestamp_to_year", (date) => date.getUTCFullYear()],
  ["getMonth", "timestamp_to_month", (date) => date.getUTCMonth()],
  ["getDayOfYear", "timestamp_to_day_of_year", dayOfYear],
  ["getDayOfMonth", "timestamp_to_day_of_month", (date) => date.getUTCDate() - 1],
  ["getDate", "timestamp_to_day_of_month_1_based", (date) => date.getUTCDate()],
  ["getDayOfWeek", "timestamp_to_day_of_week", (date) => date.getUTCDay()],
  ["getHours", "timestamp_to_hours", (date) => date.getUTCHours()],
  ["getMinutes", "timestamp_to_minutes", (date) => date.getUTCMinutes()],
  ["getSeconds", "timestamp_to_seconds", (date) => date.getUTCSeconds()],
  ["getMilliseconds", "timestamp_to_milliseconds", (_, { nanos }) => Math.floor(nanos / 1_000_000)],
];

function partRows([name, id, part]: (typeof PARTS)[number]): Row[] {
  const inUtc = (timestamp: CelTimestamp): CelValue => part(new Date(timestamp.seconds * 1000), timestamp);
  const inZone = (timestamp: CelTimestamp, zone: string): CelValue => {
    const offset = zoneAt(timestamp.seconds, zone);
    return offset instanceof CelError ? offset : part(new Date((timestamp.seconds + offset) * 1000), timestamp);
  };
  const zoneId = name === "getSeconds" ? `${id}_tz` : `${id}_with_tz`;
  return [
    [name, id, "timestamp.() -> int", inUtc],
    [name, zoneId, "timestamp.(string) -> int", inZone],
  ];
}

const wholeUnits =
  (nanos: bigint) =>
  (duration: CelDuration): CelValue =>
    Number(duration.nanos / nanos);

export const times: readonly Row[] = [
  ...PARTS.flatMap(partRows),
  ["getHours", "duration_to_hours", "duration.() -> int", wholeUnits(3_600_000_000_000n)],
  ["getMinutes", "duration_to_minutes", "duration.() -> int", wholeUnits(60_000_000_000n)],
  ["getSeconds", "duration_to_seconds", "duration.() -> int", wholeUnits(1_000_000_000n)],
  ["getMilliseconds", "duration_to_milliseconds", "duration.() -> int", wholeUnits(1_000_000n)],
];
