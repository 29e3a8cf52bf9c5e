/**
 * The rules of `Engine.commit` that every engine shares: which writes are well-formed and when an expectation holds.
 */
import { StoreError } from "./errors.ts";
import type { Write } from "./engine.ts";

/** Kubernetes limits a name to 253 characters and a key has five parts; anything longer is an attack or a bug. */
const MAX_KEY_LENGTH = 2048;

/**
 * Rejects keys that engines would store differently: a lone surrogate has no UTF-8 form, so two keys could become one,
 * and C libraries cut a string at NUL.
 */
export function checkWrite({ key, expect, value }: Write): void {
  if (key === "" || key.length > MAX_KEY_LENGTH || key.includes("\0") || !key.isWellFormed()) {
    throw new StoreError(
      `cannot write the key ${JSON.stringify(key.slice(0, 100))}: keys must be 1 to ${MAX_KEY_LENGTH} characters of valid Unicode without NUL`,
    );
  }
  if (typeof expect === "number" && !(Number.isSafeInteger(expect) && expect > 0)) {
    throw new StoreError(`cannot write ${key}: the expected revision ${expect} is not a positive integer`);
  }
  if (value !== null && !(value instanceof Uint8Array))
    throw new StoreError(`cannot write ${key}: the value is not bytes`);
}

/** Reports whether a write may happen on a key whose revision is `current`; undefined when the key is absent. */
export function isExpected(expect: Write["expect"], current: number | undefined): boolean {
  if (expect === "any") return true;
  return expect === "absent" ? current === undefined : current === expect;
}
