/** Scores between -100 and 100 that order the feasible clusters. */
import type { AddOnPlacementScore, ManagedCluster } from "@flotilla/ocm";
import type { PrioritizerPolicy, ScoreCoordinate } from "@flotilla/apimachinery/facts/cluster-ocm-v1beta1.ts";
import type { DeepReadonly } from "@flotilla/base";
import { tryParseQuantity } from "@flotilla/apimachinery";
import { Misconfigured } from "./misconfigured.ts";

type Cluster = DeepReadonly<ManagedCluster>;

/** Inputs of a score besides the clusters themselves. */
export interface ScoreSources {
  /** Clusters that this Placement has chosen. */
  chosen: ReadonlySet<string>;
  /** The number of decisions of other Placements that contain a cluster, and the maximum over all clusters. */
  decisionsOf(cluster: string): number;
  mostDecisions: number;
  scoreObjectOf(cluster: string, name: string): DeepReadonly<AddOnPlacementScore> | undefined;
  nowMs: number;
}

export interface Prioritizer {
  name: string;
  weight: number;
  /** Clusters missing from the result score 0. */
  score(clusters: readonly Cluster[], sources: ScoreSources): Map<string, number>;
}

type Score = Prioritizer["score"];

const MAX_SCORE = 100;
const RESOURCES: Readonly<Record<string, string>> = {
  ResourceAllocatableCPU: "cpu",
  ResourceAllocatableMemory: "memory",
};

/** The effective prioritizers. Throws `Misconfigured` for an unknown one. */
export function prioritizersOf({
  mode = "Additive",
  configurations = [],
}: DeepReadonly<PrioritizerPolicy> = {}): Prioritizer[] {
  if (mode !== "Additive" && mode !== "Exact" && mode !== "")
    throw new Misconfigured("", `incorrect prioritizer policy mode: ${mode}`);
  const builtIn = new Map(
    mode === "Exact"
      ? []
      : [
          ["Balance", 1],
          ["Steady", 1],
        ],
  );
  const addOns: Prioritizer[] = [];
  for (const { scoreCoordinate, weight = 0 } of configurations) {
    if (!scoreCoordinate) throw new Misconfigured("", "scoreCoordinate field is required");
    if (scoreCoordinate.type === "BuiltIn") builtIn.set(scoreCoordinate.builtIn ?? "", weight);
    else if (weight !== 0) addOns.push(addOnPrioritizer(scoreCoordinate, weight));
  }
  return [...builtIn]
    .filter(([, weight]) => weight !== 0)
    .map(([name, weight]): Prioritizer => ({ name, weight, score: builtInScore(name) }))
    .concat(addOns);
}

function builtInScore(name: string): Score {
  if (name === "Balance") return scoreBalance;
  if (name === "Steady")
    return (clusters, { chosen }) =>
      scoreEach(clusters, (cluster) => (chosen.has(cluster.metadata.name) ? MAX_SCORE : 0));
  const resource = Object.hasOwn(RESOURCES, name) ? RESOURCES[name] : undefined;
  if (resource === undefined) throw new Misconfigured("", `incorrect builtin prioritizer: ${name}`);
  return (clusters) => scoreRoom(clusters, resource);
}

function addOnPrioritizer({ addOn }: DeepReadonly<ScoreCoordinate>, weight: number): Prioritizer {
  if (!addOn) throw new Misconfigured("", "addOn should not be empty");
  const { resourceName, scoreName } = addOn;
  return {
    name: `AddOn/${resourceName}/${scoreName}`,
    weight,
    score: (clusters, { scoreObjectOf, nowMs }) =>
      scoreEach(clusters, ({ metadata: { name } }) => {
        const status = scoreObjectOf(name, resourceName)?.status;
        if (!status || (status.validUntil !== undefined && nowMs > Date.parse(status.validUntil))) return 0;
        return status.scores?.findLast((score) => score.name === scoreName)?.value ?? 0;
      }),
  };
}

const scoreEach = (clusters: readonly Cluster[], score: (cluster: Cluster) => number): Map<string, number> =>
  new Map(clusters.map((cluster) => [cluster.metadata.name, score(cluster)]));

const scoreBalance: Score = (clusters, { decisionsOf, mostDecisions }) =>
  scoreEach(clusters, ({ metadata: { name } }) => {
    const count = decisionsOf(name);
    return count === 0 ? MAX_SCORE : 2 * Math.trunc(MAX_SCORE * (0.5 - count / mostDecisions));
  });

/** Scaled from the least (-100) to the most (100) free amount of a resource among the clusters. */
function scoreRoom(clusters: readonly Cluster[], resource: string): Map<string, number> {
  const rooms = clusters.flatMap(({ metadata: { name }, status }): [string, number][] => {
    const [allocatable, capacity] = [status?.allocatable?.[resource], status?.capacity?.[resource]];
    const quantity = allocatable === undefined || capacity === undefined ? undefined : tryParseQuantity(allocatable);
    return quantity ? [[name, Number(quantity.mantissa) * 10 ** quantity.exponent]] : [];
  });
  const least = Math.min(...rooms.map(([, room]) => room));
  const most = Math.max(...rooms.map(([, room]) => room));
  return new Map(
    rooms.map(([name, room]) => [
      name,
      most === least ? MAX_SCORE : Math.trunc(((room - least) / (most - least) - 0.5) * 2 * MAX_SCORE),
    ]),
  );
}

/** Expired add-on scores, for a warning, and when the next one expires. */
export function scoreExpiry(
  { configurations = [] }: DeepReadonly<PrioritizerPolicy> = {},
  clusters: readonly Cluster[],
  { scoreObjectOf, nowMs }: Pick<ScoreSources, "scoreObjectOf" | "nowMs">,
): { warning?: string; nextMs: number } {
  const names = new Set(
    configurations.flatMap(({ scoreCoordinate, weight }) =>
      scoreCoordinate?.addOn && weight !== 0 ? [scoreCoordinate.addOn.resourceName] : [],
    ),
  );
  const expired: string[] = [];
  let nextMs = Number.POSITIVE_INFINITY;
  for (const resource of names) {
    for (const {
      metadata: { name },
    } of clusters) {
      const validUntil = scoreObjectOf(name, resource)?.status?.validUntil;
      if (validUntil === undefined) continue;
      if (nowMs > Date.parse(validUntil)) expired.push(`${name}/${resource}`);
      else nextMs = Math.min(nextMs, Date.parse(validUntil) + 1);
    }
  }
  return { warning: expired.length > 0 ? `AddOnPlacementScores ${expired.join(" ")} expired` : undefined, nextMs };
}
