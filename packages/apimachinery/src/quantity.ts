/**
 * Exact quantities (`100m`, `1.5Gi`, `12e6`): an integer times 10^exponent. Formatting gives the canonical form in
 * which the real server stores them: no fraction, the largest suffix that keeps the value exact.
 */
import { badRequest } from "./status.ts";

/** The notation of the parsed text, which is also used for formatting. */
export type QuantityFormat = "DecimalSI" | "BinarySI" | "DecimalExponent";

export interface Quantity {
  /** The value is `mantissa` times 10 to the power of `exponent`; `mantissa` has no trailing zeros. */
  readonly mantissa: bigint;
  readonly exponent: number;
  readonly format: QuantityFormat;
}

const DECIMAL: readonly (readonly [string, number])[] = [
  ["n", -9],
  ["u", -6],
  ["m", -3],
  ["", 0],
  ["k", 3],
  ["M", 6],
  ["G", 9],
  ["T", 12],
  ["P", 15],
  ["E", 18],
];
const BINARY = ["", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei"];
/** The power of ten of a decimal suffix; the empty suffix is one of them. */
export const DECIMAL_EXPONENTS: ReadonlyMap<string, number> = new Map(DECIMAL);

const SYNTAX = /^([+-]?)(\d{0,64})(?:\.(\d{0,64}))?(Ki|Mi|Gi|Ti|Pi|Ei|[numkMGTPE]|[eE][+-]?\d{1,3})?$/;
const SYNTAX_ERROR = "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'";
const MAX_BINARY = 2n ** 63n - 1n;
/** The finest precision; smaller fractions are rounded up, away from zero. */
const FINEST = -9;

/** Throws a bad request when the text is not a quantity. */
export function parseQuantity(text: string | number): Quantity {
  const match = SYNTAX.exec(String(text));
  const [, sign = "", whole = "", fraction = "", suffix = ""] = match ?? [];
  if (!match || !isSomething(match)) throw badRequest(SYNTAX_ERROR);
  let mantissa = BigInt(whole + fraction);
  let exponent = -fraction.length;
  let format: QuantityFormat = "DecimalSI";
  const binary = BINARY.indexOf(suffix);
  if (binary > 0) {
    mantissa <<= BigInt(10 * binary);
    format = "BinarySI";
    // Only this notation has a limit, for its largest amounts.
    const bound = MAX_BINARY * 10n ** BigInt(fraction.length);
    if (mantissa > bound) mantissa = bound;
  } else if (DECIMAL_EXPONENTS.has(suffix)) {
    exponent += DECIMAL_EXPONENTS.get(suffix) ?? 0;
  } else {
    exponent += Number(suffix.slice(1));
    format = "DecimalExponent";
  }
  return normal(sign === "-" ? -mantissa : mantissa, exponent, format);
}

/** A sign, a dot or a suffix alone is zero, as in Kubernetes; only the two largest suffixes require a number. */
const isSomething = ([text, , whole, fraction, suffix]: RegExpExecArray): boolean =>
  Boolean(whole) || Boolean(fraction) || (text !== "" && suffix !== "Pi" && suffix !== "Ei");

/** Why a text is not a quantity: its suffix may consist of valid letters and still be invalid. */
export function quantityProblem(text: string): string {
  // Adjacent digits have a single possible match: backtracking over a megabyte of them would take hours.
  return /^[+-]?\d*(?:\.\d*)?(?:(?:[eEinumkKMGTP]+[-+]?|[-+])\d*)?$/.test(text) && /\d/.test(text)
    ? "unable to parse quantity's suffix"
    : SYNTAX_ERROR;
}

/** The parsed quantity, or undefined when it is invalid. */
export function tryParseQuantity(text: string | number): Quantity | undefined {
  const match = SYNTAX.exec(String(text));
  return match && isSomething(match) ? parseQuantity(text) : undefined;
}

function normal(mantissa: bigint, exponent: number, format: QuantityFormat): Quantity {
  if (mantissa === 0n) return { mantissa, exponent: 0, format };
  let [value, power] =
    exponent < FINEST ? [divideAwayFromZero(mantissa, 10n ** BigInt(FINEST - exponent)), FINEST] : [mantissa, exponent];
  while (value % 10n === 0n) {
    value /= 10n;
    power += 1;
  }
  return { mantissa: value, exponent: power, format };
}

function divideAwayFromZero(value: bigint, divisor: bigint): bigint {
  const quotient = value / divisor;
  if (quotient * divisor === value) return quotient;
  return value < 0n ? quotient - 1n : quotient + 1n;
}

/** Both mantissas at the smaller of the two exponents. */
function align(a: Quantity, b: Quantity): [bigint, bigint, number] {
  const exponent = Math.min(a.exponent, b.exponent);
  return [
    a.mantissa * 10n ** BigInt(a.exponent - exponent),
    b.mantissa * 10n ** BigInt(b.exponent - exponent),
    exponent,
  ];
}

/** The sum, in the notation of the first operand unless that is zero. */
export function addQuantities(a: Quantity, b: Quantity): Quantity {
  const [left, right, exponent] = align(a, b);
  return normal(left + right, exponent, a.mantissa === 0n ? b.format : a.format);
}

export function subtractQuantities(a: Quantity, b: Quantity): Quantity {
  return addQuantities(a, { ...b, mantissa: -b.mantissa });
}

export const multiplyQuantity = ({ mantissa, exponent, format }: Quantity, count: number): Quantity =>
  normal(mantissa * BigInt(count), exponent, format);

export function compareQuantities(a: Quantity, b: Quantity): -1 | 0 | 1 {
  const [left, right] = align(a, b);
  return left < right ? -1 : left > right ? 1 : 0;
}

/** The value in units of 10^exponent, rounded away from zero: `scaledQuantity(cpu, -3)` is millicores. */
export function scaledQuantity({ mantissa, exponent }: Quantity, scale: number): bigint {
  if (exponent >= scale) return mantissa * 10n ** BigInt(exponent - scale);
  return divideAwayFromZero(mantissa, 10n ** BigInt(scale - exponent));
}

/** Whole units, rounded away from zero. */
export const quantityValue = (quantity: Quantity): bigint => scaledQuantity(quantity, 0);
/** Thousandths, rounded away from zero. */
export const quantityMilliValue = (quantity: Quantity): bigint => scaledQuantity(quantity, -3);

/** The quantity of a number of thousandths. */
export function quantityOfMilli(milli: bigint, format: QuantityFormat = "DecimalSI"): Quantity {
  return normal(milli, -3, format);
}

export function formatQuantity(quantity: Quantity): string {
  const { mantissa, exponent, format } = quantity;
  if (mantissa === 0n) return "0";
  if (format === "BinarySI") {
    const text = formatBinary(mantissa, exponent);
    if (text !== undefined) return text;
  }
  // The largest multiple of three that leaves no fraction.
  const power = Math.floor(exponent / 3) * 3;
  const digits = mantissa * 10n ** BigInt(exponent - power);
  if (format === "DecimalExponent") return power === 0 ? `${digits}` : `${digits}e${power}`;
  const capped = Math.min(power, 18);
  const suffix = DECIMAL.find(([, suffixPower]) => suffixPower === capped)?.[0] ?? "";
  return `${digits * 10n ** BigInt(power - capped)}${suffix}`;
}

/** Undefined for values that binary suffixes cannot express: fractions and values below 1024. */
function formatBinary(mantissa: bigint, exponent: number): string | undefined {
  if (exponent < 0) return undefined;
  let value = mantissa * 10n ** BigInt(exponent);
  if (value > -1024n && value < 1024n) return undefined;
  let suffix = 0;
  while (suffix < BINARY.length - 1 && value % 1024n === 0n) {
    value /= 1024n;
    suffix += 1;
  }
  return `${value}${BINARY[suffix]}`;
}
