/**
 * Computes the next time of a cron schedule with five fields, in any time zone.
 *
 * The algorithm is that of the library in Kubernetes and OpenKruise, so that the corner cases agree as well: an hour
 * that daylight saving time removes is skipped to the next day that has it, a repeated hour counts twice for schedules
 * of minutes, and a day that no month of the next five years has never comes. Without a zone, times are in UTC.
 */
import { readSchedule, zoneProblem } from "./cron-schedule.ts";
import type { CronField, CronSchedule } from "./cron-schedule.ts";
import { formatTime } from "@flotilla/base";

/** Dates such as 29 February recur within this many years; others are assumed never to occur. */
const MAX_YEARS = 5;
const SECOND_MS = 1000;
const MINUTE_MS = 60 * SECOND_MS;
const HOUR_MS = 60 * MINUTE_MS;

export interface Schedule {
  /** The first time after `afterMs`, or undefined if there is none. */
  next(afterMs: number): number | undefined;
}

/** The effective schedule: one that names a zone itself keeps it, and an unknown zone is ignored. */
export function zonedSchedule(schedule: string, timeZone: string | undefined): string {
  return timeZone === undefined || schedule.includes("TZ") || zoneProblem(timeZone) !== undefined
    ? schedule
    : `TZ=${timeZone} ${schedule}`;
}

/** The parsed schedule, or an error message. */
export function parseSchedule(text: string): Schedule | string {
  const read = readSchedule(text);
  if (typeof read === "string") return read;
  if ("everyMs" in read) return { next: (afterMs) => afterMs + read.everyMs - (afterMs % SECOND_MS) };
  const zone = zoneOf(read.zone);
  return { next: (afterMs) => nextTime(read.fields, zone, afterMs) };
}

/** RFC 3339 with the offset of this zone at that time. */
export function formatInZone(ms: number, timeZone: string | undefined): string {
  const local = zoneOf(timeZone).local(ms);
  const offsetMinutes = Math.round((local.getTime() - ms) / MINUTE_MS);
  if (offsetMinutes === 0) return formatTime(ms);
  const [hours, minutes] = [Math.floor(Math.abs(offsetMinutes) / 60), Math.abs(offsetMinutes) % 60];
  return `${formatTime(local.getTime()).slice(0, -1)}${offsetMinutes < 0 ? "-" : "+"}${String(hours).padStart(2, "0")}:${String(minutes).padStart(2, "0")}`;
}

type Fields = Extract<CronSchedule, { fields: unknown }>["fields"];

/**
 * Each field that does not match is advanced until it does; when it wraps around, the larger fields are checked again.
 */
function nextTime(given: Fields, zone: Zone, afterMs: number): number | undefined {
  const { month, day, weekday, hour, minute } = given;
  // Schedules run on the full minute.
  let time = afterMs - (afterMs % MINUTE_MS) + MINUTE_MS;
  /** Once a field was advanced, all smaller fields start from their minimum. */
  let moved = false;
  const lastYear = zone.local(time).getUTCFullYear() + MAX_YEARS;

  search: for (;;) {
    if (zone.local(time).getUTCFullYear() > lastYear) return undefined;

    while (!month.values.has(zone.local(time).getUTCMonth() + 1)) {
      if (!moved) time = zone.instant(zone.local(time), { day: 1, hour: 0 });
      moved = true;
      time = zone.later(time, { months: 1 });
      if (zone.local(time).getUTCMonth() === 0) continue search;
    }

    while (!isDay(day, weekday, zone.local(time))) {
      if (!moved) time = zone.instant(zone.local(time), { hour: 0 });
      moved = true;
      time = zone.later(time, { days: 1 });
      // If daylight saving time begins or ends at midnight, one day later is not midnight.
      const hours = zone.local(time).getUTCHours();
      if (hours !== 0) time += (hours > 12 ? 24 - hours : -hours) * HOUR_MS;
      if (zone.local(time).getUTCDate() === 1) continue search;
    }

    while (!hour.values.has(zone.local(time).getUTCHours())) {
      if (!moved) time = zone.instant(zone.local(time), {});
      moved = true;
      time += HOUR_MS;
      if (zone.local(time).getUTCHours() === 0) continue search;
    }

    while (!minute.values.has(zone.local(time).getUTCMinutes())) {
      if (!moved) time -= time % MINUTE_MS;
      moved = true;
      time += MINUTE_MS;
      if (zone.local(time).getUTCMinutes() === 0) continue search;
    }

    return time;
  }
}

