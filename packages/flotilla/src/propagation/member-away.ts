/** Whether a member is away: what it last reported may have changed since. Pure. */
import { findCondition } from "@flotilla/apimachinery";
import type { Cluster } from "@flotilla/karmada";
import type { DeepReadonly } from "@flotilla/base";

/** A member without the condition has just joined; one without a Cluster has left. */
export function isAway(cluster: DeepReadonly<Cluster> | undefined): boolean {
  const ready = findCondition(cluster?.status?.conditions ?? [], "Ready");
  return ready !== undefined && ready.status !== "True";
}
