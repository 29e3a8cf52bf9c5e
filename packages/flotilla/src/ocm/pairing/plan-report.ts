/**
 * The ManagedCluster status of a member that the hub reaches itself. Without an agent to report it, it is derived from
 * Karmada's Cluster of the same name, which membership maintains. Pure.
 */
import { omitZero } from "@flotilla/base";
import type { Cluster } from "@flotilla/karmada";
import type { ClusterClaim } from "@flotilla/ocm";
import type { DeepReadonly } from "@flotilla/base";
import { findCondition } from "@flotilla/apimachinery";
import type { NextCondition } from "@flotilla/apimachinery";
import type { ManagedClusterStatus } from "@flotilla/apimachinery/facts/cluster-ocm-v1.ts";
import { available, clockSynced, joined, unavailable, silent } from "../cluster-conditions.ts";
import { planClaims } from "./plan-claims.ts";

/** Replaces an agent's report for a member without one. */
export interface Report {
  conditions: readonly NextCondition[];
  /** Unset keeps the last known values, as for an unreachable member. */
  facts?: Pick<DeepReadonly<ManagedClusterStatus>, "version" | "capacity" | "allocatable" | "clusterClaims">;
}

/** `claims` are the member's own ClusterClaims; undefined while unknown. */
export function planReport(
  face: DeepReadonly<Cluster>,
  claims: readonly DeepReadonly<ClusterClaim>[] | undefined,
): Report {
  const ready = findCondition(face.status?.conditions, "Ready");
  if (!ready) return { conditions: [] };
  if (ready.status !== "True")
    return {
      conditions: [
        joined,
        ready.status === "False" ? unavailable(ready.message ?? "") : { ...silent, message: ready.message ?? "" },
      ],
    };
  const { kubernetesVersion, resourceSummary } = face.status ?? {};
  // Karmada's summary has allocatable resources but no capacity; for comparing clusters they are equivalent.
  const allocatable = resourceSummary?.allocatable;
  return {
    // The hub's clock is the only one involved.
    conditions: [joined, available, clockSynced(true)],
    facts: {
      version: kubernetesVersion ? { kubernetes: kubernetesVersion } : undefined,
      ...omitZero({ capacity: allocatable, allocatable }),
      clusterClaims: claims ? planClaims(face, claims) : undefined,
    },
  };
}
