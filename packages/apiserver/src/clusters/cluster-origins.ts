/**
 * The revision at which a logical cluster was created. It is part of the cluster's identity: uids of bootstrap objects,
 * certificates and tokens derive from it. A copy of the store has other revisions, so the copy keeps the original ones.
 */
import type { Entry } from "../store/engine.ts";
import { INTERNAL_PREFIX } from "../store/internal-keys.ts";

interface Origin {
  /** The revision of the cluster's record in this store. Another one belongs to a later cluster of the same name. */
  record: number;
  /** The revision of the record in the store that the cluster was created in. */
  created: number;
}

export const originKey = (cluster: string): string => `${INTERNAL_PREFIX}origins/${cluster}/record`;

/** The revision at which the cluster with this record was created. `get` looks up an entry of the store. */
export function createdRevision(cluster: string, record: Entry, get: (key: string) => Entry | undefined): number {
  const entry = get(originKey(cluster));
  const origin = entry && (JSON.parse(Buffer.from(entry.value).toString()) as Origin);
  return origin?.record === record.revision ? origin.created : record.revision;
}

export const encodeOrigin = (origin: Origin): Uint8Array => Buffer.from(JSON.stringify(origin));
