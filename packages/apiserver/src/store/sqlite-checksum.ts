/**
 * Checksums of stored rows: CRC-32 over the key, the revisions and the value. A flipped bit is found, and so is an
 * intact value under the wrong key or revision.
 */
import { crc32 } from "node:zlib";

/** A row of the log. */
export interface SummedRow {
  revision: number;
  key: string;
  /** The revision that this change replaced. */
  previous: number | null;
  /** `null` for a deletion. */
  value: Uint8Array | null;
}

/** Sums of checksums are kept in this range: the total of all current entries. */
const RANGE = 2 ** 32;

export function checksumOf({ revision, key, previous, value }: SummedRow): number {
  const head = crc32(`${revision} ${previous ?? ""} ${value === null ? "-" : "+"} ${key}\0`);
  return value === null ? head : crc32(value, head);
}

/** The state of the log, and the number and total of the checksums of all current entries. */
export interface State {
  /** The newest revision. */
  revision: number;
  /** The newest compacted revision. */
  compacted: number;
  /** The newest swept revision. */
  swept: number;
  /** How many entries are current. An entry that is missing from its table is found by this and by `total`. */
  objects: number;
  /** The sum of the checksums of the current entries, modulo 2^32: each write updates it without reading others. */
  total: number;
}

export function checksumOfState({ revision, compacted, swept, objects, total }: State): number {
  return crc32(`${revision} ${compacted} ${swept} ${objects} ${total}`);
}

/** The total after one checksum replaced another; 0 stands for none. */
export function totalWith(total: number, added: number, removed: number): number {
  return (total + added - removed + RANGE) % RANGE;
}
