/**
 * What somebody who means harm would write: names that JavaScript knows, numbers that no number holds, texts that are
 * none.
 */
import type { Json } from "../../src/base/index.ts";

/** Names that are there on every object, and one that changes what an object is. */
export const HOSTILE_NAMES: readonly string[] = [
  "__proto__",
  "constructor",
  "prototype",
  "toString",
  "valueOf",
  "hasOwnProperty",
  "__defineGetter__",
  "toJSON",
  "then",
  "length",
  "",
];

export const HOSTILE_TEXTS: readonly string[] = [
  ...HOSTILE_NAMES,
  " ",
  "\u0000",
  "\uD800",
  "\uDC00\uD800",
  "\uFEFFa",
  "\u202E",
  "é",
  "👩‍🚀",
  "a\nb",
  "a\r\nx: y",
  "../../etc/passwd",
  "%2e%2e%2f",
  "NaN",
  "Infinity",
  "-Infinity",
  "-0",
  "1e999",
  "0x1F",
  "1_000",
  "9007199254740993",
  "9223372036854775808",
  "-9223372036854775809",
  "1e-400",
  "null",
  "true",
  "$patch",
  "$retainKeys",
  "$setElementOrder/containers",
  "$deleteFromPrimitiveList/finalizers",
  "{}",
  "[]",
  "a".repeat(300),
];

export const HOSTILE_NUMBERS: readonly number[] = [
  0,
  -0,
  1,
  -1,
  0.5,
  1e308,
  -1e308,
  5e-324,
  2 ** 31,
  -(2 ** 31) - 1,
  2 ** 53,
  2 ** 63,
  -(2 ** 63),
  1e21,
  65_536,
];

export const HOSTILE_VALUES: readonly Json[] = [
  null,
  true,
  false,
  [],
  {},
  [[]],
  [null],
  [{}],
  ...HOSTILE_NUMBERS,
  ...HOSTILE_TEXTS,
];
