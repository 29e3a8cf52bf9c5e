/**
 * Choosing clusters by their order while keeping them spread. OCM declares `spreadPolicy` and ignores it; here it
 * counts.
 *
 * A constraint bounds how many more clusters one domain (a value of a label or a claim) may have among the chosen than
 * the domain with the fewest. With `DoNotSchedule` a cluster that breaks it is not chosen, and neither is one without a
 * domain; otherwise such clusters are taken only when no other is left.
 */
import type { ManagedCluster, SpreadConstraintsTerm } from "../../api/index.ts";
import type { DeepReadonly } from "../../base/index.ts";
import { claimsOf } from "./cluster-selector.ts";

type Cluster = DeepReadonly<ManagedCluster>;

interface Constraint {
  maxSkew: number;
  isHard: boolean;
  /** How many of the chosen clusters each domain has. */
  counts: Map<string, number>;
}

/**
 * Clusters with the same domains are alike to every constraint, so that only the first of them that is left can be
 * next.
 */
interface Alike {
  /** For each constraint; undefined for clusters without one. */
  domains: readonly (string | undefined)[];
  /** Places in the order. */
  places: number[];
  next: number;
}

/** The first clusters of an order, at most so many, as far as the constraints let them. */
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

/** Where the next cluster is that keeps every constraint, or else every hard one. */
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
