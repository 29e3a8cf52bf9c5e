/** Timestamps and durations, with nanosecond precision, from year 1 to 9999. */
import { parseGoDuration } from "@flotilla/apimachinery";
import { decimal } from "./numbers.ts";
import { CelDuration, CelError, CelTimestamp } from "./values.ts";

const MIN_SECONDS = -62_135_596_800;
const MAX_SECONDS = 253_402_300_799;
const MIN_NANOS = -(2n ** 63n);
const MAX_NANOS = 2n ** 63n - 1n;
const SECOND = 1_000_000_000n;

export const TIMESTAMP_OVERFLOW = new CelError("timestamp overflow");
const DURATION_OVERFLOW = new CelError("duration overflow");

export function durationOf(nanos: bigint): CelDuration | CelError {
  return nanos < MIN_NANOS || nanos > MAX_NANOS ? DURATION_OVERFLOW : new CelDuration(nanos);
}

export function timestampOf(seconds: number, nanos = 0, zone = 0): CelTimestamp | CelError {
  return seconds < MIN_SECONDS || seconds > MAX_SECONDS ? TIMESTAMP_OVERFLOW : new CelTimestamp(seconds, nanos, zone);
}

export function shift({ total, zone }: CelTimestamp, nanos: bigint): CelTimestamp | CelError {
  const moved = total + nanos;
  const fraction = ((moved % SECOND) + SECOND) % SECOND;
  return timestampOf(Number((moved - fraction) / SECOND), Number(fraction), zone);
}

export function compareTimestamps(a: CelTimestamp, b: CelTimestamp): number {
  return Math.sign(a.seconds - b.seconds || a.nanos - b.nanos);
}

const DATE_TIME = /^(\d{4})-(\d\d)-(\d\d)T(\d\d):(\d\d):(\d\d)([.,]\d+)?(Z|[+-]\d\d:\d\d)$/;

/** RFC 3339; undefined for other formats. */
export function parseTimestamp(text: string): CelTimestamp | undefined {
  const match = text.length > 100 ? null : DATE_TIME.exec(text);
  if (!match) return undefined;
  const [, year, month, day, hour, minute, second, fraction = "", zoneText = "Z"] = match;
  const days = daysOf(Number(year), Number(month), Number(day));
  if (days === undefined || Number(hour) > 23 || Number(minute) > 59 || Number(second) > 59) return undefined;
  const zone = zoneText === "Z" ? 0 : zoneOf(zoneText);
  if (zone === undefined) return undefined;
  const nanos = fraction === "" ? 0 : Number(fraction.slice(1, 10).padEnd(9, "0"));
  return new CelTimestamp(
    days * 86_400 + Number(hour) * 3600 + Number(minute) * 60 + Number(second) - zone,
    nanos,
    zone,
  );
}

function zoneOf(text: string): number | undefined {
  const [hours, minutes] = [Number(text.slice(1, 3)), Number(text.slice(4, 6))];
  if (hours > 24 || minutes > 60) return undefined;
  return (text.startsWith("-") ? -1 : 1) * (hours * 3600 + minutes * 60);
}

/** Days since 1970; undefined for a date that does not exist. */
export function daysOf(year: number, month: number, day: number): number | undefined {
  // `Date.UTC` maps years below 100 to the 1900s.
  const date = new Date(0);
  date.setUTCFullYear(year, month - 1, day);
  return month >= 1 && month <= 12 && day >= 1 && date.getUTCMonth() === month - 1
    ? date.getTime() / 86_400_000
    : undefined;
}

const two = (value: number): string => String(value).padStart(2, "0");

export function formatTimestamp({ seconds, nanos, zone }: CelTimestamp): string {
  const date = new Date((seconds + zone) * 1000);
  const fraction = nanos === 0 ? "" : `.${String(nanos).padStart(9, "0").replace(/0+$/, "")}`;
  const minutes = Math.floor(Math.abs(zone) / 60);
  const offset = zone === 0 ? "Z" : `${zone < 0 ? "-" : "+"}${two(Math.floor(minutes / 60))}:${two(minutes % 60)}`;
  const year = String(date.getUTCFullYear()).padStart(4, "0");
  const day = `${year}-${two(date.getUTCMonth() + 1)}-${two(date.getUTCDate())}`;
  const time = `${two(date.getUTCHours())}:${two(date.getUTCMinutes())}:${two(date.getUTCSeconds())}`;
  return `${day}T${time}${fraction}${offset}`;
}

/** Go's durations: `1h30m`, `-1.5s`; undefined for other formats. */
export function parseDuration(text: string): CelDuration | undefined {
  const nanos = parseGoDuration(text);
  return nanos === undefined ? undefined : new CelDuration(nanos);
}

export function formatDuration({ nanos }: CelDuration): string {
  // Seconds as a double, as in cel-go: beyond 2^53 nanoseconds the last digits are rounded.
  const whole = nanos / SECOND;
  return `${decimal(Number(whole) + Number(nanos % SECOND) / 1e9)}s`;
}

/** Seconds east of UTC at a given time, for `+02:00` or a name such as `Europe/Paris`; an error for an unknown zone. */
export function zoneAt(seconds: number, name: string): number | CelError {
  const colon = name.indexOf(":");
  if (colon >= 0) {
    const [hours, minutes] = [goInteger(name.slice(0, colon)), goInteger(name.slice(colon + 1))];
    if (typeof hours !== "number") return hours;
    if (typeof minutes !== "number") return minutes;
    return (name.startsWith("-") ? hours * 60 - minutes : hours * 60 + minutes) * 60;
  }
  if (name === "" || name === "UTC") return 0;
  try {
    const format = new Intl.DateTimeFormat("en-US", { timeZone: name, timeZoneName: "longOffset" });
    const offset =
      format.formatToParts(new Date(seconds * 1000)).find(({ type }) => type === "timeZoneName")?.value ?? "GMT";
    const match = /^GMT(?:([+-])(\d\d):(\d\d)(?::(\d\d))?)?$/.exec(offset);
    if (!match?.[1]) return 0;
    return (match[1] === "-" ? -1 : 1) * (Number(match[2]) * 3600 + Number(match[3]) * 60 + Number(match[4] ?? 0));
  } catch (error) {
    if (error instanceof RangeError) return new CelError(`unknown time zone ${name}`);
    throw error;
  }
}

function goInteger(text: string): number | CelError {
  return /^[+-]?\d{1,15}$/.test(text)
    ? Number(text)
    : new CelError(`strconv.Atoi: parsing ${JSON.stringify(text)}: invalid syntax`);
}
