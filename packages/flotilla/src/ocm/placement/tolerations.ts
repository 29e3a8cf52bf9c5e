/** Whether a Placement tolerates a cluster's taints, and until when. */
import type { ManagedCluster } from "@flotilla/ocm";
import type { Taint as ManagedClusterTaint } from "@flotilla/apimachinery/facts/cluster-ocm-v1.ts";
import type { Toleration as PlacementToleration } from "@flotilla/apimachinery/facts/cluster-ocm-v1beta1.ts";
import type { DeepReadonly } from "@flotilla/base";
import { Misconfigured } from "./misconfigured.ts";

type Tolerations = readonly DeepReadonly<PlacementToleration>[];

const PART = "TaintToleration";

export function checkTolerations(tolerations: Tolerations): void {
  for (const { key = "", operator, value = "" } of tolerations) {
    if (key === "" && operator !== "Exists")
      throw new Misconfigured(PART, "If the key is empty, operator must be Exists.");
    if (operator === "Exists" && value !== "")
      throw new Misconfigured(PART, "If the operator is Exists, the value should be empty.");
  }
}

/**
 * The time in milliseconds at which the first needed toleration expires, `Infinity` for never; undefined if a taint is
 * not tolerated.
 */
export function toleratedUntil(
  { spec }: DeepReadonly<ManagedCluster>,
  tolerations: Tolerations,
  isChosen: boolean,
  nowMs: number,
): number | undefined {
  let until = Number.POSITIVE_INFINITY;
  for (const taint of spec.taints ?? []) {
    if (taint.effect === "PreferNoSelect" || (taint.effect === "NoSelectIfNew" && isChosen)) continue;
    const ends = tolerations
      .map((toleration) => endOf(taint, toleration))
      .find((end) => end !== undefined && nowMs < end);
    if (ends === undefined) return undefined;
    until = Math.min(until, ends);
  }
  return until;
}

/** When a toleration of this taint expires; undefined if it does not match the taint. */
function endOf(
  taint: DeepReadonly<ManagedClusterTaint>,
  toleration: DeepReadonly<PlacementToleration>,
): number | undefined {
  const { key = "", operator = "Equal", value = "", effect = "", tolerationSeconds } = toleration;
  if (effect !== "" && effect !== taint.effect) return undefined;
  if (key !== "" && key !== taint.key) return undefined;
  if (operator !== "Exists" && (operator !== "Equal" || value !== (taint.value ?? ""))) return undefined;
  // A taint without a timestamp counts as added at the epoch.
  return tolerationSeconds === undefined
    ? Number.POSITIVE_INFINITY
    : Date.parse(taint.timeAdded ?? "0001-01-01T00:00:00Z") + tolerationSeconds * 1000;
}
