import { randomFillSync } from "node:crypto";

/** Randomness is injected through `Random`, so that a seed repeats a run. */
export interface Random {
  /** A number in [0, 1). */
  next(): number;
  /** `length` random bytes; cryptographically strong from `systemRandom`. */
  bytes(length: number): Uint8Array;
}

/** Bytes are drawn from the system in batches: drawing sixteen costs the same as drawing thousands. */
const POOL_BYTES = 8192;
let pool = new Uint8Array(0);
let used = 0;

export const systemRandom: Random = {
  next: () => Math.random(),
  bytes(length) {
    if (length > POOL_BYTES) return randomFillSync(new Uint8Array(length));
    if (pool.length - used < length) {
      pool = randomFillSync(new Uint8Array(POOL_BYTES));
      used = 0;
    }
    // A copy, so that a caller keeps no reference to bytes of another caller, and each byte is returned once.
    const taken = pool.slice(used, used + length);
    pool.fill(0, used, used + length);
    used += length;
    return taken;
  },
};

/** The same sequence for the same seed (mulberry32). For tests and simulations, never for secrets. */
export function createSeededRandom(seed: number): Random {
  let state = seed >>> 0;
  const next = (): number => {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = state;
    t = Math.imul(t ^ (t >>> 15), t | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  };
  return { next, bytes: (length) => Uint8Array.from({ length }, () => Math.floor(next() * 256)) };
}

/** A version 4 UUID, as in `metadata.uid`. */
export function randomUuid(random: Random): string {
  return formatUuid(random.bytes(16));
}

/** The first 16 bytes as a version 4 UUID; sets the version and variant bits in place. */
export function formatUuid(bytes: Uint8Array): string {
  bytes[6] = ((bytes[6] ?? 0) & 0x0f) | 0x40;
  bytes[8] = ((bytes[8] ?? 0) & 0x3f) | 0x80;
  const hex = Buffer.from(bytes.buffer, bytes.byteOffset, 16).toString("hex");
  const joined = `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`;
  // Decoding from bytes gives a flat string. The concatenated string keeps its pieces in a rope, which takes seven
  // times the memory, and every object has a UID.
  return Buffer.from(joined, "latin1").toString("latin1");
}

/** The alphabet of Kubernetes' generated names: no vowels, no characters that are easily confused. */
export const NAME_ALPHABET = "bcdfghjklmnpqrstvwxz2456789";

/** A random suffix as used by `generateName` and pod names. */
export function randomSuffix(random: Random, length = 5): string {
  return Array.from(random.bytes(length), (byte) => NAME_ALPHABET[byte % NAME_ALPHABET.length]).join("");
}
