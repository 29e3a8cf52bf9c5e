/** Arithmetic of 64-bit integers and conversions between numbers. Overflow is an error, never a rounded value. */
import { CelDouble, CelError, type CelInt, CelUint } from "./values.ts";

export const MIN_INT = -(2n ** 63n);
export const MAX_INT = 2n ** 63n - 1n;
export const MAX_UINT = 2n ** 64n - 1n;
const TWO_63 = 2 ** 63;
const TWO_64 = 2 ** 64;

export const INTEGER_OVERFLOW = new CelError("integer overflow");
const UINT_OVERFLOW = new CelError("unsigned integer overflow");
const DIVISION_BY_ZERO = new CelError("division by zero");
const MODULUS_BY_ZERO = new CelError("modulus by zero");

/** The int of a bigint: a number where that is exact. */
export function intOf(value: bigint): CelInt | CelError {
  if (value >= -9007199254740991n && value <= 9007199254740991n) return Number(value);
  return value < MIN_INT || value > MAX_INT ? INTEGER_OVERFLOW : value;
}

export function uintOf(value: bigint): CelUint | CelError {
  return value < 0n || value > MAX_UINT ? UINT_OVERFLOW : new CelUint(value);
}

export function addInts(a: CelInt, b: CelInt): CelInt | CelError {
  if (typeof a === "number" && typeof b === "number") {
    const sum = a + b;
    if (Number.isSafeInteger(sum)) return sum;
  }
  return intOf(BigInt(a) + BigInt(b));
}

export function subtractInts(a: CelInt, b: CelInt): CelInt | CelError {
  if (typeof a === "number" && typeof b === "number") {
    const difference = a - b;
    if (Number.isSafeInteger(difference)) return difference;
  }
  return intOf(BigInt(a) - BigInt(b));
}

export function multiplyInts(a: CelInt, b: CelInt): CelInt | CelError {
  if (typeof a === "number" && typeof b === "number") {
    const product = a * b;
    // JavaScript has a negative zero; integers do not.
    if (Number.isSafeInteger(product)) return product === 0 ? 0 : product;
  }
  return intOf(BigInt(a) * BigInt(b));
}

export function divideInts(a: CelInt, b: CelInt): CelInt | CelError {
  if (b === 0) return DIVISION_BY_ZERO;
  if (typeof a === "number" && typeof b === "number") return Math.trunc(a / b) + 0;
  return intOf(BigInt(a) / BigInt(b));
}

export function moduloInts(a: CelInt, b: CelInt): CelInt | CelError {
  if (b === 0) return MODULUS_BY_ZERO;
  if (typeof a === "number" && typeof b === "number") return (a % b) + 0;
  // The only quotient that overflows makes the remainder an overflow too.
  if (b === -1 && BigInt(a) === MIN_INT) return INTEGER_OVERFLOW;
  return intOf(BigInt(a) % BigInt(b));
}

export function negateInt(a: CelInt): CelInt | CelError {
  return typeof a === "number" ? 0 - a : intOf(-a);
}

export const addUints = (a: CelUint, b: CelUint): CelUint | CelError => uintOf(a.value + b.value);
export const subtractUints = (a: CelUint, b: CelUint): CelUint | CelError => uintOf(a.value - b.value);
export const multiplyUints = (a: CelUint, b: CelUint): CelUint | CelError => uintOf(a.value * b.value);
export const divideUints = (a: CelUint, b: CelUint): CelUint | CelError =>
  b.value === 0n ? DIVISION_BY_ZERO : new CelUint(a.value / b.value);
export const moduloUints = (a: CelUint, b: CelUint): CelUint | CelError =>
  b.value === 0n ? MODULUS_BY_ZERO : new CelUint(a.value % b.value);

/** The integer part of a double as an int. */
export function doubleToInt(value: number): CelInt | CelError {
  if (Number.isNaN(value) || value <= -TWO_63 || value >= TWO_63) return INTEGER_OVERFLOW;
  const whole = Math.trunc(value);
  return Number.isSafeInteger(whole) ? whole + 0 : intOf(BigInt(whole));
}

export function doubleToUint(value: number): CelUint | CelError {
  if (Number.isNaN(value) || value < 0 || value >= TWO_64) return UINT_OVERFLOW;
  return new CelUint(BigInt(Math.trunc(value)));
}

type CelNumber = CelInt | CelUint | CelDouble;

export const isNumber = (value: unknown): value is CelNumber =>
  typeof value === "number" || typeof value === "bigint" || value instanceof CelDouble || value instanceof CelUint;

