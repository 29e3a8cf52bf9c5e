/** Validates times with Go's error messages. Kubernetes accepts RFC 3339 and reports why a time is invalid. */
interface Part {
  readonly layout: string;
  /** 0 for separators. */
  readonly digits: number;
  readonly most?: number;
  readonly name?: string;
}

const text = (layout: string): Part => ({ layout, digits: 0 });
const SECONDS: readonly Part[] = [
  { layout: "2006", digits: 4 },
  text("-"),
  { layout: "01", digits: 2, most: 12, name: "month" },
  text("-"),
  { layout: "02", digits: 2, most: 31, name: "day" },
  text("T"),
  { layout: "15", digits: 2, most: 23, name: "hour" },
  text(":"),
  { layout: "04", digits: 2, most: 59, name: "minute" },
  text(":"),
  { layout: "05", digits: 2, most: 59, name: "second" },
];
const ZONE = "Z07:00";
const SECONDS_LAYOUT = "2006-01-02T15:04:05Z07:00";
const MICRO_LAYOUT = "2006-01-02T15:04:05.000000Z07:00";

/** How the server and most clients write times: almost every time that is checked. */
const USUAL_DAY = String.raw`\d{4}-(?:(?:0[1-9]|1[0-2])-(?:0[1-9]|1\d|2[0-8])|(?:0[13-9]|1[0-2])-(?:29|30)|(?:0[13578]|1[02])-31)`;
const USUAL_CLOCK = String.raw`T(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d`;
const USUAL_SECONDS = new RegExp(`^${USUAL_DAY}${USUAL_CLOCK}Z$`);
const USUAL_MICRO = new RegExp(String.raw`^${USUAL_DAY}${USUAL_CLOCK}\.\d{6}Z$`);

/**
 * Why a string is not a time; undefined when it is valid. Fractions are required for a MicroTime and optional
 * otherwise.
 */
export function timeProblem(value: string, micro: boolean): string | undefined {
  if ((micro ? USUAL_MICRO : USUAL_SECONDS).test(value)) return undefined;
  const layout = micro ? MICRO_LAYOUT : SECONDS_LAYOUT;
  const shown = `parsing time ${quoted(value)}`;
  const cannot = (rest: string, part: string): string =>
    `${shown} as ${JSON.stringify(layout)}: cannot parse ${quoted(rest)} as ${JSON.stringify(part)}`;
  let rest = value;
  let day = 0;
  let month = 0;
  let year = 0;
  for (const part of SECONDS) {
    if (part.digits === 0) {
      if (!rest.startsWith(part.layout)) return cannot(rest, part.layout);
      rest = rest.slice(part.layout.length);
      continue;
    }
    const digits = rest.slice(0, part.digits);
    if (digits.length < part.digits || !/^\d+$/.test(digits)) return cannot(rest, part.layout);
    const number = Number(digits);
    if (part.most !== undefined && (number > part.most || (part.name === "month" && number === 0)))
      return `${shown}: ${part.name ?? ""} out of range`;
    if (part.layout === "2006") year = number;
    if (part.name === "month") month = number;
    if (part.name === "day") day = number;
    rest = rest.slice(part.digits);
  }
  if (micro) {
    if (!/^[.,]\d{6}(?!\d)/.test(rest)) return cannot(rest, ".000000");
    rest = rest.slice(7);
  } else rest = rest.replace(/^[.,]\d+/, "");
  const zone = /^(?:Z|[+-](\d\d):(\d\d))/.exec(rest);
  if (!zone) return cannot(rest, ZONE);
  const [matched, hours = "0", minutes = "0"] = zone;
  if (Number(hours) > 24) return `${shown}: time zone offset hour out of range`;
  if (Number(minutes) > 60) return `${shown}: time zone offset minute out of range`;
  rest = rest.slice(matched.length);
  if (rest !== "") return `${shown}: extra text: ${JSON.stringify(rest)}`;
  return day < 1 || day > daysIn(year, month) ? `${shown}: day out of range` : undefined;
}

function daysIn(year: number, month: number): number {
  return new Date(Date.UTC(2000 + (year % 400), month, 0)).getUTCDate();
}

const DURATION_UNITS = new Set(["ns", "us", "µs", "μs", "ms", "s", "m", "h"]);

/** Why a string is not a duration such as `1h30m`; undefined when it is valid. */
export function durationProblem(value: string): string | undefined {
  const invalid = `time: invalid duration ${JSON.stringify(value)}`;
  let rest = value.replace(/^[+-]/, "");
  if (rest === "0") return undefined;
  if (rest === "") return invalid;
  while (rest !== "") {
    const number = /^(?:\d+\.?\d*|\.\d+)/.exec(rest)?.[0];
    if (number === undefined) return invalid;
    const unit = /^[^.\d]*/.exec(rest.slice(number.length))?.[0] ?? "";
    if (unit === "") return `time: missing unit in duration ${JSON.stringify(value)}`;
    if (!DURATION_UNITS.has(unit))
      return `time: unknown unit ${JSON.stringify(unit)} in duration ${JSON.stringify(value)}`;
    rest = rest.slice(number.length + unit.length);
  }
  return undefined;
}

/** Quotes as Go's time package: bytes outside of printable ASCII in hexadecimal. */
function quoted(text: string): string {
  if (/^[ !#-[\]-~]*$/.test(text)) return `"${text}"`;
  let result = "";
  for (const byte of new TextEncoder().encode(text)) {
    if (byte < 0x20 || byte >= 0x80) result += String.raw`\x${byte.toString(16).padStart(2, "0")}`;
    else result += byte === 0x22 || byte === 0x5c ? `\\${String.fromCharCode(byte)}` : String.fromCharCode(byte);
  }
  return `"${result}"`;
}
