/**
 * Copies all objects of one store to another of any type: a data directory to etcd, and back. Values are copied as they
 * are stored, encrypted or not, and the identity of every logical cluster is kept.
 */
import type { Engine, Entry } from "../store/engine.ts";
import { StoreError } from "../store/errors.ts";
import { INTERNAL_PREFIX } from "../store/internal-keys.ts";
import { shiftRevisions } from "../store/shifted-engine.ts";
import type { RevisionShift } from "../store/shifted-engine.ts";
import { fencedRevision } from "../store/sqlite-restore.ts";
import { createdRevision, encodeOrigin, originKey } from "./cluster-origins.ts";
import { clusterOfRecord, RECORDS } from "./cluster-records.ts";

/** `onProgress` is called with the number of copied objects. Returns that number. */
export async function copyStore(from: Engine, to: Engine, onProgress: (objects: number) => void): Promise<number> {
  /** The bookkeeping of the source, which sorts before all objects. It is not copied. */
  const internal = new Map<string, Entry>();
  let objects = 0;
  const copy = async (entry: Entry): Promise<void> => {
    const { key, value } = entry;
    const outcome = await to.commit({ key, expect: "absent", value });
    if (!outcome.ok) throw new StoreError(`copying ${key}: another process writes to the target`);
    if (!key.startsWith(RECORDS)) return;
    const cluster = clusterOfRecord(key);
    const created = createdRevision(cluster, entry, (wanted) => internal.get(wanted));
    const origin = encodeOrigin({ record: outcome.revision, created });
    await to.commit({ key: originKey(cluster), expect: "any", value: origin });
  };
  for await (const batch of from.scan("/")) {
    for (const entry of batch) if (entry.key.startsWith(INTERNAL_PREFIX)) internal.set(entry.key, entry);
    const copied = batch.filter(({ key }) => !key.startsWith(INTERNAL_PREFIX));
    await Promise.all(copied.map(copy));
    objects += copied.length;
    onProgress(objects);
  }
  return objects;
}

/** Says how a shared store was filled. */
const RESTORE_KEY = `${INTERNAL_PREFIX}restores/hub/latest`;

/**
 * Fills an empty store that counts revisions by itself, as etcd does. Its revisions then continue above `revision`, so
 * clients of the former store get "expired" and list again.
 */
export async function restoreInto(
  to: Engine,
  from: Engine,
  { revision, nowMs, onProgress }: { revision: number; nowMs: number; onProgress(objects: number): void },
): Promise<number> {
  for await (const [found] of to.scan("/"))
    if (found)
      throw new StoreError(
        `the store already has ${found.key}: restore below another prefix (etcd://HOST:PORT/PREFIX), or delete what is there`,
      );
  const begun = await to.commit({ key: RESTORE_KEY, expect: "absent", value: encode("unfinished") });
  if (!begun.ok) throw new StoreError("another process restores into the same store");
  const offset = fencedRevision(revision, nowMs) - begun.revision;
  const objects = await copyStore(from, shiftRevisions(to, { offset, compacted: 0 }), onProgress);
  const compacted = (await to.revision()) + offset;
  const ended = await to.commit({ key: RESTORE_KEY, expect: begun.revision, value: encode({ offset, compacted }) });
  if (!ended.ok) throw new StoreError("another process restores into the same store");
  return objects;
}

/** The store with the revisions that its restore began. */
export async function openRestored(engine: Engine): Promise<Engine> {
  for await (const batch of engine.scan(RESTORE_KEY)) {
    for (const { value } of batch) {
      const state = JSON.parse(Buffer.from(value).toString()) as RevisionShift | "unfinished";
      if (state !== "unfinished") return shiftRevisions(engine, state);
      throw new StoreError(
        "a restore into this store did not finish: delete all keys of its prefix (etcdctl del --prefix), and restore again",
      );
    }
  }
  return engine;
}

const encode = (state: RevisionShift | "unfinished"): Uint8Array => Buffer.from(JSON.stringify(state));
