/** Explains failures of SQLite: what happened to which file, and what to do. */
import { messageOf } from "@flotilla/base";
import { DamagedStoreError, StoreError } from "./errors.ts";

/** SQLite's primary result codes; the other bits are too detailed for users. */
const BUSY = 5;
const READ_ONLY = 8;
const CORRUPT = 11;
const FULL = 13;
const CANNOT_OPEN = 14;
const NOT_A_DATABASE = 26;

function resultCode(error: unknown): number | undefined {
  const { errcode, code } = error as { errcode?: number; code?: unknown };
  // A revision with a flipped bit may exceed the numbers that JavaScript can represent.
  if (code === "ERR_OUT_OF_RANGE") return CORRUPT;
  return errcode === undefined ? undefined : errcode & 0xff;
}

/**
 * A full disk or a foreign lock: the transaction is rolled back and a later one may succeed. After other failures the
 * state on disk cannot be relied on.
 */
export function isTemporary(error: unknown): boolean {
  const code = resultCode(error);
  return code === FULL || code === BUSY;
}

/** The file is not as it was written. */
export function isDamage(error: unknown): boolean {
  const code = resultCode(error);
  return code === CORRUPT || code === NOT_A_DATABASE;
}

const ADVICE: Readonly<Record<number, string>> = {
  [BUSY]: "another process uses it; stop that process, or choose another data directory",
  [READ_ONLY]: "this user cannot write to it, or its file system is read-only; choose another data directory",
  [FULL]: "the disk is full; free some space to resume writes (acknowledged writes are safe)",
  [CANNOT_OPEN]:
    "it cannot be opened; check that this user can write to the directory, or choose another data directory",
  [CORRUPT]: "the file is damaged",
  [NOT_A_DATABASE]: "the file is damaged or not a Flotilla store",
};

export function explained(path: string, error: unknown): StoreError {
  const reason = ADVICE[resultCode(error) ?? -1] ?? messageOf(error);
  const message = `cannot use the store ${path}: ${reason}`;
  return isDamage(error) || error instanceof DamagedStoreError
    ? new DamagedStoreError(message, { cause: error })
    : new StoreError(message, { cause: error });
}

/** How many objects an error names. */
const NAMED = 3;

/** The error about damaged entries: names the first few. */
export function damagedEntries(keys: readonly string[]): DamagedStoreError {
  const named = keys.slice(0, NAMED).map(describeKey).join(", ");
  const more = keys.length > NAMED ? ` and ${keys.length - NAMED} more` : "";
  const count = keys.length === 1 ? "1 object is damaged" : `${keys.length} objects are damaged`;
  return new DamagedStoreError(`${count}: ${named}${more}`);
}

/** `configmaps default/a of hub`: the resource, the name and the logical cluster of a key. */
export function describeKey(key: string): string {
  const [, group, resource, cluster, ...names] = key.split("/");
  if (!resource || !cluster || names.length === 0) return key;
  return `${resource}${group === "core" ? "" : `.${group}`} ${names.join("/")} of ${cluster}`;
}
