/**
 * What a ManagedCluster says of a member that the hub reaches itself: there is no agent that would report, so it is
 * told from Karmada's Cluster of the same name, which membership keeps. Pure.
 */
import type { Cluster, ClusterClaim } from "../../api/index.ts";
import type { DeepReadonly } from "../../base/index.ts";
import { findCondition } from "../../machinery/index.ts";
import { available, clockSynced, joined, unavailable, silent } from "../registration/conditions.ts";
import type { Report } from "../registration/plan-status.ts";
import { planClaims } from "./plan-claims.ts";

/** `claims` are those that the member makes of itself; undefined while they are not known. */
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
  // Karmada's summary has what pods can use and not what the machines have; to those who compare clusters it is the
  // same.
  const allocatable = resourceSummary?.allocatable;
  return {
    // The hub's own clock is the only one there is.
    conditions: [joined, available, clockSynced(true)],
    facts: {
      version: kubernetesVersion ? { kubernetes: kubernetesVersion } : undefined,
      ...(allocatable && { capacity: allocatable, allocatable }),
      clusterClaims: claims ? planClaims(face, claims) : undefined,
    },
  };
}
