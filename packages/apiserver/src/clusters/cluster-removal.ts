/**
 * Empties logical clusters that are being deleted.
 *
 * Reads: the records that are marked for deletion, and everything stored. Writes: deletes the objects of the cluster,
 * then its record.
 */
import type { Log } from "@flotilla/base";
import type { Cache } from "../store/cache.ts";
import type { Guard } from "../store/engine.ts";
import { isRemoved, recordIn, RECORDS } from "./cluster-records.ts";

/** The number of concurrent deletions while a cluster is emptied. */
const REMOVAL_PAGE = 1000;

export interface ClusterRemoval {
  /**
   * Empties a cluster that is being deleted. A caller that waits for it receives the failure; otherwise the next start
   * resumes.
   */
  start(name: string): Promise<void>;
}

/** `onRemoved` is called when the objects and the record are deleted. */
export function createClusterRemoval(
  { cache, log }: { cache: Cache; log: Log },
  onRemoved: (name: string) => void,
): ClusterRemoval {
  const removals = new Map<string, Promise<void>>();

  /**
   * Deletes everything stored under the name of a cluster, whether or not a profile or a CRD still defines it, so that
   * a later cluster of the same name is empty. Once the mark on the record is visible the content is final, because
   * every write is guarded by the record. The record is deleted last: after a crash the next start resumes. Every server
   * of the store does this; their deletions are guarded by the mark, so none reaches a later cluster of the same name.
   */
  const finishRemoval = async (name: string): Promise<void> => {
    for (let entry; (entry = cache.get(RECORDS + name)) && isRemoved(recordIn(entry));) {
      const { key, revision: expect } = entry;
      if (await deleteContent(name, { key, expect })) continue;
      const { ok } = await cache.write({ key, expect, value: null });
      if (ok) break;
    }
    onRemoved(name);
  };

  /** Returns false when there was nothing to delete. Stops when the mark changes. */
  const deleteContent = async (name: string, mark: Guard): Promise<boolean> => {
    let found = false;
    for (const prefix of storedPrefixes(cache)) {
      for (let page; (page = cache.list(`${prefix}${name}/`, { limit: REMOVAL_PAGE })).length > 0; found = true) {
        const outcomes = await Promise.all(
          page.map(({ key }) => cache.write({ key, expect: "any", value: null, guards: [mark] })),
        );
        if (outcomes.some(({ ok }) => !ok)) return true;
      }
    }
    return found;
  };

  return {
    start(name) {
      let removal = removals.get(name);
      if (!removal) {
        removal = finishRemoval(name).finally(() => removals.delete(name));
        removals.set(name, removal);
        removal.catch((error: unknown) => log.error("removing a cluster failed", { cluster: name, error }));
      }
      return removal;
    },
  };
}

/** `/<group>/<resource>/` of everything that is stored, in any cluster. Costs one search each. */
function* storedPrefixes(cache: Cache): Generator<string> {
  for (let after = "/"; ;) {
    const [next] = cache.list("/", { after, limit: 1 });
    if (!next) return;
    const end = next.key.indexOf("/", next.key.indexOf("/", 1) + 1);
    yield next.key.slice(0, end + 1);
    // No key is equal to this, and none with the prefix is greater: "0" follows "/".
    after = `${next.key.slice(0, end)}0`;
  }
}
