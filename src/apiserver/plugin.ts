/**
 * Admission that looks at other objects of the same cluster: quota, limits, priorities, service accounts. Admissions of `api`
 * are pure and see one object; a plugin sees the cluster, read-only, as it is now. Each is one file in `plugins/`.
 */
import type { DeepReadonly, JsonObject } from "../base/index.ts";
import type { Operation } from "../api/index.ts";
import type { RequestContext } from "./context.ts";
import type { WriteOptions } from "./request/options.ts";

/** The other objects of the cluster that a request is for, in their storage version. Parsed once and shared: read-only. */
export interface ClusterReader {
  get(group: string, resource: string, namespace: string | undefined, name: string): DeepReadonly<JsonObject> | undefined;
  /** False when the object is not there or has this text nowhere. For what is rarely true of an object that may have to be parsed to be read. */
  mentions(group: string, resource: string, namespace: string | undefined, name: string, text: string): boolean;
  list(group: string, resource: string, namespace?: string): DeepReadonly<JsonObject>[];
  /** The same without what the cluster's profile brought: cheap where that is all there is. */
  written(group: string, resource: string, namespace?: string): DeepReadonly<JsonObject>[];
}

/** What a plugin may write before an object is stored. */
export interface ClusterWriter {
  /**
   * Changes the status of an object that exists, with nobody in between: `change` is given what is stored and answers the new
   * status, or undefined to leave it. What it throws is passed on; it may be called again when another process wrote in between.
   */
  changeStatus(group: string, resource: string, namespace: string | undefined, name: string, change: (object: DeepReadonly<JsonObject>) => JsonObject | undefined): Promise<void>;
}

export interface PluginRequest {
  readonly context: RequestContext;
  readonly options: WriteOptions;
  readonly operation: Operation;
  readonly object: DeepReadonly<JsonObject>;
  readonly oldObject?: DeepReadonly<JsonObject>;
  readonly read: ClusterReader;
}

/** An object of a kind of Kubernetes is written itself, not one of its subresources; or the one that is named. */
export function writesKind({ served: { resource }, subresource }: RequestContext, group: string, kind: string, part?: string): boolean {
  return subresource === part && resource.kind.kind === kind && resource.kind.group === group && resource.kind.builtIn;
}

export interface Plugin {
  name: string;
  /** Cheap: asked for every write. */
  concerns(context: RequestContext, operation: Operation): boolean;
  /** The object as it is to go on. Runs after decoding, defaulting and the recording of field managers: what it sets is nobody's. */
  mutate?(request: PluginRequest): DeepReadonly<JsonObject>;
  /** Throws an ApiError to refuse. Runs when everything else is right with the object. */
  validate?(request: PluginRequest): void;
  /**
   * The last word before the object is stored; not asked in a dry run. What it takes (quota) is given back by calling what it
   * returns, when storing fails after all.
   */
  reserve?(request: PluginRequest, write: ClusterWriter): Promise<(() => Promise<void>) | undefined>;
}
