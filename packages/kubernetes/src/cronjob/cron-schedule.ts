import { parseGoDurationMs } from "@flotilla/apimachinery";
/**
 * Parses schedules with the five fields of cron, and their time zones; error messages are those of upstream's library.
 */

interface Bounds {
  min: number;
  max: number;
  names?: readonly string[];
}

const MONTHS = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];
const DAYS = ["sun", "mon", "tue", "wed", "thu", "fri", "sat"];
const FIELDS: readonly Bounds[] = [
  { min: 0, max: 59 },
  { min: 0, max: 23 },
  { min: 1, max: 31 },
  { min: 1, max: 12, names: MONTHS },
  { min: 0, max: 6, names: DAYS },
];
const DESCRIPTORS: Readonly<Record<string, string>> = {
  "@yearly": "0 0 1 1 *",
  "@annually": "0 0 1 1 *",
  "@monthly": "0 0 1 * *",
  "@weekly": "0 0 * * 0",
  "@daily": "0 0 * * *",
  "@midnight": "0 0 * * *",
  "@hourly": "0 * * * *",
};
const ZONED = /^(?:CRON_)?TZ=([^ ]*)( ?)/;

/**
 * The values that one of the five fields allows. `any` is a star without a step, which leaves the choice to the other
 * day field.
 */
export interface CronField {
  values: ReadonlySet<number>;
  any: boolean;
}

/**
 * A parsed schedule: the values that the five fields allow, or a fixed interval. `zone` is set when the schedule names
 * one.
 */
export type CronSchedule =
  | {
      zone?: string;
      fields: { minute: CronField; hour: CronField; day: CronField; month: CronField; weekday: CronField };
    }
  | { zone?: string; everyMs: number };

/** Undefined for a valid schedule. */
export function scheduleProblem(schedule: string): string | undefined {
  const read = readSchedule(schedule);
  return typeof read === "string" ? read : undefined;
}

/** Returns the schedule, or an error message. */
export function readSchedule(schedule: string): CronSchedule | string {
  if (schedule === "") return "empty spec string";
  const zoned = ZONED.exec(schedule);
  if (!zoned) return readUnzoned(schedule);
  const [whole, zone = "", space] = zoned;
  if (space === "") return `invalid schedule format: runtime error: slice bounds out of range [:-1]`;
  const problem = zoneProblem(zone);
  if (problem !== undefined) return `provided bad location ${zone}: ${problem}`;
  const read = readUnzoned(schedule.slice(whole.length).trim());
  return typeof read === "string" ? read : { ...read, zone };
}

function readUnzoned(text: string): CronSchedule | string {
  if (text.startsWith("@")) return readDescriptor(text);
  const texts = text.split(/\s+/).filter(Boolean);
  if (texts.length !== FIELDS.length)
    return `expected exactly ${FIELDS.length} fields, found ${texts.length}: [${texts.join(" ")}]`;
  const fields: CronField[] = [];
  for (const [index, bounds] of FIELDS.entries()) {
    const field = readField(texts[index] ?? "", bounds);
    if (typeof field === "string") return field;
    fields.push(field);
  }
  const [minute, hour, day, month, weekday] = fields as [CronField, CronField, CronField, CronField, CronField];
  return { fields: { minute, hour, day, month, weekday } };
}

function readDescriptor(descriptor: string): CronSchedule | string {
  const fields = DESCRIPTORS[descriptor];
  if (fields !== undefined) return readUnzoned(fields);
  if (!descriptor.startsWith("@every ")) return `unrecognized descriptor: ${descriptor}`;
  const duration = parseDuration(descriptor.slice("@every ".length));
  if (typeof duration === "string") return `failed to parse duration ${descriptor}: ${duration}`;
  // Whole seconds, at least one.
  return { everyMs: Math.max(1000, duration - (duration % 1000)) };
}

/** Milliseconds of a duration such as `1h30m`, or an error message. */
function parseDuration(text: string): number | string {
  const problem = /^[+-]?(?:\d+(?:\.\d*)?|\.\d+)$/.test(text) ? "missing unit in duration" : "invalid duration";
  return parseGoDurationMs(text) ?? `time: ${problem} ${JSON.stringify(text)}`;
}

function readField(text: string, bounds: Bounds): CronField | string {
  const values = new Set<number>();
  let any = false;
  for (const range of text.split(",").filter(Boolean)) {
    const read = readRange(range, bounds);
    if (typeof read === "string") return read;
    for (let value = read.start; value <= read.end; value += read.step) values.add(value);
    any ||= read.any;
  }
  return { values, any };
}

/** `1-5/2`, `*`, `mon`. */
function readRange(
  range: string,
  { min, max, names }: Bounds,
): { start: number; end: number; step: number; any: boolean } | string {
  const [span = "", step, ...moreSteps] = range.split("/");
  const [low = "", high, ...moreEnds] = span.split("-");
  const isAny = low === "*" || low === "?";
  const start = isAny ? min : numberOf(low, names);
  if (typeof start === "string") return start;
  let end = isAny ? max : high === undefined ? start : numberOf(high, names);
  if (typeof end === "string") return end;
  if (!isAny && moreEnds.length > 0) return `too many hyphens: ${range}`;
  if (moreSteps.length > 0) return `too many slashes: ${range}`;
  const every = step === undefined ? 1 : numberOf(step);
  if (typeof every === "string") return every;
  if (step !== undefined && high === undefined) end = max;
  if (start < min) return `beginning of range (${start}) below minimum (${min}): ${range}`;
  if (end > max) return `end of range (${end}) above maximum (${max}): ${range}`;
  if (start > end) return `beginning of range (${start}) beyond end of range (${end}): ${range}`;
  if (every === 0) return `step of range should be a positive number: ${range}`;
  return { start, end, step: every, any: isAny && every === 1 };
}

/** The number, or an error message. */
function numberOf(text: string, names?: readonly string[]): number | string {
  const named = names?.indexOf(text.toLowerCase()) ?? -1;
  if (names && named >= 0) return names === MONTHS ? named + 1 : named;
  if (!/^[+-]?\d+$/.test(text))
    return `failed to parse int from ${text}: strconv.Atoi: parsing ${JSON.stringify(text)}: invalid syntax`;
  const number = Number(text);
  if (!Number.isSafeInteger(number))
    return `failed to parse int from ${text}: strconv.Atoi: parsing ${JSON.stringify(text)}: value out of range`;
  return number < 0 ? `negative number (${number}) not allowed: ${text}` : number;
}

/** Upstream resolves time zone names as file names, so they are case-sensitive. */
export function zoneProblem(name: string): string | undefined {
  if (name === "" || name === "UTC" || name === "Local") return undefined;
  const known = resolvedZone(name);
  const isSpelled =
    known !== undefined &&
    (known.toLowerCase() === name.toLowerCase()
      ? known === name
      : name.split("/").every((part) => /^[A-Z]/.test(part)));
  return isSpelled ? undefined : `unknown time zone ${name}`;
}

function resolvedZone(name: string): string | undefined {
  if (!/^[A-Za-z]/.test(name)) return undefined;
  try {
    return new Intl.DateTimeFormat("en", { timeZone: name }).resolvedOptions().timeZone;
  } catch (error) {
    if (error instanceof RangeError) return undefined;
    throw error;
  }
}
