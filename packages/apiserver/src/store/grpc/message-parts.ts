/** Writes protobuf messages part by part, without a copy of their contents before they are joined. */

const VARINT = 0;
const DELIMITED = 2;

export type Parts = readonly Uint8Array[];

const sizeOf = (parts: Parts): number => parts.reduce((sum, { byteLength }) => sum + byteLength, 0);

function varint(value: number): Uint8Array {
  const bytes: number[] = [];
  let rest = value;
  while (rest >= 0x80) {
    bytes.push((rest % 0x80) | 0x80);
    rest = Math.floor(rest / 0x80);
  }
  bytes.push(rest);
  return Uint8Array.from(bytes);
}

/** A number that is written even if it is 0. */
export const writtenNumber = (field: number, value: number): Parts => [varint(field * 8 + VARINT), varint(value)];
/** A field with its default value is left out, as in any proto3 message. */
export const number = (field: number, value: number | boolean | undefined): Parts =>
  value ? writtenNumber(field, Number(value)) : [];
export const bytes = (field: number, value: Uint8Array | undefined): Parts =>
  value && value.byteLength > 0 ? message(field, [value]) : [];
export const message = (field: number, parts: Parts): Parts => [
  varint(field * 8 + DELIMITED),
  varint(sizeOf(parts)),
  ...parts,
];
export const join = (parts: Parts): Uint8Array => Buffer.concat(parts);
