/** When a weekly window opens. Pure; time zones are those of the runtime. */
import type { DeepReadonly } from "@flotilla/base";
import type { GateSpec } from "../kinds/strategy-fields.ts";

type Window = DeepReadonly<NonNullable<GateSpec["window"]>>;

const MINUTE_MS = 60_000;
const DAY_MINUTES = 24 * 60;
const DAYS = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"] as const;

/** 0 while it is open; undefined if no day of the week has it, or its time zone is unknown. */
export function nextOpening({ days, start, end, timeZone }: Window, nowMs: number): number | undefined {
  const format = formatOf(timeZone);
  if (!format || days?.length === 0) return undefined;
  const [from, to] = [minutesOf(start), minutesOf(end)];
  const isOpenAt = (ms: number): boolean => {
    const { day, minute } = localTime(format, ms);
    const isDay = (index: number): boolean => days === undefined || days.includes(DAYS[index] ?? "Sun");
    if (to > from) return isDay(day) && minute >= from && minute < to;
    // It ends on the next day.
    return (isDay(day) && minute >= from) || (isDay((day + 6) % 7) && minute < to);
  };
  if (isOpenAt(nowMs)) return 0;
  // Offsets of time zones change at whole minutes, and windows start there. Every minute is tried, because a change to
  // summer time may skip the start.
  const firstMs = Math.floor(nowMs / MINUTE_MS + 1) * MINUTE_MS;
  for (let minute = 0; minute <= 8 * DAY_MINUTES; minute++)
    if (isOpenAt(firstMs + minute * MINUTE_MS)) return firstMs + minute * MINUTE_MS - nowMs;
  return undefined;
}

const minutesOf = (text: string): number => Number(text.slice(0, 2)) * 60 + Number(text.slice(3, 5));

const formats = new Map<string, Intl.DateTimeFormat | undefined>();
const MAX_FORMATS = 100;

function formatOf(timeZone: string): Intl.DateTimeFormat | undefined {
  if (formats.has(timeZone)) return formats.get(timeZone);
  if (formats.size >= MAX_FORMATS) formats.clear();
  let format: Intl.DateTimeFormat | undefined;
  try {
    format = new Intl.DateTimeFormat("en-US", {
      timeZone,
      weekday: "short",
      hour: "2-digit",
      minute: "2-digit",
      hourCycle: "h23",
    });
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
  }
  formats.set(timeZone, format);
  return format;
}

export const isTimeZone = (timeZone: string): boolean => formatOf(timeZone) !== undefined;

function localTime(format: Intl.DateTimeFormat, ms: number): { day: number; minute: number } {
  const parts = new Map(format.formatToParts(ms).map(({ type, value }) => [type, value]));
  const day = DAYS.findIndex((name) => name === parts.get("weekday"));
  return { day, minute: Number(parts.get("hour")) * 60 + Number(parts.get("minute")) };
}
