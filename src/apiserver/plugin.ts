/**
 * Admission that looks at other objects of the same cluster: quota, limits, priorities, service accounts. Admissions of `api`
 * are pure and see one object; a plugin sees the cluster, read-only, as it is now. Each is one file in `plugins/`.
 */
import type { DeepReadonly, JsonObject } from "../base/index.ts";
import type { Operation } from "../api/index.ts";
import type { RequestContext } from "./context.ts";
import type { WriteOptions } from "./options.ts";

/** The other objects of the cluster that a request is for, in their storage version. Parsed once and shared: read-only. */
export interface ClusterReader {
  get(group: string, resource: string, namespace: string | undefined, name: string): DeepReadonly<JsonObject> | undefined;
  list(group: string, resource: string, namespace?: string): DeepReadonly<JsonObject>[];
}

export interface PluginRequest {
  readonly context: RequestContext;
  readonly options: WriteOptions;
  readonly operation: Operation;
  readonly object: DeepReadonly<JsonObject>;
  readonly oldObject?: DeepReadonly<JsonObject>;
  readonly read: ClusterReader;
}

export interface Plugin {
  name: string;
  /** Cheap: asked for every write. */
  concerns(context: RequestContext, operation: Operation): boolean;
  /** The object as it is to go on. Runs after decoding and defaulting, and before field managers are recorded. */
  mutate?(request: PluginRequest): DeepReadonly<JsonObject>;
  /** Throws an ApiError to refuse. Runs when everything else is right with the object. */
  validate?(request: PluginRequest): void;
  /**
   * The last word before the object is stored; not asked in a dry run. What it takes (quota) is given back by calling what it
   * returns, when storing fails after all.
   */
  reserve?(request: PluginRequest): Promise<(() => Promise<void>) | undefined>;
}
