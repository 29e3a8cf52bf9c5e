/**
 * How large a request body may be. Decoding, validating and comparing an object takes time for every value, in which
 * no other request is answered.
 */
import { COUNT_ABOVE_BYTES, exceedsJsonLimits, isObject } from "@flotilla/base";
import type { Json } from "@flotilla/base";
import { tooLarge } from "@flotilla/apimachinery";

/** As in kube-apiserver. */
export const MAX_BODY_BYTES = 3 * 1024 * 1024;
/** Above this a body is large: decoding and validating it takes long. */
export const LARGE_BODY_BYTES = 64 * 1024;
/** The largest published CRDs have some 50,000. */
const MAX_BODY_VALUES = 65_536;
/** A ConfigMap of 1 MiB with a hundred bytes for each key. An object costs more for each different key. */
const MAX_OBJECT_KEYS = 10_000;

/** Reading YAML takes several times as long as JSON, which is what clients send. */
const MAX_YAML_LINES = 32_768;

const JSON_LIMITS = { values: MAX_BODY_VALUES, keys: MAX_OBJECT_KEYS };
const NEWLINE = 0x0a;
const COMMA = 0x2c;
const OPEN_BRACE = 0x7b;

/** Throws 413. Short bodies are not counted. */
export function checkBody(bytes: Uint8Array, mediaType: string): void {
  if (bytes.byteLength > MAX_BODY_BYTES) throw tooLarge(`Request entity too large: limit is ${MAX_BODY_BYTES}`);
  if (bytes.byteLength <= COUNT_ABOVE_BYTES || mediaType.endsWith("protobuf")) return;
  // Clients send JSON as the YAML of an apply.
  const isYaml = mediaType.endsWith("yaml") && bytes.find((byte) => byte > 0x20) !== OPEN_BRACE;
  if (isYaml ? hasManyYamlValues(bytes) : exceedsJsonLimits(bytes, JSON_LIMITS)) throw tooManyValues();
}

/** The same for a body that can only be counted after decoding: protobuf, and keys and lists of YAML. */
export function checkDecoded<T extends Json>(value: T, bytes: Uint8Array): T {
  if (bytes.byteLength > COUNT_ABOVE_BYTES && countUpTo(value, MAX_BODY_VALUES) > MAX_BODY_VALUES)
    throw tooManyValues();
  return value;
}

const tooManyValues = (): Error =>
  tooLarge(
    `Request entity too large: limit is ${MAX_BODY_VALUES} values, and ${MAX_OBJECT_KEYS} keys in one object; divide the object into several`,
  );

/** Values of YAML are separated by newlines, and in lists and objects of one line by commas. */
function hasManyYamlValues(bytes: Uint8Array): boolean {
  return hasMoreThan(MAX_YAML_LINES, NEWLINE, bytes) || hasMoreThan(MAX_BODY_VALUES, COMMA, bytes);
}

function hasMoreThan(limit: number, byte: number, bytes: Uint8Array): boolean {
  let count = 0;
  for (let at = bytes.indexOf(byte); at >= 0; at = bytes.indexOf(byte, at + 1)) if (++count > limit) return true;
  return false;
}

/** More than the limit for an object with too many keys. */
function countUpTo(value: Json, limit: number): number {
  if (typeof value !== "object" || value === null) return 1;
  const items = Array.isArray(value) ? value : isObject(value) ? Object.values(value) : [];
  if (!Array.isArray(value) && items.length > MAX_OBJECT_KEYS) return limit + 1;
  let count = 1;
  for (const item of items) {
    count += countUpTo(item, limit - count);
    if (count > limit) break;
  }
  return count;
}
