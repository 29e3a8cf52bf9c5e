/**
 * The taints that follow a cluster's availability: a cluster that does not report, or reports that it is unhealthy, is
 * not selected. Pure.
 */
import { UNAVAILABLE_TAINT, UNREACHABLE_TAINT } from "@flotilla/ocm";
import type { Taint as ManagedClusterTaint } from "@flotilla/apimachinery/facts/cluster-ocm-v1.ts";
import type { DeepReadonly } from "@flotilla/base";

type Taints = readonly DeepReadonly<ManagedClusterTaint>[];

const AVAILABILITY_TAINTS: readonly string[] = [UNREACHABLE_TAINT, UNAVAILABLE_TAINT];
const EFFECT = "NoSelect";

const isOwn = ({ key, value = "", effect }: DeepReadonly<ManagedClusterTaint>): boolean =>
  AVAILABILITY_TAINTS.includes(key) && value === "" && effect === EFFECT;

/** A cluster that never reported counts as unreachable. Undefined if nothing changes. */
export function planAvailabilityTaints(taints: Taints, available: string | undefined): Taints | undefined {
  const wanted = available === "True" ? undefined : available === "False" ? UNAVAILABLE_TAINT : UNREACHABLE_TAINT;
  const kept = taints.filter((taint) => !isOwn(taint) || taint.key === wanted);
  const isMissing = wanted !== undefined && !kept.some(isOwn);
  if (kept.length === taints.length && !isMissing) return undefined;
  // The API server sets `timeAdded`.
  return isMissing ? [...kept, { key: wanted, effect: EFFECT }] : kept;
}
