/** What the layer of a profile needs to know about the cluster that reads it. */
import type { CachedEntry } from "../store/cache.ts";

/** The cluster that reads a layer. */
export interface LayerViewer {
  readonly name: string;
  /** RFC 3339: when the cluster was created, which is also when its bootstrap objects were. */
  readonly createdAt: string;
  /** The revision of the write that created the cluster. */
  readonly revision: number;
}

/** Whether an entry belongs to the layer: no write of a cluster has the revision of the cluster's own creation. */
export function isOfLayer(entry: CachedEntry, viewer: LayerViewer): boolean {
  return entry.revision === viewer.revision;
}

/** Identifies a cluster, and distinguishes it from an earlier one of the same name: no two are created by one write. */
export const clusterId = ({ name, revision }: Pick<LayerViewer, "name" | "revision">): string => `${name}.${revision}`;
