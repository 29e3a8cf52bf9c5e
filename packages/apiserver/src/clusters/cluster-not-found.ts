import { LogicalCluster } from "./logical-cluster-kind.ts";
import { notFound } from "@flotilla/apimachinery";
import type { ApiError } from "@flotilla/apimachinery";

/** The error for a cluster that does not exist. */
export function clusterNotFound(name: string): ApiError {
  return notFound({ group: LogicalCluster.group, resource: LogicalCluster.plural }, name);
}
