/**
 * Choosing clusters by their order while keeping them spread. OCM declares `spreadPolicy` and ignores it; here it counts.
 *
 * A constraint bounds how many more clusters one domain (a value of a label or a claim) may have among the chosen than the domain with
 * the fewest. With `DoNotSchedule` a cluster that breaks it is not chosen, and neither is one without a domain; otherwise such
 * clusters are taken only when no other is left.
 */
import type { ManagedCluster, SpreadConstraintsTerm } from "../../api/index.ts";
import type { DeepReadonly } from "../../base/index.ts";
import { claimsOf } from "./cluster-selector.ts";

type Cluster = DeepReadonly<ManagedCluster>;

interface Constraint {
  maxSkew: number;
  isHard: boolean;
  domainOf: ReadonlyMap<Cluster, string>;
  counts: Map<string, number>;
}

/** The first clusters of an order, at most so many, as far as the constraints let them. */
export function chooseSpread(ordered: readonly Cluster[], limit: number, terms: readonly DeepReadonly<SpreadConstraintsTerm>[] = []): Cluster[] {
  if (terms.length === 0) return ordered.slice(0, limit);
  const constraints = terms.map((term) => readConstraint(term, ordered));
  const left = new Set(ordered);
  const chosen: Cluster[] = [];
  while (chosen.length < limit) {
    const next = firstThat(left, (cluster) => constraints.every((constraint) => keeps(constraint, cluster))) ?? firstThat(left, (cluster) => constraints.every((constraint) => !constraint.isHard || keeps(constraint, cluster)));
    if (!next) break;
    left.delete(next);
    chosen.push(next);
    for (const { domainOf, counts } of constraints) {
      const domain = domainOf.get(next);
      if (domain !== undefined) counts.set(domain, (counts.get(domain) ?? 0) + 1);
    }
  }
  return chosen;
}

function readConstraint({ topologyKey, topologyKeyType, maxSkew = 1, whenUnsatisfiable }: DeepReadonly<SpreadConstraintsTerm>, clusters: readonly Cluster[]): Constraint {
  const valueOf = (cluster: Cluster): string | undefined => (topologyKeyType === "Claim" ? claimsOf(cluster) : (cluster.metadata.labels ?? {}))[topologyKey];
  const domainOf = new Map(clusters.flatMap((cluster): [Cluster, string][] => {
    const domain = valueOf(cluster);
    return domain === undefined ? [] : [[cluster, domain]];
  }));
  return { maxSkew, isHard: whenUnsatisfiable === "DoNotSchedule", domainOf, counts: new Map([...domainOf.values()].map((domain) => [domain, 0])) };
}

function keeps({ maxSkew, domainOf, counts }: Constraint, cluster: Cluster): boolean {
  const domain = domainOf.get(cluster);
  return domain !== undefined && (counts.get(domain) ?? 0) + 1 - Math.min(...counts.values()) <= maxSkew;
}

function firstThat(clusters: Iterable<Cluster>, isGood: (cluster: Cluster) => boolean): Cluster | undefined {
  for (const cluster of clusters) if (isGood(cluster)) return cluster;
  return undefined;
}
