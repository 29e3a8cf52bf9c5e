/** Parses dates and durations in the formats that schemas allow, which are more than CEL's. */
import { daysOf, parseDuration, parseTimestamp } from "./time.ts";
import { CelDuration, CelTimestamp } from "./values.ts";

const UNITS: readonly (readonly [bigint, ...string[]])[] = [
  [1n, "ns", "nano"],
  [1000n, "us", "µs", "micro"],
  [1_000_000n, "ms", "milli"],
  [1_000_000_000n, "s", "sec"],
  [60_000_000_000n, "m", "min"],
  [3_600_000_000_000n, "h", "hr", "hour"],
  [86_400_000_000_000n, "d", "day"],
  [604_800_000_000_000n, "w", "week"],
];

/** `1h30m` as in Go, or `2 days` in words. */
export function parseWordDuration(text: string): CelDuration | undefined {
  const duration = parseDuration(text);
  if (duration || text.length > 200) return duration;
  let total: bigint | undefined;
  for (const [, digits = "0", unit = ""] of text.matchAll(/(\d{1,18})\s*([A-Za-zµ]+)/g)) {
    const scale = unitOf(unit.toLowerCase());
    if (scale !== undefined) total = (total ?? 0n) + BigInt(digits) * scale;
  }
  return total === undefined ? undefined : new CelDuration(BigInt.asIntN(64, total));
}

/** The long name of a unit may be plural: `days`, `seconds`. */
function unitOf(text: string): bigint | undefined {
  return UNITS.find(([, ...names]) => names.includes(text) || text.startsWith(names.at(-1) ?? "-"))?.[0];
}

export function parseFullDate(text: string): CelTimestamp | undefined {
  const [, year, month, day] = /^(\d{4})-(\d\d)-(\d\d)$/.exec(text) ?? [];
  const days = year === undefined ? undefined : daysOf(Number(year), Number(month), Number(day));
  return days === undefined ? undefined : new CelTimestamp(days * 86_400, 0);
}

/** RFC 3339, with lower-case letters, without a colon in the zone, or without a zone at all. */
export function parseDateTime(text: string): CelTimestamp | undefined {
  const [, date, time, zone = "Z"] =
    /^(\d{4}-\d\d-\d\d)[Tt ](\d\d:\d\d:\d\d(?:\.\d+)?)([Zz]|[+-]\d\d:?\d\d)?$/.exec(text) ?? [];
  if (date === undefined) return undefined;
  return parseTimestamp(
    `${date}T${time}${zone.length === 5 ? `${zone.slice(0, 3)}:${zone.slice(3)}` : zone.toUpperCase()}`,
  );
}
