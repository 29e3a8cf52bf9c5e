/**
 * Values as a Kubernetes API server shows them in messages: strings quoted, numbers and other values as Go prints them.
 * Clients and their tests compare these messages, so `JSON.stringify` is not close enough.
 */
import { isLongInteger, isObject, type Json } from "@flotilla/base";

const ESCAPES: Readonly<Record<string, string>> = {
  '"': '\\"',
  "\\": "\\\\",
  "\x07": "\\a",
  "\b": "\\b",
  "\f": "\\f",
  "\n": "\\n",
  "\r": "\\r",
  "\t": "\\t",
  "\v": "\\v",
};
const UNPRINTABLE = /["\\]|[^\p{L}\p{M}\p{N}\p{P}\p{S} ]/gu;

/** A string in quotes; non-printable characters are escaped. */
export function quoteText(text: string): string {
  return `"${text.replaceAll(UNPRINTABLE, escapeCharacter)}"`;
}

function escapeCharacter(character: string): string {
  const known = ESCAPES[character];
  if (known !== undefined) return known;
  const code = character.codePointAt(0) ?? 0;
  if (code < 0x80) return `\\x${code.toString(16).padStart(2, "0")}`;
  return code > 0xffff ? `\\U${code.toString(16).padStart(8, "0")}` : `\\u${code.toString(16).padStart(4, "0")}`;
}

/** A floating-point number in the fewest digits, with an exponent of at least two digits below 1e-4 and from 1e6 on. */
export function formatFloat(value: number): string {
  const size = Math.abs(value);
  if (size === 0 || (size >= 1e-4 && size < 1e6)) return String(value);
  return value.toExponential().replace(/e([+-])(\d)$/, "e$10$2");
}

/** A number: integers that fit into 64 bits are printed with all digits. */
export function formatNumber(value: number): string {
  return Number.isInteger(value) && value >= -(2 ** 63) && value < 2 ** 63
    ? BigInt(value).toString()
    : formatFloat(value);
}

/** JSON with sorted object keys and `<`, `>` and `&` escaped. */
export function formatJson(value: Json): string {
  return JSON.stringify(sorted(value)).replaceAll(
    /[<>&\u2028\u2029]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
}

function sorted(value: Json): Json {
  if (Array.isArray(value)) return value.map(sorted);
  if (!isObject(value)) return value;
  return Object.fromEntries(
    Object.keys(value)
      .sort()
      .map((key) => [key, sorted(value[key] as Json)]),
  );
}

/** A value as messages show it. */
export function formatValue(value: Json | bigint): string {
  if (typeof value === "string") return quoteText(value);
  if (typeof value === "number") return formatNumber(value);
  if (isLongInteger(value)) return String(value);
  return formatJson(value);
}