/** Compares two numbers of any types; undefined when one is NaN. */
export function compareNumbers(a: CelNumber, b: CelNumber): number | undefined {
  if (a instanceof CelDouble) {
    if (b instanceof CelDouble)
      return Number.isNaN(a.value) || Number.isNaN(b.value) ? undefined : order(a.value, b.value);
    return compareDouble(a.value, b instanceof CelUint ? b.value : b, b instanceof CelUint);
  }
  if (b instanceof CelDouble) {
    const reversed = compareDouble(b.value, a instanceof CelUint ? a.value : a, a instanceof CelUint);
    return reversed === undefined ? undefined : 0 - reversed;
  }
  return order(a instanceof CelUint ? a.value : a, b instanceof CelUint ? b.value : b);
}

/**
 * Within the range of the integer both are compared as doubles, as in cel-go: large integers lose their last digits.
 */
function compareDouble(value: number, other: CelInt, isUint: boolean): number | undefined {
  if (Number.isNaN(value)) return undefined;
  if (value < (isUint ? 0 : -TWO_63)) return -1;
  if (value > (isUint ? TWO_64 : TWO_63)) return 1;
  return order(value, Number(other));
}

function order(a: CelInt, b: CelInt): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

const FLOAT = /^[+-]?(\d+(_?\d+)*)?(\.\d*)?([eE][+-]?\d+)?$/;
const HEX_FLOAT = /^([+-]?)0[xX]([0-9a-fA-F]*)(?:\.([0-9a-fA-F]*))?[pP]([+-]?\d{1,6})$/;
const SPECIAL: ReadonlyMap<string, number> = new Map([
  ["inf", Infinity],
  ["+inf", Infinity],
  ["-inf", -Infinity],
  ["infinity", Infinity],
  ["+infinity", Infinity],
  ["-infinity", -Infinity],
  ["nan", Number.NaN],
]);

/** Parses a double; undefined when it is invalid or out of range. */
export function parseDouble(text: string): number | undefined {
  if (text.length > 400) return undefined;
  const special = SPECIAL.get(text.toLowerCase());
  if (special !== undefined) return special;
  const hex = HEX_FLOAT.exec(text);
  if (hex) {
    const [, sign, whole = "", fraction = "", exponent] = hex;
    if (whole === "" && fraction === "") return undefined;
    const value = Number(BigInt(`0x${whole}${fraction}`)) * 2 ** (Number(exponent) - 4 * fraction.length);
    return Number.isFinite(value) ? (sign === "-" ? -value : value) : undefined;
  }
  if (!FLOAT.test(text) || !/\d/.test(text.split(/[eE]/)[0] ?? "") || text.includes("_")) return undefined;
  const value = Number(text);
  return Number.isFinite(value) ? value : undefined;
}

/** Parses an integer between two bounds; undefined when it is invalid. */
export function parseWhole(text: string, min: bigint, max: bigint): bigint | undefined {
  if (text.length > 64 || !(min < 0n ? /^[+-]?\d+$/ : /^\d+$/).test(text)) return undefined;
  const value = BigInt(text.replace(/^\+/, ""));
  return value < min || value > max ? undefined : value;
}

/** The shortest digits that parse back to the value, with an exponent outside of 1e-4 to 1e6: Go's `%g`. */
export function formatDouble(value: number): string {
  if (Number.isNaN(value)) return "NaN";
  if (!Number.isFinite(value)) return value > 0 ? "+Inf" : "-Inf";
  if (value === 0) return Object.is(value, -0) ? "-0" : "0";
  const [mantissa = "", exponent = "0"] = value.toExponential().split("e");
  const power = Number(exponent);
  if (power >= -4 && power < 6) return decimal(value);
  return `${mantissa}e${power < 0 ? "-" : "+"}${String(Math.abs(power)).padStart(2, "0")}`;
}

/** Digits without an exponent. */
export function decimal(value: number): string {
  const text = String(value);
  if (!text.includes("e")) return text;
  const [mantissa = "", exponent = "0"] = text.split("e");
  const sign = mantissa.startsWith("-") ? "-" : "";
  const [whole = "", fraction = ""] = mantissa.replace("-", "").split(".");
  const power = Number(exponent);
  if (power < 0) return `${sign}0.${"0".repeat(-power - 1)}${whole}${fraction}`;
  return `${sign}${whole}${fraction.padEnd(power, "0")}`;
}
