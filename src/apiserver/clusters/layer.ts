/** What the layer of a profile needs to know of the cluster it is seen from. */
import type { CachedEntry } from "../../store/index.ts";

/** The cluster that a layer is seen from. */
export interface LayerViewer {
  readonly name: string;
  /** RFC 3339: when the cluster was made, which is when its bootstrap objects were. */
  readonly createdAt: string;
  /** The revision of the write that made the cluster. */
  readonly revision: number;
}

/** Whether an entry is of the layer: nothing that a cluster writes has the revision of its own making. */
export function isOfLayer(entry: CachedEntry, viewer: LayerViewer): boolean {
  return entry.revision === viewer.revision;
}
