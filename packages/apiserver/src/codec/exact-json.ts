/**
 * JSON that JavaScript cannot write again after parsing it: numbers beyond the float64 range become infinite, and half
 * of a surrogate pair has no UTF-8 encoding. The parsed object must equal the stored one, so the first are rejected and
 * the second replaced. Integers beyond ±(2^53-1) would be rounded, and are rejected, except in kinds of CRDs that no code
 * of ours knows: these keep 64 bits (docs/adr/0060).
 */
import { field } from "@flotilla/apimachinery";
import type { FieldError, Kind } from "@flotilla/apimachinery";
import {
  hasLongDigits,
  INEXACT_INTEGER,
  inexactIntegers,
  isLongInteger,
  isObject,
  parseExactJson,
  setOwn,
} from "@flotilla/base";
import type { Json, JsonObject } from "@flotilla/base";

const LONE_SURROGATE = /\\u[dD][89a-fA-F]/;
/** Almost no body has an exponent of three digits, or three hundred digits in a row. */
const MAY_BE_INFINITE = /\d[eE]\+?\d{3}|\d{309}/;
const STRING_OR_NUMBER = /"(?:[^"\\]|\\.)*"|-?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?/gs;

/** The first number in a JSON text that exceeds the range, as written. */
export function infiniteNumber(text: string): string | undefined {
  if (!MAY_BE_INFINITE.test(text)) return undefined;
  for (const [token] of text.matchAll(STRING_OR_NUMBER))
    if (!token.startsWith('"') && !Number.isFinite(Number(token))) return token;
  return undefined;
}

/** The value of a JSON text of a kind. */
export const parseFor = (kind: Pick<Kind, "hasLongIntegers">, text: string): Json =>
  kind.hasLongIntegers ? parseExactJson(text) : (JSON.parse(text) as Json);

/** The value of a JSON text with every half of a surrogate pair replaced, as Go does. */
export function wellFormed(value: Json, text: string): Json {
  return LONE_SURROGATE.test(text) ? repaired(value) : value;
}

function repaired(value: Json): Json {
  if (typeof value === "string") return value.toWellFormed();
  if (Array.isArray(value)) return value.map(repaired);
  if (!isObject(value)) return value;
  const result: JsonObject = {};
  for (const key of Object.keys(value)) setOwn(result, key.toWellFormed(), repaired(value[key] as Json));
  return result;
}

/**
 * The errors of integers that are rounded, unless the former object has the same number there: one that an earlier
 * version stored can still be changed and deleted. `text` is the object as JSON or YAML.
 */
export function integerErrors(
  value: Json,
  text: string | Uint8Array,
  kind: Pick<Kind, "hasLongIntegers">,
  former?: Uint8Array,
): FieldError[] {
  if (!hasLongDigits(text)) return [];
  const found = inexactIntegers(value);
  if (found.size === 0) return [];
  const known = inexactIntegers(former && JSON.parse(Buffer.from(former).toString()));
  return Array.from(found)
    .filter(([path, number]) => known.get(path) !== number && !(isLongInteger(number) && kind.hasLongIntegers))
    .map(([path]) => field.invalid(path, "integer", INEXACT_INTEGER));
}
