/**
 * JSON that JavaScript cannot write again after parsing it: numbers beyond the float64 range become infinite, and half
 * of a surrogate pair has no UTF-8 encoding. The parsed object must equal the stored one, so the first are rejected and
 * the second replaced.
 */
import { isObject, setOwn } from "@flotilla/base";
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
