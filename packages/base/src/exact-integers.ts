/**
 * Integers that JavaScript cannot keep: beyond ±(2^53-1) a number is rounded when it is parsed. Kubernetes keeps 64
 * bits. A rounded integer is itself beyond that range, so it is found after parsing as well.
 */
import { isObject, setOwn } from "./json.ts";
import type { Json } from "./json.ts";

export const INEXACT_INTEGER =
  "must be between -9007199254740991 and 9007199254740991: larger integers cannot be kept exactly";

/** JSON writes larger numbers with an exponent. They exceed 64 bits, and Kubernetes rounds them too. */
const LARGEST = 1e21;

const isInexactInteger = (value: unknown): value is number =>
  typeof value === "number" && Number.isInteger(value) && !Number.isSafeInteger(value) && Math.abs(value) < LARGEST;

/** An integer of 64 bits that a number cannot keep. Only `parseExactJson` makes them, and `Json` does not mention them. */
export const isLongInteger = (value: unknown): value is bigint => typeof value === "bigint";

const INTEGER = /^-?\d+$/;

/**
 * Parses JSON, with integers of 64 bits that a number cannot keep as bigints. Only for objects that no code of ours
 * calculates with (docs/adr/0060).
 */
export function parseExactJson(text: string): Json {
  if (!hasLongDigits(text)) return JSON.parse(text) as Json;
  return JSON.parse(text, ((_key: string, value: unknown, context?: { source?: string }) => {
    const { source = "" } = context ?? {};
    if (!isInexactInteger(value) || !INTEGER.test(source)) return value;
    const exact = BigInt(source);
    return BigInt.asIntN(64, exact) === exact ? exact : value;
  }) as Parameters<typeof JSON.parse>[1]) as Json;
}

// A bigint is written as the number that it was read from. Without this, JSON.stringify throws for it.
// oxlint-disable-next-line no-extend-native -- JSON.stringify asks the prototype and nothing else.
Object.defineProperty(BigInt.prototype, "toJSON", {
  value(this: bigint) {
    return (JSON as unknown as { rawJSON(text: string): unknown }).rawJSON(this.toString());
  },
  configurable: true,
  writable: true,
});

/** The shortest integer that is not exact has 16 digits. */
const DIGITS = 16;
const isDigit = (code: number): boolean => code >= 48 && code <= 57;

/**
 * Whether a text has 16 digits in a row. It looks at every 16th character only, because one of them must be among those
 * digits.
 */
export function hasLongDigits(text: string | Uint8Array): boolean {
  return typeof text === "string" ? hasLongDigitsInText(text) : hasLongDigitsInBytes(text);
}

// One loop for both types would be several times slower, and every write passes here.
function hasLongDigitsInText(text: string): boolean {
  for (let index = DIGITS - 1; index < text.length; index += DIGITS) {
    if (!isDigit(text.charCodeAt(index))) continue;
    let start = index;
    while (start > 0 && isDigit(text.charCodeAt(start - 1))) start -= 1;
    let end = index + 1;
    while (end < start + DIGITS && isDigit(text.charCodeAt(end))) end += 1;
    if (end - start >= DIGITS) return true;
  }
  return false;
}

function hasLongDigitsInBytes(bytes: Uint8Array): boolean {
  for (let index = DIGITS - 1; index < bytes.length; index += DIGITS) {
    if (!isDigit(bytes[index] as number)) continue;
    let start = index;
    while (start > 0 && isDigit(bytes[start - 1] as number)) start -= 1;
    let end = index + 1;
    while (end < start + DIGITS && end < bytes.length && isDigit(bytes[end] as number)) end += 1;
    if (end - start >= DIGITS) return true;
  }
  return false;
}

/** A body may have many; the first ones show the problem. */
const MAX_FOUND = 100;

/** The paths of the first integers that a number cannot keep, and their values: `spec.items[0].size`. */
export function inexactIntegers(value: unknown): ReadonlyMap<string, number | bigint> {
  const found = new Map<string, number | bigint>();
  visit(value, "", found);
  return found;
}

function visit(value: unknown, path: string, found: Map<string, number | bigint>): void {
  if (found.size >= MAX_FOUND) return;
  if (isInexactInteger(value) || isLongInteger(value)) found.set(path, value);
  else if (Array.isArray(value)) value.forEach((item, index) => visit(item, `${path}[${index}]`, found));
  else if (isObject(value)) for (const key of Object.keys(value)) visit(value[key], childOf(path, key), found);
}

const childOf = (path: string, key: string): string => (path === "" ? key : `${path}.${key}`);

/** The value without its integers that are not exact, and their paths. An item of a list becomes null. */
export function withoutInexactIntegers<T>(value: T): { value: T; omitted: readonly string[] } {
  const omitted = [...inexactIntegers(value).keys()];
  return omitted.length === 0 ? { value, omitted } : { value: exactPart(value) as T, omitted };
}

function exactPart(value: unknown): unknown {
  if (isInexactInteger(value) || isLongInteger(value)) return undefined;
  if (Array.isArray(value)) return value.map((item) => exactPart(item) ?? null);
  if (!isObject(value)) return value;
  const result = {};
  for (const key of Object.keys(value)) {
    const kept = exactPart(value[key]);
    if (kept !== undefined) setOwn(result, key, kept);
  }
  return result;
}
