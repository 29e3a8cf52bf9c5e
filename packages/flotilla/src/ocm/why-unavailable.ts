/** Whether what a cluster reported last may have changed since. Pure. */
import { findCondition } from "@flotilla/apimachinery";
import type { ManagedCluster } from "@flotilla/ocm";
import type { DeepReadonly } from "@flotilla/base";
import { AVAILABLE } from "./cluster-conditions.ts";

/** Undefined for a cluster that is there; one that has never reported has just joined, and one without an object has left. */
export function whyUnavailable(
  cluster: DeepReadonly<Pick<ManagedCluster, "status">> | undefined,
): "not available" | "not reporting" | undefined {
  const found = findCondition(cluster?.status?.conditions, AVAILABLE);
  if (!found || found.status === "True") return undefined;
  return found.status === "False" ? "not available" : "not reporting";
}
