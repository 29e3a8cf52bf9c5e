/**
 * Scaling down by named pods: the replicas are taken from the clusters that have these pods, whatever the strategy, so
 * that exactly these pods go. What remains to be taken is divided as usual. Pure.
 */
import type { BindingSpecView } from "./framework.ts";

type Clusters = NonNullable<BindingSpecView["clusters"]>;

/** `named`: a cluster for each named pod, in order. Returns the clusters themselves if nothing is taken. */
export function takeNamed(previous: Clusters, replicas: number, named: readonly string[]): Clusters {
  const left = new Map(previous.map(({ name, replicas: size = 0 }) => [name, size]));
  let excess = previous.reduce((sum, { replicas: size = 0 }) => sum + size, 0) - replicas;
  let isTaken = false;
  for (const cluster of named) {
    const size = left.get(cluster) ?? 0;
    if (excess <= 0 || size === 0) continue;
    left.set(cluster, size - 1);
    excess -= 1;
    isTaken = true;
  }
  return isTaken ? previous.map((target) => ({ ...target, replicas: left.get(target.name) ?? 0 })) : previous;
}
