/** The server as its own client: its own changes use the normal write path, under its own identity. */
import { MASTERS_GROUP } from "@flotilla/kubernetes";
import type { JsonObject } from "@flotilla/base";
import type { LogicalCluster } from "../clusters/logical-cluster.ts";
import type { RequestContext } from "../request/context.ts";
import { conversionMemo } from "../codec/conversion.ts";
import { metadataOf } from "../codec/metadata.ts";
import type { WriteOptions } from "../request/options.ts";
import type { Resource } from "../resources/resources.ts";
import type { Change } from "./update.ts";

/** The location of an object in one of the server's clusters. */
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
    user: { name: "system:apiserver", groups: [MASTERS_GROUP] },
    userAgent: "",
    byController: true,
    conversions: conversionMemo(resource.storage),
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
 * The change to store. The resourceVersion that was read is not required: the change is computed again from the current
 * object.
 */
export function ownChange(object: JsonObject): Change {
  const { resourceVersion: _, ...metadata } = metadataOf(object);
  return { object: { ...object, metadata }, duplicates: [], requiresVersion: false };
}
