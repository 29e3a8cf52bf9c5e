/**
 * JSON that JavaScript reads into something that it cannot write again: numbers beyond every number become infinite,
 * and half of a surrogate pair has no bytes of its own. What is parsed must equal what is stored, so the first are
 * refused and the second replaced.
 */
import { isObject, setOwn } from "../../base/index.ts";
import type { Json, JsonObject } from "../../base/index.ts";

const LONE_SURROGATE = /\\u[dD][89a-fA-F]/;
/** Almost no body has an exponent of three digits, or three hundred digits in a row. */
const MAY_BE_INFINITE = /\d[eE]\+?\d{3}|\d{309}/;
const STRING_OR_NUMBER = /"(?:[^"\\]|\\.)*"|-?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?/gs;

/** The first number of a JSON text that is too large to be one, as it stands there. */
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
