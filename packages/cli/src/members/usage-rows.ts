/** CPU and memory usage of pods and nodes on many clusters, from `metrics.k8s.io`. Pure. */
import {
  addQuantities,
  parseQuantity,
  quantityMilliValue,
  quantityValue,
  tryParseQuantity,
} from "@flotilla/apimachinery";
import type { Quantity } from "@flotilla/apimachinery";
import type { JsonObject } from "@flotilla/base";
import { textOf, objectOf, objectsOf } from "@flotilla/base";

export interface Usage {
  cluster: string;
  namespace?: string;
  name: string;
  /** Thousandths of a core. */
  cpuMilli: number;
  memoryBytes: number;
  /** Shares of what a node has, in percent; unset for pods, and where the node was not found. */
  cpuPercent?: number;
  memoryPercent?: number;
}

const NONE = parseQuantity(0);

/** The usage of a PodMetrics or NodeMetrics object. */
export function usageOf(cluster: string, metrics: JsonObject): Usage {
  const metadata = objectOf(metrics["metadata"]);
  const usages = Array.isArray(metrics["containers"])
    ? objectsOf(metrics["containers"]).map(({ usage }) => objectOf(usage))
    : [objectOf(metrics["usage"])];
  const sum = (resource: string): Quantity =>
    usages.map((usage) => quantityIn(usage, resource)).reduce(addQuantities, NONE);
  return {
    cluster,
    namespace: textOf(metadata["namespace"]) || undefined,
    name: textOf(metadata["name"]),
    cpuMilli: Number(quantityMilliValue(sum("cpu"))),
    memoryBytes: Number(quantityValue(sum("memory"))),
  };
}

/** With the shares of the node's allocatable resources. */
export function withShares(usage: Usage, node: JsonObject | undefined): Usage {
  if (!node) return usage;
  const allocatable = objectOf(objectOf(node["status"])["allocatable"]);
  const share = (used: number, all: bigint): number | undefined =>
    all > 0n ? Math.floor((100 * used) / Number(all)) : undefined;
  return {
    ...usage,
    cpuPercent: share(usage.cpuMilli, quantityMilliValue(quantityIn(allocatable, "cpu"))),
    memoryPercent: share(usage.memoryBytes, quantityValue(quantityIn(allocatable, "memory"))),
  };
}

function quantityIn(resources: JsonObject, name: string): Quantity {
  const value = resources[name];
  if (typeof value !== "string" && typeof value !== "number") return NONE;
  return tryParseQuantity(value) ?? NONE;
}

/** As `kubectl top` prints them. */
export const cpuText = (milli: number): string => `${milli}m`;
export const memoryText = (bytes: number): string => `${Math.floor(bytes / 2 ** 20)}Mi`;
