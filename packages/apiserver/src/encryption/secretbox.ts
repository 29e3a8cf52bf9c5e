/**
 * NaCl's secretbox, XSalsa20 with Poly1305, which Node's OpenSSL does not have. For values at rest that another server
 * encrypted so: it is several times slower than `aesgcm`, and its time depends on the data, which no client can measure here.
 */
import { FlotillaError } from "@flotilla/base";
import { timingSafeEqual } from "node:crypto";

const KEY_BYTES = 32;
const NONCE_BYTES = 24;
const TAG_BYTES = 16;
const BLOCK_BYTES = 64;
/** "expand 32-byte k" */
const SIGMA = [0x61707865, 0x3320646e, 0x79622d32, 0x6b206574] as const;

/** The tag, then the ciphertext. */
export function seal(plain: Uint8Array, nonce: Uint8Array, key: Uint8Array): Buffer {
  const sealed = Buffer.alloc(TAG_BYTES + plain.length);
  const authenticationKey = xorStream(plain, sealed, TAG_BYTES, nonce, key);
  sealed.set(poly1305(sealed.subarray(TAG_BYTES), authenticationKey), 0);
  return sealed;
}

/** Throws when the value is not what `seal` returned for this nonce and key. */
export function open(sealed: Uint8Array, nonce: Uint8Array, key: Uint8Array): Buffer {
  if (sealed.length < TAG_BYTES) throw new FlotillaError("Encryption", "the value is too short");
  const cipher = sealed.subarray(TAG_BYTES);
  const plain = Buffer.alloc(cipher.length);
  const authenticationKey = xorStream(cipher, plain, 0, nonce, key);
  if (!timingSafeEqual(poly1305(cipher, authenticationKey), sealed.subarray(0, TAG_BYTES)))
    throw new FlotillaError("Encryption", "the tag does not match");
  return plain;
}

/** Writes the input XOR the stream; returns the first 32 bytes of the stream, which authenticate. */
function xorStream(
  input: Uint8Array,
  output: Buffer,
  outputStart: number,
  nonce: Uint8Array,
  key: Uint8Array,
): Uint8Array {
  const first = words(nonce.subarray(0, 16));
  const state = new Uint32Array(16);
  place(state, words(key), first);
  const sub = new Uint32Array(8);
  const mixed = new Uint32Array(16);
  rounds(state, mixed);
  // HSalsa20: the words where constants and nonce were are the key of the stream.
  for (const [index, at] of [0, 5, 10, 15, 6, 7, 8, 9].entries()) sub[index] = mixed[at] as number;
  const last = words(nonce.subarray(16, NONCE_BYTES));
  const block = Buffer.alloc(BLOCK_BYTES);
  const authenticationKey = new Uint8Array(KEY_BYTES);
  let done = 0;
  for (let counter = 0; counter === 0 || done < input.length; counter++) {
    // 2^32 blocks are 256 GiB, more than any value.
    place(state, sub, Uint32Array.of(last[0] as number, last[1] as number, counter, 0));
    rounds(state, mixed);
    for (let index = 0; index < 16; index++)
      block.writeUInt32LE(((mixed[index] as number) + (state[index] as number)) >>> 0, index * 4);
    let from = 0;
    if (counter === 0) {
      authenticationKey.set(block.subarray(0, KEY_BYTES));
      from = KEY_BYTES;
    }
    for (let index = from; index < BLOCK_BYTES && done < input.length; index++, done++)
      output[outputStart + done] = (input[done] as number) ^ (block[index] as number);
  }
  return authenticationKey;
}

function words(bytes: Uint8Array): Uint32Array {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  return Uint32Array.from({ length: bytes.length / 4 }, (_, index) => view.getUint32(index * 4, true));
}

/** The input of a block: constants on the diagonal, the key in two halves, and sixteen bytes in the middle. */
function place(state: Uint32Array, key: Uint32Array, middle: Uint32Array): void {
  for (const [index, at] of [0, 5, 10, 15].entries()) state[at] = SIGMA[index] as number;
  for (let index = 0; index < 4; index++) {
    state[1 + index] = key[index] as number;
    state[6 + index] = middle[index] as number;
    state[11 + index] = key[4 + index] as number;
  }
}

