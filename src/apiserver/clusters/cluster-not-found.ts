import { LogicalCluster } from "../../api/index.ts";
import { notFound } from "../../machinery/index.ts";
import type { ApiError } from "../../machinery/index.ts";

/** The error for a cluster that does not exist. */
export function clusterNotFound(name: string): ApiError {
  return notFound({ group: LogicalCluster.group, resource: LogicalCluster.plural }, name);
}
