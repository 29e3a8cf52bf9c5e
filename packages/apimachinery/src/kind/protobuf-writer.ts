/**
 * Writes the protobuf wire format from the end to the beginning, as Go does: the length of a message is known when its
 * content has been written, so nothing is measured first.
 */

const FIRST_SIZE = 64 * 1024;
/** A larger buffer, needed once for a huge object, is not kept. */
const KEPT_SIZE = 1024 * 1024;
/** Up to this length a loop is faster than a call of the runtime. */
const SHORT_TEXT = 24;
/** The largest number that bitwise operations take. */
const MAX_INT32 = 0x7fffffff;

export class WireWriter {
  #bytes = Buffer.allocUnsafeSlow(FIRST_SIZE);
  #start = FIRST_SIZE;

  /** How much has been written. The length of a message is the difference of two values. */
  get length(): number {
    return this.#bytes.length - this.#start;
  }

  /** A copy of everything written since `clear`. */
  copy(): Uint8Array {
    return Uint8Array.prototype.slice.call(this.#bytes, this.#start);
  }

  clear(): void {
    if (this.#bytes.length > KEPT_SIZE) this.#bytes = Buffer.allocUnsafeSlow(FIRST_SIZE);
    this.#start = this.#bytes.length;
  }

  byte(value: number): void {
    if (this.#start === 0) this.#grow(1);
    this.#bytes[--this.#start] = value;
  }

  bytes(value: Uint8Array): void {
    if (this.#start < value.length) this.#grow(value.length);
    this.#start -= value.length;
    this.#bytes.set(value, this.#start);
  }

  varint(value: number): void {
    if (value >= 0 && value < 0x80) return this.byte(value);
    if (this.#start < 10) this.#grow(10);
    if (value >= 0 && value <= MAX_INT32) {
      const size = value < 0x4000 ? 2 : value < 0x200000 ? 3 : value < 0x10000000 ? 4 : 5;
      let at = (this.#start -= size);
      let rest = value;
      while (rest >= 0x80) {
        this.#bytes[at++] = (rest & 0x7f) | 0x80;
        rest >>>= 7;
      }
      this.#bytes[at] = rest;
      return;
    }
    this.#long(value);
  }

  /** Negative numbers have ten bytes. A fraction, which no integer field has, is cut off. */
  #long(value: number): void {
    const content: number[] = [];
    let rest = BigInt.asUintN(64, BigInt(Math.trunc(value)));
    while (rest >= 0x80n) {
      content.push(Number(rest & 0x7fn) | 0x80);
      rest >>= 7n;
    }
    content.push(Number(rest));
    this.bytes(Uint8Array.from(content));
  }

  double(value: number): void {
    if (this.#start < 8) this.#grow(8);
    this.#start -= 8;
    this.#bytes.writeDoubleLE(value, this.#start);
  }

  /** The text, and before it its length. */
  text(value: string): void {
    const before = this.length;
    this.#content(value);
    this.varint(this.length - before);
  }

  #content(value: string): void {
    const { length } = value;
    if (length <= SHORT_TEXT) {
      if (this.#start < length) this.#grow(length);
      let at = this.#start;
      let index = length - 1;
      for (; index >= 0; index--) {
        const code = value.charCodeAt(index);
        if (code > 0x7f) break;
        this.#bytes[--at] = code;
      }
      if (index < 0) {
        this.#start = at;
        return;
      }
    }
    const size = Buffer.byteLength(value);
    if (this.#start < size) this.#grow(size);
    this.#start -= size;
    this.#bytes.write(value, this.#start, size, size === length ? "latin1" : "utf8");
  }

  #grow(bytes: number): void {
    const written = this.length;
    const larger = Buffer.allocUnsafeSlow(Math.max(2 * this.#bytes.length, this.#bytes.length + bytes));
    larger.set(this.#bytes.subarray(this.#start), larger.length - written);
    this.#bytes = larger;
    this.#start = larger.length - written;
  }
}