/** With a star in one of the two, the other decides; otherwise one match is enough. */
function isDay(day: CronField, weekday: CronField, local: Date): boolean {
  const fitsDay = day.values.has(local.getUTCDate());
  const fitsWeekday = weekday.values.has(local.getUTCDay());
  return day.any || weekday.any ? fitsDay && fitsWeekday : fitsDay || fitsWeekday;
}

/** Wall clocks are `Date`s whose UTC fields contain the local time. */
interface Zone {
  local(ms: number): Date;
  /** The time at which the wall clock shows this date with the given day and hour, and zero minutes. */
  instant(local: Date, at: { day?: number; hour?: number }): number;
  /** The same wall clock time some days or months later. */
  later(ms: number, by: { days?: number; months?: number }): number;
}

const zones = new Map<string, Zone>();

function zoneOf(name = "UTC"): Zone {
  // The location of the process has no meaning for a cluster, so its local time is UTC.
  const known = name === "" || name === "Local" ? "UTC" : name;
  let zone = zones.get(known);
  // Bounded by the number of time zones: unknown names are rejected before.
  if (!zone) zones.set(known, (zone = createZone(known)));
  return zone;
}

function createZone(name: string): Zone {
  const offsetMs = name === "UTC" ? () => 0 : offsetsOf(name);
  const local = (ms: number): Date => new Date(ms + offsetMs(ms));
  // The offset is computed as if the wall clock were UTC, and again at the resulting time: the second result is correct
  // except in a gap.
  const instantOf = (wallMs: number): number => wallMs - offsetMs(wallMs - offsetMs(wallMs));
  return {
    local,
    instant: (wall, { day = wall.getUTCDate(), hour = wall.getUTCHours() }) =>
      instantOf(Date.UTC(wall.getUTCFullYear(), wall.getUTCMonth(), day, hour)),
    later(ms, { days = 0, months = 0 }) {
      const wall = local(ms);
      return instantOf(
        Date.UTC(
          wall.getUTCFullYear(),
          wall.getUTCMonth() + months,
          wall.getUTCDate() + days,
          wall.getUTCHours(),
          wall.getUTCMinutes(),
          wall.getUTCSeconds(),
        ),
      );
    },
  };
}

function offsetsOf(name: string): (ms: number) => number {
  const format = new Intl.DateTimeFormat("en-US", {
    timeZone: name,
    hourCycle: "h23",
    year: "numeric",
    month: "numeric",
    day: "numeric",
    hour: "numeric",
    minute: "numeric",
    second: "numeric",
  });
  /**
   * Clock changes happen on a quarter of an hour, so an offset is valid for the rest of it; a search needs few of them.
   */
  let known = { quarter: Number.NaN, offset: 0 };
  return (ms) => {
    const quarter = Math.floor(ms / (15 * MINUTE_MS));
    if (known.quarter === quarter) return known.offset;
    const parts: Record<string, number> = {};
    for (const { type, value } of format.formatToParts(ms)) parts[type] = Number(value);
    const { year = 0, month = 1, day = 1, hour = 0, minute = 0, second = 0 } = parts;
    const offset = Date.UTC(year, month - 1, day, hour, minute, second) - Math.floor(ms / SECOND_MS) * SECOND_MS;
    known = { quarter, offset };
    return offset;
  };
}
