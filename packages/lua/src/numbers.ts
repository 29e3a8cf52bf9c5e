/** Parses and formats numbers as gopher-lua does, which follows Go's rules rather than C's. */

const MIN_INT64 = -(2 ** 63);
const MAX_INT64 = 2 ** 63;
const DIGITS = "0123456789abcdefghijklmnopqrstuvwxyz";
/** No digit can be matched by two parts: scripts choose the text, and its length would count squared. */
const FLOAT = /^[+-]?(?:\d+(?:_\d+)*(?:\.(?:\d+(?:_\d+)*)?)?|\.\d+(?:_\d+)*)(?:[eE][+-]?\d+(?:_\d+)*)?$/;
const HEX_FLOAT = /^([+-]?)0[xX]_?([\da-fA-F_]*)(?:\.([\da-fA-F_]*))?[pP]([+-]?\d+)$/;

/** Whether a number prints without a fraction: it must fit into a 64-bit integer. */
export const isInt64 = (value: number): boolean => Number.isInteger(value) && value >= MIN_INT64 && value < MAX_INT64;

/** Converts to a 64-bit integer. A number that does not fit becomes the smallest one, as on common server CPUs. */
export function toInt64(value: number): number {
  const whole = Math.trunc(value);
  return whole >= MIN_INT64 && whole < MAX_INT64 ? whole + 0 : MIN_INT64;
}

/** Go's `ParseInt`; base 0 takes the base from a prefix and allows underscores. Undefined for any other text. */
export function parseGoInt(text: string, base: number): number | undefined {
  let rest = text;
  let negative = false;
  if (rest[0] === "+" || rest[0] === "-") {
    negative = rest[0] === "-";
    rest = rest.slice(1);
  }
  let radix = base;
  if (base === 0) {
    const prefix = /^0([xXbBoO]?)/.exec(rest);
    radix = 10;
    if (prefix && rest.length > 1) {
      const letter = prefix[1]?.toLowerCase();
      radix = letter === "x" ? 16 : letter === "b" ? 2 : 8;
      rest = rest.slice(letter ? 2 : 1);
      if (rest[0] === "_") rest = rest.slice(1);
    }
    if (!/^[\da-zA-Z]+(?:_[\da-zA-Z]+)*$/.test(rest)) return undefined;
    rest = rest.replaceAll("_", "");
  }
  if (rest === "" || radix < 2 || radix > 36) return undefined;
  if (radix <= 10 && rest.length > 1) rest = rest.replace(/^0+(?=.)/, "");
  let value = 0n;
  const limit = 2n ** 63n;
  for (const ch of rest.toLowerCase()) {
    const digit = DIGITS.indexOf(ch);
    if (digit < 0 || digit >= radix) return undefined;
    value = value * BigInt(radix) + BigInt(digit);
    if (value > limit) return undefined;
  }
  if (value === limit && !negative) return undefined;
  return Number(negative ? -value : value);
}

/** Go's `ParseFloat`. Undefined for an invalid number and for one that is too large. */
export function parseGoFloat(text: string): number | undefined {
  if (FLOAT.test(text)) {
    const value = Number(text.replaceAll("_", ""));
    return Number.isFinite(value) ? value : undefined;
  }
  const word = /^([+-]?)(inf|infinity|nan)$/i.exec(text);
  if (word)
    return word[2]?.toLowerCase() === "nan"
      ? word[1] === ""
        ? NaN
        : undefined
      : word[1] === "-"
        ? -Infinity
        : Infinity;
  const hex = HEX_FLOAT.exec(text);
  if (!hex) return undefined;
  const [, sign, whole = "", fraction = "", exponent = "0"] = hex;
  const digits = (whole + fraction).replaceAll("_", "");
  if (digits === "") return undefined;
  const value = Number(BigInt(`0x${digits}`)) * 2 ** (Number(exponent) - 4 * fraction.replaceAll("_", "").length);
  return Number.isFinite(value) ? (sign === "-" ? -value : value) : undefined;
}

/** Trims blanks, tabs and line ends. A regular expression for the end would take quadratic time. */
export function trimBlanks(text: string): string {
  let start = 0;
  let end = text.length;
  while (start < end && isBlank(text.charCodeAt(start))) start += 1;
  while (end > start && isBlank(text.charCodeAt(end - 1))) end -= 1;
  return text.slice(start, end);
}

const isBlank = (code: number): boolean => code === 32 || code === 9 || code === 10;

/** Converts a string in arithmetic, and a literal in the compiler: an integer with any prefix, or a float. */
export function parseNumber(text: string): number | undefined {
  const trimmed = trimBlanks(text);
  return parseGoInt(trimmed, 0) ?? parseGoFloat(trimmed);
}

/** `tostring` of a number. */
export function formatNumber(value: number): string {
  if (isInt64(value)) return Math.abs(value) <= Number.MAX_SAFE_INTEGER ? String(value + 0) : String(BigInt(value));
  return formatFloat(value);
}

/** Go's shortest form of a float: with an exponent below 1e-4 and from seven digits before the point on. */
export function formatFloat(value: number): string {
  if (Number.isNaN(value)) return "NaN";
  if (!Number.isFinite(value)) return value > 0 ? "+Inf" : "-Inf";
  if (value === 0) return Object.is(value, -0) ? "-0" : "0";
  const [mantissa = "", exponentText = "0"] = value.toExponential().split("e");
  const exponent = Number(exponentText);
  // JavaScript also writes these without an exponent.
  if (exponent >= -4 && exponent < SHORTEST_DIGITS) return String(value);
  return `${mantissa}e${exponentSuffix(exponent)}`;
}

/** From this exponent on Go's `%v` uses the exponential form. */
const SHORTEST_DIGITS = 6;

/** A sign and at least two digits. */
export function exponentSuffix(exponent: number): string {
  const digits = String(Math.abs(exponent)).padStart(2, "0");
  return `${exponent < 0 ? "-" : "+"}${digits}`;
}
