/**
 * Parsed spread constraints: the dimension over which clusters are spread, and how many groups a selection may have.
 *
 * A group is a region, a zone, a provider, a value of a label, or a single cluster. A cluster may be in several zones
 * and then counts for each.
 */
import type { Placement } from "../framework.ts";
import type { ScoredCandidate } from "../candidate.ts";

export interface Dimension {
  /** The name in messages. */
  readonly name: string;
  readonly min: number;
  /** Infinity when the constraint sets none. */
  readonly max: number;
  groupsOf(candidate: ScoredCandidate): readonly string[];
}

type Constraint = NonNullable<Placement["spreadConstraints"]>[number];

const CLUSTER = "cluster";
/** From coarse to fine; labels come between zones and clusters. */
const FIELDS: Readonly<Record<string, Dimension["groupsOf"]>> = {
  provider: ({ cluster }) => (cluster.spec?.provider ? [cluster.spec.provider] : []),
  region: ({ cluster }) => (cluster.spec?.region ? [cluster.spec.region] : []),
  zone: ({ cluster }) => [...new Set(cluster.spec?.zones)],
};

export interface Spread {
  /** The dimensions that Karmada itself supports. */
  readonly region: Dimension | undefined;
  readonly cluster: Dimension | undefined;
  /** All constraints that a selection must satisfy, from coarse to fine. */
  readonly all: readonly Dimension[];
}

/** For a field that is constrained twice the last constraint counts; admission rejects such a placement. */
export function readSpread(constraints: readonly Constraint[]): Spread {
  const byField = new Map<string, Constraint>(
    constraints
      .filter(({ spreadByLabel }) => !spreadByLabel)
      .map((constraint) => [constraint.spreadByField || CLUSTER, constraint]),
  );
  const byLabel = new Map(
    constraints.flatMap((constraint) => (constraint.spreadByLabel ? [[constraint.spreadByLabel, constraint]] : [])),
  );
  const fields = Object.entries(FIELDS).flatMap(([field, groupsOf]) => dimension(field, byField.get(field), groupsOf));
  const labels = Array.from(byLabel, ([label, constraint]) =>
    dimension(`label ${label}`, constraint, ({ cluster }) => labelGroups(cluster.metadata.labels, label)),
  ).flat();
  const [cluster] = dimension(CLUSTER, byField.get(CLUSTER), ({ cluster }) => [cluster.name]);
  return {
    region: fields.find(({ name }) => name === "region"),
    cluster,
    all: [...fields, ...labels, ...(cluster ? [cluster] : [])],
  };
}

/**
 * Zero means unset: then at least one group, and as many as there are. Karmada treats a missing maximum as zero and
 * fails.
 */
function dimension(name: string, constraint: Constraint | undefined, groupsOf: Dimension["groupsOf"]): Dimension[] {
  return constraint
    ? [{ name, min: Math.max(1, constraint.minGroups ?? 0), max: constraint.maxGroups || Infinity, groupsOf }]
    : [];
}

function labelGroups(labels: Readonly<Record<string, string>> | undefined, key: string): string[] {
  const value = labels && Object.hasOwn(labels, key) ? labels[key] : undefined;
  return value === undefined ? [] : [value];
}

/** The candidates of each group, in input order. */
export function groupCandidates(
  { groupsOf }: Dimension,
  candidates: readonly ScoredCandidate[],
): Map<string, ScoredCandidate[]> {
  const groups = new Map<string, ScoredCandidate[]>();
  for (const candidate of candidates) {
    for (const name of groupsOf(candidate)) {
      const group = groups.get(name);
      if (group) group.push(candidate);
      else groups.set(name, [candidate]);
    }
  }
  return groups;
}

export function countGroups({ groupsOf }: Dimension, candidates: readonly ScoredCandidate[]): number {
  const groups = new Set<string>();
  for (const candidate of candidates) for (const group of groupsOf(candidate)) groups.add(group);
  return groups.size;
}

/** The first dimension with too few or too many groups in the selection. */
export function findViolation(
  dimensions: readonly Dimension[],
  selection: readonly ScoredCandidate[],
): Dimension | undefined {
  return dimensions.find((dimension) => {
    const count = countGroups(dimension, selection);
    return count < dimension.min || count > dimension.max;
  });
}
