/** Stored objects that are deleted without their dependents, some of which other servers may store. */
import { FlotillaError } from "@flotilla/base";
import { finalizersOf, metadataOf } from "../codec/metadata.ts";
import { clusterOfKey } from "../resources/resources.ts";
import { ORPHAN_FINALIZER } from "../write/delete.ts";
import type { Housekeeping } from "./housekeeping.ts";

/** Removes owners from their dependents on the other servers of a cluster; undefined where there are none. */
export type OrphaningElsewhere = (cluster: string) => ((uids: ReadonlySet<string>) => Promise<Orphaned>) | undefined;

export interface Orphaned {
  /** The owners that have no dependents on other servers any more. */
  readonly uids: ReadonlySet<string>;
  /** Why the others have or may have some. */
  readonly problems: readonly string[];
}

export interface OrphanedOwners {
  /** Removes the finalizer of an owner, whose dependents in its own cluster have lost it, after those on other servers have. */
  add(key: string, uid: string): Promise<void>;
}

export function createOrphanedOwners(
  housekeeping: Pick<Housekeeping, "enqueue" | "find" | "removeFinalizer">,
  orphaningElsewhere: OrphaningElsewhere,
): OrphanedOwners {
  /** Keys and uids by cluster, until their finalizers are removed. */
  const waiting = new Map<string, Map<string, string>>();

  const isOwner = (key: string, uid: string): boolean => {
    const metadata = metadataOf(housekeeping.find(key)?.object ?? {});
    return metadata.uid === uid && finalizersOf(metadata).includes(ORPHAN_FINALIZER);
  };

  /** All owners of a cluster at once: each time, the objects of its other servers are listed. */
  async function orphan(cluster: string): Promise<void> {
    const all = waiting.get(cluster) ?? new Map<string, string>();
    for (const [key, uid] of all) if (!isOwner(key, uid)) all.delete(key);
    const owners = [...all];
    const wanted = new Set(owners.map(([, uid]) => uid));
    const work = wanted.size > 0 ? orphaningElsewhere(cluster) : undefined;
    const { uids, problems } = work ? await work(wanted) : { uids: wanted, problems: [] };
    for (const [key, uid] of owners) {
      if (!uids.has(uid)) continue;
      if (isOwner(key, uid)) await housekeeping.removeFinalizer(key, ORPHAN_FINALIZER);
      all.delete(key);
    }
    if (all.size === 0) waiting.delete(cluster);
    const [first] = problems;
    if (first !== undefined)
      throw new FlotillaError(
        "AggregatedServer",
        `${all.size} objects that are to be deleted without their dependents wait for ${problems.length} problems; the first: ${first}`,
      );
  }

  return {
    async add(key, uid) {
      const cluster = clusterOfKey(key);
      if (!orphaningElsewhere(cluster)) return housekeeping.removeFinalizer(key, ORPHAN_FINALIZER);
      const owners = waiting.get(cluster) ?? new Map<string, string>();
      waiting.set(cluster, owners.set(key, uid));
      // Other servers may be slow, and must not take the places of other clusters.
      housekeeping.enqueue(`orphaning in ${cluster} on other servers`, () => orphan(cluster), cluster);
    },
  };
}
