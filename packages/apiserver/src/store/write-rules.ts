/**
 * The rules of `Engine.commit` that every engine shares: which writes are well-formed and when an expectation holds.
 */
import { StoreError } from "./errors.ts";
import type { Guard, Write } from "./engine.ts";

/** Kubernetes limits a name to 253 characters and a key has five parts; anything longer is an attack or a bug. */
const MAX_KEY_LENGTH = 2048;

/**
 * An object names its cluster, its namespace, its CRD and a few counters; 32 of a writer, and that of the hub's
 * succession. Each guard costs a lookup, and etcd limits the
 * operations of a transaction to 128.
 */
const MAX_GUARDS = 33;

/** Rejects writes that engines would store or decide differently. */
export function checkWrite({ key, expect, value, guards }: Write): void {
  checkKey(key);
  checkExpectation(key, expect);
  if (guards) {
    if (guards.length > MAX_GUARDS)
      throw new StoreError(
        `cannot write ${key}: it has ${guards.length} guards, and at most ${MAX_GUARDS} are allowed`,
      );
    for (const guard of guards) {
      checkKey(guard.key);
      checkExpectation(guard.key, guard.expect);
    }
  }
  if (value !== null && !(value instanceof Uint8Array))
    throw new StoreError(`cannot write ${key}: the value is not bytes`);
}

/** A lone surrogate has no UTF-8 form, so two keys could become one, and C libraries cut a string at NUL. */
function checkKey(key: string): void {
  if (key !== "" && key.length <= MAX_KEY_LENGTH && !key.includes("\0") && key.isWellFormed()) return;
  throw new StoreError(
    `cannot write the key ${JSON.stringify(key.slice(0, 100))}: keys must be 1 to ${MAX_KEY_LENGTH} characters of valid Unicode without NUL`,
  );
}

function checkExpectation(key: string, expect: Write["expect"]): void {
  if (typeof expect !== "number" || (Number.isSafeInteger(expect) && expect > 0)) return;
  throw new StoreError(`cannot write ${key}: the expected revision ${expect} is not a positive integer`);
}

/** Reports whether a write may happen on a key whose revision is `current`; undefined when the key is absent. */
export function isExpected(expect: Write["expect"], current: number | undefined): boolean {
  if (expect === "any") return true;
  return expect === "absent" ? current === undefined : current === expect;
}

/** The key of the first guard that does not hold; undefined when all hold. */
export function failedGuard(
  guards: readonly Guard[],
  revisionOf: (key: string) => number | undefined,
): string | undefined {
  for (const { key, expect } of guards) if (!isExpected(expect, revisionOf(key))) return key;
  return undefined;
}
