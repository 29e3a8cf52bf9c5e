/**
 * What the API servers of one store know of each other's keys: a record in the store with fingerprints. A server whose
 * keys do not fit refuses to start, because it would reject what the others issued, and clients what it issued.
 *
 * Reads and writes: one key of the server's own bookkeeping in the store.
 */
import { INTERNAL_PREFIX } from "@flotilla/apiserver";
import type { Engine, Entry } from "@flotilla/apiserver";
import { equalJson } from "@flotilla/base";
import { KeysError } from "./hub-keys.ts";
import type { Fingerprints } from "./hub-keys.ts";

export const KEY_RECORD = `${INTERNAL_PREFIX}keys/hub/record`;

/** A purpose whose keys do not fit. */
export interface KeyMismatch {
  purpose: string;
  /** `unknown`: the other servers do not accept what this one signs. `missing`: this one does not accept theirs. */
  problem: "unknown" | "missing";
}

/** Two servers fit if each accepts what the other signs. Pure. */
export function compareKeys(own: Fingerprints, recorded: Fingerprints): KeyMismatch[] {
  return Object.entries(recorded).flatMap(([purpose, { signs, accepts }]): KeyMismatch[] => {
    const use = own[purpose];
    if (!use) return [];
    if (!accepts.includes(use.signs)) return [{ purpose, problem: "unknown" }];
    return use.accepts.includes(signs) ? [] : [{ purpose, problem: "missing" }];
  });
}

export async function readKeyRecord(engine: Engine): Promise<(Entry & { keys: Fingerprints }) | undefined> {
  for await (const batch of engine.scan(KEY_RECORD))
    for (const entry of batch) if (entry.key === KEY_RECORD) return { ...entry, keys: decodeKeyRecord(entry.value) };
  return undefined;
}

export const decodeKeyRecord = (value: Uint8Array): Fingerprints =>
  JSON.parse(Buffer.from(value).toString()) as Fingerprints;

/** Records the keys of this server, or throws `KeysError` if they do not fit those of the others. */
export async function recordKeys(engine: Engine, own: Fingerprints, directory: string): Promise<void> {
  const value = Buffer.from(JSON.stringify(own));
  for (;;) {
    const recorded = await readKeyRecord(engine);
    if (recorded) {
      const mismatches = compareKeys(own, recorded.keys);
      if (mismatches.length > 0) throw new KeysError(mismatchText(mismatches, directory));
      if (equalJson(own, recorded.keys)) return;
    }
    const outcome = await engine.commit({ key: KEY_RECORD, expect: recorded?.revision ?? "absent", value });
    // Otherwise another server recorded its keys at the same time, which are compared now.
    if (outcome.ok) return;
  }
}

/** Throws when the store has a hub, and the folder none of its keys: new ones would be those of another hub. */
export function missingKeysError(directory: string): KeysError {
  return new KeysError(
    `the store has the objects of a hub, and ${directory} none of its keys; copy the folder pki of another ` +
      `API server of this hub there. If all copies are lost, new keys need the record ${KEY_RECORD} of the ` +
      "store to be deleted, and all kubeconfigs, agents and tokens to be issued again",
  );
}

/** Throws on a standby: with other keys than those of the hub it would be another hub. */
export function missingStandbyKeys(directory: string): KeysError {
  return new KeysError(
    `${directory} has no keys of a hub; copy the folder pki of the hub that this one follows there, or name a copy with --keys`,
  );
}

function mismatchText(mismatches: readonly KeyMismatch[], directory: string): string {
  const purposes = mismatches.map(({ purpose }) => purpose).join(", ");
  return mismatches.every(({ problem }) => problem === "missing")
    ? `the keys in ${directory} are older than those that the API servers of this store use (${purposes}): copy the folder of one of them`
    : `the keys in ${directory} are not those of the hub in this store (${purposes}): the other API servers ` +
        "would reject what this one issues. Copy the folder pki of one of them; to replace keys, run 'flotilla " +
        "keys prepare' first, and distribute its result";
}
