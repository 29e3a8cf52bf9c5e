/** Mutates valid input into nearly valid input, which passes the first checks. */
import { isObject, setOwn, type Json, type JsonObject } from "@flotilla/base";
import type { Chance } from "./chance.ts";
import { HOSTILE_NAMES, HOSTILE_TEXTS, HOSTILE_VALUES } from "./hostile.ts";

/** Longer texts are not generated: slow parsing already shows by its growth below this length. */
const MAX_LENGTH = 64 * 1024;
const MAX_REPEATS = 2000;

/** A text with a few mutations. `words` are meaningful tokens of its format. */
export function mutateText(chance: Chance, text: string, words: readonly string[] = []): string {
  let result = text;
  for (let left = 1 + chance.size(4); left > 0; left--) result = mutateOnce(chance, result, words).slice(0, MAX_LENGTH);
  return result;
}

function mutateOnce(chance: Chance, text: string, words: readonly string[]): string {
  const at = chance.below(text.length + 1);
  const end = Math.min(text.length, at + chance.size(16));
  const [head, middle, tail] = [text.slice(0, at), text.slice(at, end), text.slice(end)];
  switch (chance.below(8)) {
    case 0:
      return head + tail;
    case 1:
      return head + middle.repeat(1 + chance.size(MAX_REPEATS / (1 + middle.length))) + tail;
    case 2:
      return head + chance.pick(HOSTILE_TEXTS) + middle + tail;
    case 3:
      return head + String.fromCharCode(chance.oneIn(4) ? chance.below(0x1_0000) : 32 + chance.below(95)) + tail;
    case 4:
      return head + tail + middle;
    case 5:
      return head;
    default:
      return words.length > 0
        ? head + chance.pick(words) + (chance.oneIn(2) ? middle : "") + tail
        : head + Array.from(middle).toReversed().join("") + tail;
  }
}

export function mutateBytes(chance: Chance, bytes: Uint8Array): Uint8Array {
  let result = Buffer.from(bytes);
  for (let left = 1 + chance.size(6); left > 0; left--) {
    const at = chance.below(result.length + 1);
    const end = Math.min(result.length, at + chance.size(16));
    const [head, middle, tail] = [result.subarray(0, at), result.subarray(at, end), result.subarray(end)];
    const pieces: readonly Uint8Array[][] = [
      [head, tail],
      [head, middle, middle, tail],
      [head, Buffer.from([chance.below(256)]), tail],
      [head, Buffer.alloc(chance.size(12), 0xff), tail],
      [head],
      [head, Buffer.from(chance.pick(HOSTILE_TEXTS)), tail],
    ];
    result = Buffer.concat(chance.pick(pieces)).subarray(0, MAX_LENGTH);
    const flipped = chance.below(result.length);
    if (chance.oneIn(2) && result.length > 0) result[flipped] = (result[flipped] ?? 0) ^ (1 << chance.below(8));
  }
  return result;
}

/** A value with some mutations; unchanged parts are shared. `others` are values whose parts are reused. */
export function mutateJson(chance: Chance, value: Json, others: readonly Json[] = []): Json {
  let result = value;
  for (let left = 1 + chance.size(4); left > 0; left--) result = changeOne(chance, result, others);
  return result;
}

function changeOne(chance: Chance, value: Json, others: readonly Json[]): Json {
  if (Array.isArray(value)) {
    if (value.length > 0 && !chance.oneIn(4)) {
      const index = chance.below(value.length);
      return value.with(index, changeOne(chance, value[index] ?? null, others));
    }
    return changeList(chance, value, others);
  }
  if (isObject(value)) {
    const keys = Object.keys(value);
    if (keys.length > 0 && !chance.oneIn(5)) {
      const key = chance.pick(keys);
      return withKey(value, key, changeOne(chance, value[key] ?? null, others));
    }
    return changeObject(chance, value, keys, others);
  }
  if (typeof value === "string" && chance.oneIn(3)) return mutateText(chance, value).slice(0, 1000);
  if (typeof value === "number" && chance.oneIn(2))
    return Math.max(-Number.MAX_VALUE, Math.min(Number.MAX_VALUE, value + chance.pick([-1, 1, 0.5, 1e9, -value])));
  return anyValue(chance, others);
}

function changeList(chance: Chance, list: Json[], others: readonly Json[]): Json {
  switch (chance.below(5)) {
    case 0:
      return list.slice(0, chance.below(list.length + 1));
    case 1:
      return [...list, ...list];
    case 2:
      return list.toReversed();
    case 3:
      return [...list, anyValue(chance, others)];
    default:
      return anyValue(chance, others);
  }
}

function changeObject(chance: Chance, object: JsonObject, keys: readonly string[], others: readonly Json[]): Json {
  switch (chance.below(5)) {
    case 0:
      return keys.length > 0 ? without(object, chance.pick(keys)) : {};
    case 1:
      return withKey(object, chance.pick(HOSTILE_NAMES), anyValue(chance, others));
    case 2:
      return withKey(
        object,
        keys.length > 0 ? mutateText(chance, chance.pick(keys)).slice(0, 100) : "a",
        anyValue(chance, others),
      );
    case 3:
      // A value nested in itself, which gets deeper each time.
      return keys.length > 0 ? withKey(object, chance.pick(keys), object) : anyValue(chance, others);
    default:
      return anyValue(chance, others);
  }
}

function anyValue(chance: Chance, others: readonly Json[]): Json {
  return others.length > 0 && chance.oneIn(2) ? partOf(chance, chance.pick(others)) : chance.pick(HOSTILE_VALUES);
}

/** A random value inside a value. */
export function partOf(chance: Chance, value: Json): Json {
  let part = value;
  while (!chance.oneIn(3)) {
    const children = typeof part === "object" && part !== null ? Object.values(part) : [];
    if (children.length === 0) break;
    part = chance.pick(children);
  }
  return part;
}

function withKey(object: JsonObject, key: string, value: Json): JsonObject {
  const result: JsonObject = {};
  for (const [name, item] of Object.entries(object)) setOwn(result, name, item);
  setOwn(result, key, value);
  return result;
}

function without(object: JsonObject, key: string): JsonObject {
  const result = withKey(object, key, null);
  Reflect.deleteProperty(result, key);
  return result;
}
