/** Durations as Go's `time.ParseDuration` reads them: `1h30m`, `-1.5s`, `0`. */
const SECOND = 1_000_000_000n;
/** Micro is written with the micro sign (U+00B5) or the Greek letter (U+03BC). */
const UNITS: ReadonlyMap<string, bigint> = new Map([
  ["ns", 1n],
  ["us", 1000n],
  ["\u00b5s", 1000n],
  ["\u03bcs", 1000n],
  ["ms", 1_000_000n],
  ["s", SECOND],
  ["m", 60n * SECOND],
  ["h", 3600n * SECOND],
]);
const PART = /(\d*)(?:\.(\d*))?(ns|us|\u00b5s|\u03bcs|ms|s|m|h)/y;
/** No duration in use is longer; the limit keeps parsing cheap. */
const MAX_LENGTH = 200;
const MIN_NANOS = -(2n ** 63n);
const MAX_NANOS = 2n ** 63n - 1n;

/** Nanoseconds; undefined for other formats, and for what Go's 64 bits cannot hold. */
export function parseGoDuration(text: string): bigint | undefined {
  if (text.length > MAX_LENGTH) return undefined;
  const sign = text.startsWith("-") ? -1n : 1n;
  const body = text.replace(/^[+-]/, "");
  if (body === "0") return 0n;
  if (body === "") return undefined;
  let total = 0n;
  PART.lastIndex = 0;
  while (PART.lastIndex < body.length) {
    const match = PART.exec(body);
    if (!match) return undefined;
    const [, whole = "", fraction = "", unit = ""] = match;
    if (whole === "" && fraction === "") return undefined;
    const scale = UNITS.get(unit) ?? 1n;
    total += BigInt(whole || "0") * scale + (BigInt(fraction || "0") * scale) / 10n ** BigInt(fraction.length);
  }
  const nanos = sign * total;
  return nanos < MIN_NANOS || nanos > MAX_NANOS ? undefined : nanos;
}

/** Milliseconds, with fractions. */
export function parseGoDurationMs(text: string): number | undefined {
  const nanos = parseGoDuration(text);
  return nanos === undefined ? undefined : Number(nanos) / 1e6;
}
