/** Groups the chosen clusters, and splits the groups into PlacementDecisions of at most a hundred clusters. */
import type { DecisionGroupStatus, DecisionStrategy } from "@flotilla/apimachinery/facts/cluster-ocm-v1beta1.ts";
import type { ManagedCluster } from "@flotilla/ocm";
import type { DeepReadonly } from "@flotilla/base";
import { clusterTest } from "./cluster-selector.ts";
import { Misconfigured } from "./misconfigured.ts";

type Cluster = DeepReadonly<ManagedCluster>;

/** One PlacementDecision. */
export interface PlannedDecision {
  name: string;
  groupName: string;
  groupIndex: number;
  clusters: string[];
}

export interface PlannedGroups {
  decisions: PlannedDecision[];
  status: DecisionGroupStatus[];
}

const CLUSTERS_PER_DECISION = 100;

const byName = (a: string, b: string): number => (a < b ? -1 : 1);

/**
 * Clusters that match no group come last, in groups without a name. There is always at least one group, possibly empty.
 */
export function planGroups(
  placement: string,
  { groupStrategy }: DeepReadonly<DecisionStrategy> = {},
  clusters: readonly Cluster[],
  inOrder = byName,
): PlannedGroups {
  const size = groupSize(groupStrategy?.clustersPerDecisionGroup, clusters.length);
  const left = new Set(clusters);
  const groups: { name: string; clusters: string[] }[] = [];
  const add = (name: string, members: readonly Cluster[]): void => {
    for (const part of chunks(members.map(({ metadata }) => metadata.name).toSorted(inOrder), size))
      groups.push({ name, clusters: part });
    for (const member of members) left.delete(member);
  };
  for (const { groupName, groupClusterSelector } of groupStrategy?.decisionGroups ?? [])
    add(groupName, [...left].filter(clusterTest("", groupClusterSelector)));
  add("", [...left]);
  if (groups.length === 0) groups.push({ name: "", clusters: [] });
  return nameDecisions(placement, groups);
}

/** The previous decision as one group: for a misconfigured Placement. */
export const keepDecided = (placement: string, clusters: string[]): PlannedGroups =>
  nameDecisions(placement, [{ name: "", clusters }]);

function nameDecisions(placement: string, groups: readonly { name: string; clusters: string[] }[]): PlannedGroups {
  const decisions: PlannedDecision[] = [];
  const status = groups.map(({ name: groupName, clusters }, groupIndex) => {
    const parts = clusters.length === 0 ? [[]] : chunks(clusters, CLUSTERS_PER_DECISION);
    const names = parts.map((part) => {
      const name = `${placement}-decision-${decisions.length + 1}`;
      decisions.push({ name, groupName, groupIndex, clusters: part });
      return name;
    });
    return {
      decisionGroupIndex: groupIndex,
      decisionGroupName: groupName,
      decisions: names,
      clusterCount: clusters.length,
    };
  });
  return { decisions, status };
}

/** The size of a group: a number, or a percentage of all clusters, rounded up. An invalid value means all clusters. */
function groupSize(value: string | number | undefined, total: number): number {
  const size = typeof value === "string" ? Math.ceil((percentageOf(value) / 100) * total) : (value ?? 0);
  return size > 0 && size <= total ? size : total;
}

function percentageOf(text: string): number {
  const number = text.endsWith("%") && text.length > 1 ? Number(text.slice(0, -1)) : Number.NaN;
  if (Number.isNaN(number)) throw new Misconfigured("", `${text} invalid type: string is not a percentage`);
  return number;
}

function chunks<T>(items: readonly T[], size: number): T[][] {
  return Array.from({ length: Math.ceil(items.length / size) || 0 }, (_part, index) =>
    items.slice(index * size, (index + 1) * size),
  );
}
