/** The protobuf wire format: tags, varints, lengths. Every read is checked against the end of the bytes. */
import { badRequest } from "../status.ts";

/** The maximum nesting of messages. JSON schemas are the deepest messages clients send. */
export const MAX_DEPTH = 100;

const VARINT = 0;
const FIXED64 = 1;
const DELIMITED = 2;
const FIXED32 = 5;

const utf8 = new TextDecoder("utf-8", { fatal: true });
const truncated = (): Error => badRequest("the protobuf body ends too early");

export class WireReader {
  /** The field number of the last tag that `next` read. */
  field = 0;
  #wire = 0;
  #position = 0;
  readonly #bytes: Uint8Array;

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes;
  }

  get atEnd(): boolean {
    return this.#position >= this.#bytes.length;
  }

  get isDelimited(): boolean {
    return this.#wire === DELIMITED;
  }

  /** Reads the next tag; false at the end. */
  next(): boolean {
    if (this.atEnd) return false;
    const tag = this.#unsigned();
    this.field = Math.floor(tag / 8);
    this.#wire = tag % 8;
    if (this.field === 0) throw badRequest("the protobuf body has a field without a number");
    return true;
  }

  /** A signed integer of 32 or 64 bits; beyond 2^53 it is as inexact as in JSON. */
  varint(): number {
    let low = 0;
    let shift = 1;
    for (let index = 0; index < 10; index++) {
      const byte = this.#bytes[this.#position++];
      if (byte === undefined) throw truncated();
      // A negative number has ten bytes and is read exactly.
      if (index === 7) return this.#long(this.#position - 8);
      low += (byte & 0x7f) * shift;
      shift *= 128;
      if (byte < 0x80) return low;
    }
    throw badRequest("the protobuf body holds a number that is too long");
  }

  #long(start: number): number {
    let value = 0n;
    for (let index = 0; index < 10; index++) {
      const byte = this.#bytes[start + index];
      if (byte === undefined) throw truncated();
      value |= BigInt(byte & 0x7f) << BigInt(7 * index);
      if (byte < 0x80) {
        this.#position = start + index + 1;
        return Number(BigInt.asIntN(64, value));
      }
    }
    throw badRequest("the protobuf body holds a number that is too long");
  }

  #unsigned(): number {
    const value = this.varint();
    if (value < 0 || !Number.isSafeInteger(value))
      throw badRequest("the protobuf body holds a length or tag that is out of range");
    return value;
  }

  double(): number {
    const at = this.#take(8);
    return new DataView(at.buffer, at.byteOffset, 8).getFloat64(0, true);
  }

  bytes(): Uint8Array {
    if (this.#wire !== DELIMITED)
      throw badRequest(`the protobuf body holds a number in field ${this.field}, where a string or message belongs`);
    return this.#take(this.#unsigned());
  }

  text(): string {
    const bytes = this.bytes();
    try {
      return utf8.decode(bytes);
    } catch (error) {
      throw badRequest(
        `the protobuf body holds a string that is not UTF-8: ${error instanceof Error ? error.message : String(error)}`,
      );
    }
  }

  /** Skips a field that is not needed. */
  skip(): void {
    if (this.#wire === VARINT) this.varint();
    else if (this.#wire === FIXED64) this.#take(8);
    else if (this.#wire === DELIMITED) this.bytes();
    else if (this.#wire === FIXED32) this.#take(4);
    else throw badRequest(`the protobuf body has a field of an unknown type ${this.#wire}`);
  }

  #take(length: number): Uint8Array {
    const end = this.#position + length;
    if (end > this.#bytes.length) throw truncated();
    const taken = this.#bytes.subarray(this.#position, end);
    this.#position = end;
    return taken;
  }
}
