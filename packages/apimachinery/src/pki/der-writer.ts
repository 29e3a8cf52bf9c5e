/**
 * Writes DER (X.690), as far as certificates need it: tagged values with their length. The counterpart of
 * `der-reader.ts`.
 */

const TAG = {
  integer: 0x02,
  bits: 0x03,
  bytes: 0x04,
  null: 0x05,
  identifier: 0x06,
  utf8: 0x0c,
  sequence: 0x30,
  set: 0x31,
  utcTime: 0x17,
  time: 0x18,
  boolean: 0x01,
} as const;
const LONG_LENGTH = 0x80;
/** UTCTime has a two-digit year, which X.509 limits to years before this one. */
const FIRST_LONG_YEAR = 2050;

export const der = {
  /** A value with any tag, for implicit and explicit tags of a structure. */
  tagged: (tag: number, ...parts: readonly Uint8Array[]): Buffer => {
    const content = Buffer.concat(parts);
    return Buffer.concat([Buffer.from([tag, ...lengthBytes(content.length)]), content]);
  },
  sequence: (...parts: readonly Uint8Array[]): Buffer => der.tagged(TAG.sequence, ...parts),
  set: (...parts: readonly Uint8Array[]): Buffer => der.tagged(TAG.set, ...parts),
  /** Big-endian and positive: a zero byte precedes a set sign bit. */
  integer: (bytes: Uint8Array): Buffer =>
    der.tagged(TAG.integer, ...((bytes[0] ?? 0) & 0x80 ? [Buffer.from([0])] : []), bytes),
  boolean: (value: boolean): Buffer => der.tagged(TAG.boolean, Buffer.from([value ? 0xff : 0])),
  bytes: (content: Uint8Array): Buffer => der.tagged(TAG.bytes, content),
  /** `unused` counts the unused bits at the end. */
  bits: (content: Uint8Array, unused = 0): Buffer => der.tagged(TAG.bits, Buffer.from([unused]), content),
  utf8: (text: string): Buffer => der.tagged(TAG.utf8, Buffer.from(text)),
  identifier: (dotted: string): Buffer => der.tagged(TAG.identifier, Buffer.from(identifierBytes(dotted))),
  time(ms: number): Buffer {
    const digits = new Date(ms).toISOString().replace(/\.\d+|[-:T]/g, "");
    return new Date(ms).getUTCFullYear() < FIRST_LONG_YEAR
      ? der.tagged(TAG.utcTime, Buffer.from(digits.slice(2)))
      : der.tagged(TAG.time, Buffer.from(digits));
  },
};

function lengthBytes(length: number): number[] {
  if (length < LONG_LENGTH) return [length];
  const bytes: number[] = [];
  for (let rest = length; rest > 0; rest = Math.floor(rest / 256)) bytes.unshift(rest % 256);
  return [LONG_LENGTH + bytes.length, ...bytes];
}

/** The first two numbers share a byte; larger numbers take seven bits a byte. */
function identifierBytes(dotted: string): number[] {
  const [first = 0, second = 0, ...rest] = dotted.split(".").map(Number);
  return [first * 40 + second, ...rest.flatMap(sevenBitBytes)];
}

function sevenBitBytes(number: number): number[] {
  const bytes = [number & 0x7f];
  for (let rest = number >>> 7; rest > 0; rest >>>= 7) bytes.unshift((rest & 0x7f) | 0x80);
  return bytes;
}
