/**
 * Chooses clusters in order while spreading them. OCM declares `spreadPolicy` and ignores it; Flotilla implements it.
 *
 * A constraint limits how many more chosen clusters a domain (a value of a label or a claim) may have than the domain
 * with the fewest. With `DoNotSchedule`, clusters that violate it or have no domain are not chosen; otherwise they are
 * chosen only if no other cluster is left.
 */
import type { ManagedCluster } from "@flotilla/ocm";
import type { SpreadConstraintsTerm } from "@flotilla/apimachinery/facts/cluster-ocm-v1beta1.ts";
import type { DeepReadonly } from "@flotilla/base";
import { claimsOf } from "./cluster-selector.ts";

type Cluster = DeepReadonly<ManagedCluster>;

interface Constraint {
  maxSkew: number;
  isHard: boolean;
  /** The number of chosen clusters per domain. */
  counts: Map<string, number>;
}

/**
 * Clusters with the same domains are equivalent for every constraint, so only the first remaining one of them can be
 * next.
 */
interface Alike {
  /** One per constraint; undefined for clusters without a domain. */
  domains: readonly (string | undefined)[];
  /** Positions in the order. */
  places: number[];
  next: number;
}

/** The first clusters of an order that satisfy the constraints, up to a number. */
export function chooseSpread(
  ordered: readonly Cluster[],
  limit: number,
  terms: readonly DeepReadonly<SpreadConstraintsTerm>[] = [],
): Cluster[] {
  const most = Math.max(0, limit);
  if (terms.length === 0) return ordered.slice(0, most);
  const constraints = terms.map(({ maxSkew = 1, whenUnsatisfiable }): Constraint => ({
    maxSkew,
    isHard: whenUnsatisfiable === "DoNotSchedule",
    counts: new Map(),
  }));
  const groups = groupAlike(ordered, terms, constraints);
  const chosen: Cluster[] = [];
  while (chosen.length < most) {
    const next = nextOf(groups, constraints);
    const cluster = next && ordered[next.places[next.next] ?? -1];
    if (!next || !cluster) break;
    next.next++;
    chosen.push(cluster);
    for (const [index, { counts }] of constraints.entries()) {
      const domain = next.domains[index];
      if (domain !== undefined) counts.set(domain, (counts.get(domain) ?? 0) + 1);
    }
  }
  return chosen;
}

function groupAlike(
  ordered: readonly Cluster[],
  terms: readonly DeepReadonly<SpreadConstraintsTerm>[],
  constraints: readonly Constraint[],
): Alike[] {
  const groups = new Map<string, Alike>();
  for (const [place, cluster] of ordered.entries()) {
    const domains = terms.map((term) => domainOf(cluster, term));
    for (const [index, domain] of domains.entries())
      if (domain !== undefined) constraints[index]?.counts.set(domain, 0);
    const id = JSON.stringify(domains.map((domain) => domain ?? null));
    const group = groups.get(id) ?? { domains, places: [], next: 0 };
    groups.set(id, group);
    group.places.push(place);
  }
  return [...groups.values()];
}

function domainOf(
  cluster: Cluster,
  { topologyKey, topologyKeyType }: DeepReadonly<SpreadConstraintsTerm>,
): string | undefined {
  const values = topologyKeyType === "Claim" ? claimsOf(cluster) : (cluster.metadata.labels ?? {});
  return Object.hasOwn(values, topologyKey) ? values[topologyKey] : undefined;
}

/** The group of the next cluster that satisfies every constraint, or else every hard one. */
function nextOf(groups: readonly Alike[], constraints: readonly Constraint[]): Alike | undefined {
  const least = constraints.map(({ counts }) => Math.min(...counts.values()));
  let [good, bearable]: [Alike | undefined, Alike | undefined] = [undefined, undefined];
  for (const group of groups) {
    if (group.next >= group.places.length) continue;
    const broken = constraints.filter(({ maxSkew, counts }, index) => {
      const domain = group.domains[index];
      return domain === undefined || (counts.get(domain) ?? 0) + 1 - (least[index] ?? 0) > maxSkew;
    });
    if (broken.length === 0) good = earlier(good, group);
    else if (!broken.some(({ isHard }) => isHard)) bearable = earlier(bearable, group);
  }
  return good ?? bearable;
}

const earlier = (a: Alike | undefined, b: Alike): Alike =>
  a && (a.places[a.next] ?? 0) < (b.places[b.next] ?? 0) ? a : b;
