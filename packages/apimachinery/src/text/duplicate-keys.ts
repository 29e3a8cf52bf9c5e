/**
 * Finds duplicate keys in JSON objects, which `JSON.parse` does not report. One pass over the text; only the keys are
 * decoded. The text must be valid JSON, so parse it first.
 *
 * As it visits every level, it also limits the depth: patches, schemas and comparisons recurse into values, and a
 * hostile body of brackets would overflow their stack.
 */
import type { Json } from "@flotilla/base";
import { formatPath, type PathStep } from "../field-path.ts";
import { badRequest } from "../status.ts";

/** Kubernetes' limit is 10 000; no meaningful object is a tenth of this deep. */
const MAX_JSON_DEPTH = 1000;
/** Go's decoder stops collecting field errors of a body at this number. */
export const MAX_STRICT_PROBLEMS = 100;

interface Level {
  /** The keys so far, as a set once there are many; undefined in a list. */
  keys: string[] | Set<string> | undefined;
  /** The current key or index. */
  at: PathStep;
  /** In an object: whether the next string is a key. */
  expectsKey: boolean;
  /**
   * Keys that were already reported. A hostile body repeats one thousands of times, and reporting it takes time
   * proportional to its depth.
   */
  reported?: Set<string>;
}

const QUOTE = 34;
const BACKSLASH = 92;
const COMMA = 44;
const COLON = 58;
const OPEN_LIST = 91;
const CLOSE_LIST = 93;
const OPEN_OBJECT = 123;
const CLOSE_OBJECT = 125;

/**
 * The paths of duplicate keys (`spec.list[0].name`), each once, in order of appearance, at most `MAX_STRICT_PROBLEMS`
 * of them. Throws a bad request when the text is nested deeper than `MAX_JSON_DEPTH`.
 */
export function findDuplicateKeys(json: string): string[] {
  const duplicates = new Set<string>();
  const levels: Level[] = [];
  let level: Level | undefined;
  for (let index = 0; index < json.length; index++) {
    switch (json.charCodeAt(index)) {
      case QUOTE: {
        const end = endOfString(json, index + 1);
        if (level?.expectsKey && level.keys) {
          const key = keyOf(json, index, end);
          level.at = key;
          level.expectsKey = false;
          if (!addKey(level, key) && duplicates.size < MAX_STRICT_PROBLEMS && isFirstReport(level, key))
            duplicates.add(formatPath(levels.map(({ at }) => decodeKey(at))));
        }
        index = end;
        break;
      }
      case COMMA:
        if (level?.keys) level.expectsKey = true;
        else if (level) level.at = Number(level.at) + 1;
        break;
      case OPEN_OBJECT:
        level = { keys: [], at: "", expectsKey: true };
        enter(levels, level);
        break;
      case OPEN_LIST:
        level = { keys: undefined, at: 0, expectsKey: false };
        enter(levels, level);
        break;
      case CLOSE_OBJECT:
      case CLOSE_LIST:
        levels.pop();
        level = levels.at(-1);
        break;
      default:
    }
  }
  return [...duplicates];
}

function enter(levels: Level[], level: Level): void {
  if (levels.push(level) > MAX_JSON_DEPTH) throw badRequest("json: exceeded max depth");
}

/**
 * Reports whether a text contains duplicate keys by counting: parsing keeps one of them, so the value has fewer keys
 * than the text. Costs less than half of comparing the keys, and allocates nothing. `value` is the parsed text, which
 * must not be nested too deeply to walk.
 */
export function hasDuplicateKeys(json: string, value: Json): boolean {
  return membersIn(json) !== keysIn(value);
}

/** Outside of strings a colon follows a key and nothing else. */
function membersIn(json: string): number {
  let count = 0;
  for (let index = 0; index < json.length; index++) {
    const code = json.charCodeAt(index);
    if (code === QUOTE) index = endOfString(json, index + 1);
    else if (code === COLON) count += 1;
  }
  return count;
}

function keysIn(value: Json): number {
  if (typeof value !== "object" || value === null) return 0;
  let count = 0;
  if (Array.isArray(value)) for (const item of value) count += keysIn(item);
  else for (const key in value) count += 1 + keysIn(value[key] as Json);
  return count;
}

/** The position of the quote that closes the string: the first one preceded by an even number of backslashes. */
function endOfString(json: string, from: number): number {
  for (let end = json.indexOf('"', from); end >= 0; end = json.indexOf('"', end + 1)) {
    let slashes = 0;
    while (json.charCodeAt(end - 1 - slashes) === BACKSLASH && end - 1 - slashes >= from) slashes += 1;
    if (slashes % 2 === 0) return end;
  }
  return json.length;
}

/** Searching a list is faster than hashing for few keys, as in nearly every object. */
const FEW_KEYS = 16;

/** False when the key already exists. */
function addKey(level: Level, key: string): boolean {
  if (level.keys instanceof Set) {
    const before = level.keys.size;
    return level.keys.add(key).size > before;
  }
  if (!level.keys || level.keys.includes(key)) return false;
  level.keys.push(key);
  if (level.keys.length > FEW_KEYS) level.keys = new Set(level.keys);
  return true;
}

/** Records a duplicate key; false when it was already recorded. */
function isFirstReport(level: Level, key: string): boolean {
  level.reported ??= new Set();
  return level.reported.size < level.reported.add(key).size;
}

/** The raw text of the key. A key with escapes (`\u0041`, `\/`) is normalized, so that keys can be compared. */
function keyOf(json: string, start: number, end: number): string {
  const raw = json.slice(start + 1, end);
  return raw.includes("\\u") || raw.includes("\\/") ? JSON.stringify(JSON.parse(`"${raw}"`)).slice(1, -1) : raw;
}

function decodeKey(at: PathStep): PathStep {
  return typeof at === "string" && at.includes("\\") ? (JSON.parse(`"${at}"`) as string) : at;
}
