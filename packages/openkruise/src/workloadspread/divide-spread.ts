/**
 * Divides a WorkloadSpread: the limits of its subsets count the pods of the fleet, and each member gets parts in the
 * proportion in which the target workload is divided. A percentage means the same on every member and is copied.
 */
import type { KubernetesObject } from "@flotilla/apimachinery";
import { parseApiVersion } from "@flotilla/apimachinery";
import type { DeepReadonly, JsonObject } from "@flotilla/base";
import { withSpecField } from "@flotilla/kubernetes";
import type { Share } from "@flotilla/kubernetes";
import { areWhole, countsPerCluster } from "../divide/counted-pods.ts";
import { splitUpdated, sumOf } from "../divide/split-partition.ts";

export interface DividedSpread extends KubernetesObject {
  spec?: {
    targetRef?: { apiVersion?: string; kind?: string; name?: string };
    subsets?: { name?: string; maxReplicas?: number | string }[];
  };
  status?: JsonObject;
}

type Copy = DeepReadonly<DividedSpread>;

export function divideSpread(spread: Copy, given: readonly Share[]): ReadonlyMap<string, Copy> {
  const shares = given.filter(({ leaving }) => !leaving);
  const sizes = shares.map(({ workloads }) => workloads?.replicas ?? 0);
  const isCopied = countsPerCluster(spread) || areWhole(shares) || sumOf(sizes) === 0 || hasFleetOrdinals(spread);
  const subsets = spread.spec?.subsets ?? [];
  if (isCopied || !subsets.some(({ maxReplicas }) => typeof maxReplicas === "number"))
    return new Map(shares.map(({ cluster }) => [cluster, spread]));
  const limits = divideLimits(
    subsets.map(({ maxReplicas }) => (typeof maxReplicas === "number" ? Math.max(0, maxReplicas) : 0)),
    sizes,
  );
  return new Map(
    shares.map(({ cluster }, member) => {
      const own = subsets.map((subset, index) =>
        typeof subset.maxReplicas === "number" ? { ...subset, maxReplicas: limits[index]?.[member] ?? 0 } : subset,
      );
      return [cluster, withSpecField(spread, "subsets", own)];
    }),
  );
}

/**
 * The limits of each subset by member, exact in sum. The limits are divided as one row of places, so that rounding them
 * leaves no member without room for its pods.
 */
export function divideLimits(limits: readonly number[], sizes: readonly number[]): number[][] {
  const times = Math.max(1, Math.ceil(sumOf(limits) / Math.max(1, sumOf(sizes))));
  const scaled = sizes.map((size) => size * times);
  let before = sizes.map(() => 0);
  let places = 0;
  return limits.map((limit) => {
    places += limit;
    const until = splitUpdated(scaled, places);
    const parts = until.map((end, member) => end - (before[member] ?? 0));
    before = until;
    return parts;
  });
}

/** Subsets of a StatefulSet are ranges of ordinals; those of an Advanced StatefulSet exist once in the fleet. */
function hasFleetOrdinals({ spec }: Copy): boolean {
  const { apiVersion = "", kind } = spec?.targetRef ?? {};
  return kind === "StatefulSet" && parseApiVersion(apiVersion).group === "apps.kruise.io";
}
