/**
 * Admission that reads other objects of the same cluster: quota, limits, priorities, service accounts. Admissions of
 * `api` belong to one kind; a plugin belongs to the server and sees the request. Each is one file in `plugins/`.
 */
import type { ClusterReader, ClusterWriter, Operation } from "../api/index.ts";
import type { DeepReadonly, JsonObject } from "../base/index.ts";
import type { RequestContext } from "./context.ts";
import type { WriteOptions } from "./request/options.ts";

export interface PluginRequest {
  readonly context: RequestContext;
  readonly options: WriteOptions;
  readonly operation: Operation;
  readonly object: DeepReadonly<JsonObject>;
  readonly oldObject?: DeepReadonly<JsonObject>;
  readonly read: ClusterReader;
}

/** Whether a built-in object itself is written, or the named subresource. */
export function writesKind(
  { served: { resource }, subresource }: RequestContext,
  group: string,
  kind: string,
  part?: string,
): boolean {
  return subresource === part && resource.kind.kind === kind && resource.kind.group === group && resource.kind.builtIn;
}

export interface Plugin {
  name: string;
  /** The only API group whose kinds it admits; absent when it admits kinds of several groups. */
  group?: string;
  /** Cheap: called for every write of the group. */
  concerns(context: RequestContext, operation: Operation): boolean;
  /**
   * Returns the object to continue with. Runs after decoding, defaulting and field management: the fields it sets have
   * no field manager.
   */
  mutate?(request: PluginRequest): DeepReadonly<JsonObject>;
  /** Throws an ApiError to reject the request. Runs when the object is otherwise valid. */
  validate?(request: PluginRequest): void;
  /**
   * The last step before the object is stored; skipped in a dry run. Returns a function that releases what was reserved
   * (quota) when storing fails.
   */
  reserve?(request: PluginRequest, write: ClusterWriter): Promise<(() => Promise<void>) | undefined>;
}

/** Plugins in order, by the API group of the written object: a write does not ask those of other groups. */
export interface Plugins {
  of(group: string): readonly Plugin[];
}

export function createPlugins(plugins: readonly Plugin[]): Plugins {
  const general = plugins.filter(({ group }) => group === undefined);
  const byGroup = new Map(
    plugins.flatMap(({ group: key }) =>
      key === undefined ? [] : [[key, plugins.filter(({ group }) => group === undefined || group === key)] as const],
    ),
  );
  return { of: (group) => byGroup.get(group) ?? general };
}
