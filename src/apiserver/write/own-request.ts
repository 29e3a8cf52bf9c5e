/**
 * The server as a client of itself: what it changes on its own account goes the way of every write, under its own name.
 */
import type { JsonObject } from "../../base/index.ts";
import { MASTERS } from "../request/authorize.ts";
import type { LogicalCluster } from "../clusters/clusters.ts";
import type { RequestContext } from "../context.ts";
import { metadataOf } from "./metadata.ts";
import type { WriteOptions } from "../request/options.ts";
import type { Resource } from "../clusters/resources.ts";
import type { Change } from "./write.ts";

/** Where an object of one of the server's clusters is. */
export interface OwnPlace {
  cluster: LogicalCluster;
  resource: Resource;
  namespace?: string;
  name: string;
}

const NO_QUERY = new URLSearchParams();

export function ownContext(
  { cluster, resource, namespace, name }: OwnPlace,
  subresource: string | undefined,
  signal: AbortSignal,
): RequestContext {
  return {
    cluster,
    served: resource.storage,
    namespace,
    name,
    subresource,
    query: NO_QUERY,
    user: { name: "system:apiserver", groups: [MASTERS] },
    userAgent: "",
    byController: true,
    warn: () => {},
    signal,
  };
}

export const ownOptions = (fieldManager: string): WriteOptions => ({
  dryRun: false,
  fieldManager,
  fieldValidation: "Ignore",
  force: false,
});

/**
 * What to store. The version that was read is not insisted on: the change is worked out again from whatever is there.
 */
export function ownChange(object: JsonObject): Change {
  const { resourceVersion: _, ...metadata } = metadataOf(object);
  return { object: { ...object, metadata }, duplicates: [], requiresVersion: false };
}
