/** A logical cluster as the server serves it. */
import type { Guard } from "../store/engine.ts";
import type { ProfileLayer } from "./profiles.ts";
import type { ResourceTable } from "../resources/resources.ts";

export interface LogicalCluster {
  readonly name: string;
  readonly profile: ProfileLayer;
  readonly createdAt: string;
  /** The revision of the write that created it, in the store that it was created in. */
  readonly revision: number;
  /** The resources that it serves now. A different table means that CRDs changed. */
  readonly table: ResourceTable;
  /** Aborted when the cluster is removed; the reason is a 404. */
  readonly removed: AbortSignal;
  /** Guards every write to the cluster: its record, which changes only when the cluster is removed. */
  readonly record: Guard;
}
