/**
 * Admission that looks at other objects of the same cluster: quota, limits, priorities, service accounts. Admissions of
 * `api` belong to one kind; a plugin is the server's own and sees the request. Each is one file in `plugins/`.
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

/** An object of a kind of Kubernetes is written itself, not one of its subresources; or the one that is named. */
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
  /** Cheap: asked for every write. */
  concerns(context: RequestContext, operation: Operation): boolean;
  /**
   * The object as it is to go on. Runs after decoding, defaulting and the recording of field managers: what it sets is
   * nobody's.
   */
  mutate?(request: PluginRequest): DeepReadonly<JsonObject>;
  /** Throws an ApiError to refuse. Runs when everything else is right with the object. */
  validate?(request: PluginRequest): void;
  /**
   * The last word before the object is stored; not asked in a dry run. What it takes (quota) is given back by calling
   * what it returns, when storing fails after all.
   */
  reserve?(request: PluginRequest, write: ClusterWriter): Promise<(() => Promise<void>) | undefined>;
}
