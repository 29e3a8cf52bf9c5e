/**
 * String functions, counted in code points. Most strings have no surrogates, and then JavaScript's indexes are correct.
 */
import { COST_ERROR } from "../values/frame.ts";
import { ArrayList, describe, EMPTY_LIST } from "../values/collections.ts";
import type { Row } from "../types/functions.ts";
import { GO_ESCAPES } from "../values/go-text.ts";
import { CelError, type CelInt, type CelList, type CelValue, lengthOf } from "../values/values.ts";
import { format } from "./format.ts";

/** A string split into code points; the string itself where each is one UTF-16 unit. */
type Characters = {
  readonly length: number;
  slice(start: number, end?: number): string;
  indexOf(part: string, from: number): number;
  lastIndexOf(part: string, from: number): number;
};

function charactersOf(text: string): Characters {
  if (lengthOf(text) === text.length)
    return {
      length: text.length,
      slice: (start, end) => text.slice(start, end),
      indexOf: (part, from) => text.indexOf(part, from),
      lastIndexOf: (part, from) => text.lastIndexOf(part, from),
    };
  const points = Array.from(text);
  const search = (part: string, from: number, find: "indexOf" | "lastIndexOf"): number => {
    const unit = text[find](part, points.slice(0, from).join("").length);
    return unit < 0 ? -1 : lengthOf(text.slice(0, unit));
  };
  return {
    length: points.length,
    slice: (start, end) => points.slice(start, end).join(""),
    indexOf: (part, from) => search(part, from, "indexOf"),
    lastIndexOf: (part, from) => search(part, from, "lastIndexOf"),
  };
}

const outOfRange = (index: CelInt): CelError => new CelError(`index out of range: ${index}`);

function charAt(text: string, index: CelInt): CelValue {
  const characters = charactersOf(text);
  const at = Number(index);
  return at < 0 || at > characters.length ? outOfRange(index) : characters.slice(at, at + 1);
}

function indexOf(text: string, part: string, from: CelInt = 0): CelValue {
  if (part === "") return from;
  const start = Number(from);
  if (start < 0) return outOfRange(from);
  const characters = charactersOf(text);
  return start >= characters.length ? -1 : characters.indexOf(part, start);
}

function lastIndexOf(text: string, part: string, from?: CelInt): CelValue {
  const characters = charactersOf(text);
  if (part === "") return from ?? characters.length;
  if (from === undefined && text.length < part.length) return -1;
  const start = Number(from ?? characters.length - 1);
  if (start < 0) return outOfRange(from ?? start);
  return start >= characters.length ? -1 : characters.lastIndexOf(part, start);
}

function substring(text: string, start: CelInt, end?: CelInt): CelValue {
  const characters = charactersOf(text);
  if (end !== undefined && start > end) return new CelError(`invalid substring range. start: ${start}, end: ${end}`);
  if (start < 0 || start > characters.length) return outOfRange(start);
  if (end !== undefined && (end < 0 || end > characters.length)) return outOfRange(end);
  return characters.slice(Number(start), end === undefined ? undefined : Number(end));
}

const lowerAscii = (text: string): CelValue => text.replaceAll(/[A-Z]+/g, (part) => part.toLowerCase());
const upperAscii = (text: string): CelValue => text.replaceAll(/[a-z]+/g, (part) => part.toUpperCase());
/** Unicode white space, which Go trims; JavaScript also trims the byte order mark. */
const trim = (text: string): CelValue =>
  text.replaceAll(/^[\s\u0085]+|[\s\u0085]+$/g, (part) => (part.includes("\ufeff") ? trimAround(part) : ""));
const trimAround = (part: string): string => part.slice(part.indexOf("\ufeff"), part.lastIndexOf("\ufeff") + 1);

/** More than the texts of the largest object together. A result can be as long as the product of two of them. */
const MAX_REPLACED_CHARACTERS = 4 * 1024 * 1024;

function replace(text: string, from: string, to: string, limit: CelInt = -1): CelValue {
  const count = Number(limit);
  if (count === 0 || from === to) return text;
  const parts = from === "" ? undefined : text.split(from);
  const found = parts ? parts.length - 1 : text.length + 1;
  const growth = (count < 0 ? found : Math.min(count, found)) * (to.length - from.length);
  if (text.length + growth > MAX_REPLACED_CHARACTERS) return COST_ERROR;
  if (!parts) return weave(text, to, count);
  if (count < 0) return parts.join(to);
  return parts.length <= count + 1
    ? parts.join(to)
    : [...parts.slice(0, count), parts.slice(count).join(from)].join(to);
}

/** Inserts a string before, between and after the characters of another. */
function weave(text: string, between: string, limit: number): string {
  let result = "";
  let left = limit;
  for (const character of text) {
    if (left !== 0) result += between;
    left -= 1;
    result += character;
  }
  return left === 0 ? result : result + between;
}

function split(text: string, separator: string, limit: CelInt = -1): CelValue {
  const count = Number(limit);
  if (count === 0) return EMPTY_LIST;
  const parts = separator === "" ? Array.from(text) : text.split(separator);
  return new ArrayList(
    count < 0 || parts.length <= count ? parts : [...parts.slice(0, count - 1), parts.slice(count - 1).join(separator)],
  );
}

function join(list: CelList, separator = ""): CelValue {
  let result = "";
  for (let index = 0; index < list.size; index++) {
    const item = list.at(index);
    if (typeof item !== "string") return new CelError(`join: invalid input: ${describe(item)}`);
    result += index === 0 ? item : separator + item;
  }
  return result;
}

const quote = (text: string): CelValue =>
  `"${Array.from(text, (character) => GO_ESCAPES.get(character) ?? character).join("")}"`;

export const strings: readonly Row[] = [
  ["charAt", "string_char_at_int", "string.(int) -> string", charAt],
  ["indexOf", "string_index_of_string", "string.(string) -> int", indexOf],
  ["indexOf", "string_index_of_string_int", "string.(string, int) -> int", indexOf],
  ["lastIndexOf", "string_last_index_of_string", "string.(string) -> int", lastIndexOf],
  ["lastIndexOf", "string_last_index_of_string_int", "string.(string, int) -> int", lastIndexOf],
  ["lowerAscii", "string_lower_ascii", "string.() -> string", lowerAscii],
  ["upperAscii", "string_upper_ascii", "string.() -> string", upperAscii],
  ["trim", "string_trim", "string.() -> string", trim],
  ["replace", "string_replace_string_string", "string.(string, string) -> string", replace],
  ["replace", "string_replace_string_string_int", "string.(string, string, int) -> string", replace],
  ["split", "string_split_string", "string.(string) -> list(string)", split],
  ["split", "string_split_string_int", "string.(string, int) -> list(string)", split],
  ["substring", "string_substring_int", "string.(int) -> string", substring],
  ["substring", "string_substring_int_int", "string.(int, int) -> string", substring],
  ["join", "list_join", "list(string).() -> string", join],
  ["join", "list_join_string", "list(string).(string) -> string", join],
  ["strings.quote", "strings_quote", "(string) -> string", quote],
  ["format", "string_format", "string.(list(dyn)) -> string", format],
];