/** Which words a quarter round changes: four columns, then four rows. */
const QUARTERS: readonly (readonly [number, number, number, number])[] = [
  [0, 4, 8, 12],
  [5, 9, 13, 1],
  [10, 14, 2, 6],
  [15, 3, 7, 11],
  [0, 1, 2, 3],
  [5, 6, 7, 4],
  [10, 11, 8, 9],
  [15, 12, 13, 14],
];
const ROTATIONS = [7, 9, 13, 18] as const;

/** The twenty rounds of Salsa20, without the addition at the end. */
function rounds(input: Uint32Array, x: Uint32Array): void {
  x.set(input);
  for (let round = 0; round < 10; round++)
    for (const quarter of QUARTERS)
      for (let step = 0; step < 4; step++) {
        // Each word is changed by the two before it, in a ring.
        const target = quarter[(step + 1) & 3] as number;
        const sum = ((x[quarter[step] as number] as number) + (x[quarter[(step + 3) & 3] as number] as number)) | 0;
        const by = ROTATIONS[step] as number;
        x[target] = (x[target] as number) ^ ((sum << by) | (sum >>> (32 - by)));
      }
}

const LIMBS = 10;
const LIMB_BITS = 13;
const LIMB = 2 ** LIMB_BITS;

/** Numbers modulo 2^130 - 5 in ten limbs of 13 bits, whose products and sums fit a double exactly. */
function poly1305(data: Uint8Array, key: Uint8Array): Buffer {
  const r = new Float64Array(LIMBS);
  const clamped = Uint8Array.from(key.subarray(0, 16));
  for (const index of [3, 7, 11, 15]) clamped[index] = (clamped[index] as number) & 15;
  for (const index of [4, 8, 12]) clamped[index] = (clamped[index] as number) & 252;
  addBytes(r, clamped, 0);
  const h = new Float64Array(LIMBS);
  const product = new Float64Array(LIMBS);
  const block = new Uint8Array(17);
  for (let start = 0; start < data.length; start += 16) {
    const part = data.subarray(start, start + 16);
    block.fill(0);
    block.set(part);
    addBytes(h, block, part.length + 1, 1);
    multiply(h, r, product);
  }
  let value = 0n;
  for (let limb = LIMBS - 1; limb >= 0; limb--) value = (value << BigInt(LIMB_BITS)) + BigInt(h[limb] as number);
  value %= (1n << 130n) - 5n;
  for (let index = 0; index < 16; index++) value += BigInt(key[16 + index] as number) << BigInt(8 * index);
  const tag = Buffer.alloc(16);
  for (let index = 0; index < 16; index++) tag[index] = Number((value >> BigInt(8 * index)) & 255n);
  return tag;
}

/** Adds a number in little-endian bytes; `top` is one more byte at this place. */
function addBytes(limbs: Float64Array, bytes: Uint8Array, topAt: number, top = 0): void {
  if (top !== 0) bytes[topAt - 1] = top;
  for (let limb = 0; limb < LIMBS; limb++) {
    const bit = limb * LIMB_BITS;
    const at = bit >> 3;
    const three = (bytes[at] ?? 0) | ((bytes[at + 1] ?? 0) << 8) | ((bytes[at + 2] ?? 0) << 16);
    limbs[limb] = (limbs[limb] as number) + ((three >> (bit & 7)) & (LIMB - 1));
  }
}

/** h = h * r, with carries; 2^130 counts as 5. */
function multiply(h: Float64Array, r: Float64Array, product: Float64Array): void {
  for (let limb = 0; limb < LIMBS; limb++) {
    let sum = 0;
    for (let other = 0; other < LIMBS; other++) {
      const rest = limb - other;
      sum += (h[other] as number) * (rest >= 0 ? (r[rest] as number) : 5 * (r[rest + LIMBS] as number));
    }
    product[limb] = sum;
  }
  let carry = 0;
  for (let limb = 0; limb < LIMBS; limb++) {
    const sum = (product[limb] as number) + carry;
    carry = Math.floor(sum / LIMB);
    h[limb] = sum - carry * LIMB;
  }
  const low = (h[0] as number) + 5 * carry;
  const over = Math.floor(low / LIMB);
  h[0] = low - over * LIMB;
  h[1] = (h[1] as number) + over;
}
