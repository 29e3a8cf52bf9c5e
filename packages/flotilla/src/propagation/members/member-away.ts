/** Whether a member is away: what it last reported may have changed since. Pure. */
import { findCondition } from "@flotilla/apimachinery";
import { RESPONDING } from "@flotilla/karmada";
import type { Cluster } from "@flotilla/karmada";
import type { DeepReadonly } from "@flotilla/base";

/**
 * Undefined for a member that is there. One without the condition `Ready` has just joined; one without a Cluster has
 * left. A member that does not respond stays `Ready` for a while.
 */
export function whyAway(cluster: DeepReadonly<Cluster> | undefined): "not ready" | "not responding" | undefined {
  const conditions = cluster?.status?.conditions ?? [];
  const ready = findCondition(conditions, "Ready");
  if (ready !== undefined && ready.status !== "True") return "not ready";
  return findCondition(conditions, RESPONDING)?.status === "False" ? "not responding" : undefined;
}
