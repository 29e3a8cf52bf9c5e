/**
 * Reads untrusted DER (X.690). Accepts only what DER allows: definite lengths in their shortest form, and no value that
 * exceeds its parent. Content is not copied, and nesting depth is bounded: there is no recursion to exhaust.
 */

/** The bytes are not DER, or not the expected structure. The message is shown to the sender. */
export class DerError extends Error {}

export interface DerValue {
  tag: number;
  /** Without tag and length. */
  content: Uint8Array;
  /** With tag and length, as received. */
  whole: Uint8Array;
}

export const DER = {
  boolean: 0x01,
  integer: 0x02,
  bits: 0x03,
  bytes: 0x04,
  identifier: 0x06,
  utf8: 0x0c,
  numeric: 0x12,
  printable: 0x13,
  teletex: 0x14,
  ia5: 0x16,
  utcTime: 0x17,
  time: 0x18,
  bmp: 0x1e,
  sequence: 0x30,
  set: 0x31,
} as const;

const LONG_LENGTH = 0x80;
/** More length bytes would mean more than a gigabyte. */
const MAX_LENGTH_BYTES = 4;
const HIGH_TAG = 0x1f;
const CONSTRUCTED = 0x20;
const MAX_UNUSED_BITS = 7;
/** Extensions nest a few levels. */
const MAX_DEPTH = 16;
/** The same limit as Go's. */
const MAX_IDENTIFIER_PART = 2 ** 31 - 1;

/** Parses bytes that hold exactly one value. */
export function readDer(bytes: Uint8Array): DerValue {
  const value = valueAt(bytes, 0);
  if (value.whole.length !== bytes.length) throw new DerError("unexpected data after its end");
  return value;
}

/** The values inside a constructed one. */
export function derItems({ content }: DerValue): DerValue[] {
  const items: DerValue[] = [];
  for (let at = 0; at < content.length;) {
    const item = valueAt(content, at);
    items.push(item);
    at += item.whole.length;
  }
  return items;
}

/** Returns a required value; throws when it is missing or has another tag. */
export function expectDer(value: DerValue | undefined, tag: number, what: string): DerValue {
  if (value?.tag !== tag) throw new DerError(`${what} is missing or has an unexpected type`);
  return value;
}

/** `2.5.4.3` */
export function identifierOf({ content }: DerValue): string {
  if (content.length === 0 || ((content.at(-1) ?? 0) & LONG_LENGTH) !== 0)
    throw new DerError("an object identifier is truncated");
  const numbers: number[] = [];
  let number = 0;
  for (const byte of content) {
    if (number === 0 && byte === LONG_LENGTH) throw new DerError("an object identifier is not in the shortest form");
    number = number * 128 + (byte & 0x7f);
    if (number > MAX_IDENTIFIER_PART) throw new DerError("an object identifier has a part that is too large");
    if ((byte & LONG_LENGTH) !== 0) continue;
    numbers.push(number);
    number = 0;
  }
  const [first = 0, ...rest] = numbers;
  const root = Math.min(Math.floor(first / 40), 2);
  return [root, first - root * 40, ...rest].join(".");
}

/** DER has one byte for each value of a boolean. */
export function checkBoolean({ content }: DerValue): void {
  if (content.length !== 1 || (content[0] !== 0 && content[0] !== 0xff)) throw new DerError("a boolean is malformed");
}

/** A bit string names how many bits of its last byte are unused, and these are zero. */
export function checkBits({ content }: DerValue, what: string): void {
  const [unused, last] = [content[0] ?? MAX_UNUSED_BITS + 1, content.length > 1 ? (content.at(-1) ?? 0) : 0];
  if (unused > MAX_UNUSED_BITS || (content.length === 1 && unused > 0) || (last & ((1 << unused) - 1)) !== 0)
    throw new DerError(`${what} is not a valid bit string`);
}

/** Lengths inside constructed values have to fit. */
export function checkNesting(value: DerValue, depth = 0): void {
  if ((value.tag & CONSTRUCTED) === 0) return;
  if (depth === MAX_DEPTH) throw new DerError("a value nests too deeply");
  for (const item of derItems(value)) checkNesting(item, depth + 1);
}

/** The bytes of a bit string without unused bits. */
export function wholeBits({ content }: DerValue, what: string): Uint8Array {
  if (content[0] !== 0) throw new DerError(`${what} is not a whole number of bytes`);
  return content.subarray(1);
}

function valueAt(bytes: Uint8Array, at: number): DerValue {
  const tag = bytes[at];
  const first = bytes[at + 1];
  if (tag === undefined || first === undefined) throw new DerError("it is truncated");
  if ((tag & HIGH_TAG) === HIGH_TAG) throw new DerError("it has a tag of several bytes");
  let start = at + 2;
  let length = first;
  if (first >= LONG_LENGTH) {
    const count = first - LONG_LENGTH;
    if (count === 0 || count > MAX_LENGTH_BYTES) throw new DerError("its length is not valid DER");
    length = 0;
    for (let index = 0; index < count; index++) length = length * 256 + (bytes[start + index] ?? 0);
    if (bytes[start] === 0 || length < LONG_LENGTH) throw new DerError("its length is not in the shortest form");
    start += count;
  }
  if (start + length > bytes.length) throw new DerError("it is truncated");
  return { tag, content: bytes.subarray(start, start + length), whole: bytes.subarray(at, start + length) };
}
