/** Free capacity of a member, read from its Cluster once per change and used for every binding. */
import type { Cluster } from "@flotilla/karmada";
import type { ClusterSpec } from "@flotilla/apimachinery/facts/cluster-karmada-v1alpha1.ts";
import type { DeepReadonly } from "@flotilla/base";
import { PODS, readAmounts, readAmountsOf, readFree, type Amounts } from "./amounts.ts";

/** The fields of a Cluster that estimation reads. */
export type MeasuredCluster = DeepReadonly<{
  spec?: Pick<ClusterSpec, "resourceModels">;
  status?: Pick<NonNullable<Cluster["status"]>, "resourceSummary">;
}>;

/** Nodes of one grade: each has at least this much free. */
export interface NodeGroup {
  readonly count: number;
  readonly free: Amounts;
}

export interface Capacity {
  /** Pods that may still be created; 0 when the limit is exceeded. */
  readonly pods: number;
  /** Over all nodes. A resource that is not listed does not exist on the member. */
  readonly free: Amounts;
  /** The same by node, smallest first, when the member reports node counts by grade. */
  readonly nodes?: readonly NodeGroup[];
}

/** The pod limit per node that Kubernetes recommends; the number of running pods of a graded node is unknown. */
const PODS_PER_NODE = 110;

/** Undefined when the member has not reported its resources: nothing is known to fit there. */
export function readCapacity({ spec, status }: MeasuredCluster): Capacity | undefined {
  const summary = status?.resourceSummary;
  if (!summary) return undefined;
  const { allocatable, allocated, allocating } = summary;
  const free = readFree(allocatable, allocated, allocating);
  const taken = (readAmounts(allocated).get(PODS) ?? 0) + (readAmounts(allocating).get(PODS) ?? 0);
  const pods = Math.max(0, (readAmounts(allocatable).get(PODS) ?? 0) - taken);
  const nodes = readNodes(spec?.resourceModels ?? [], summary.allocatableModelings ?? []);
  return { pods, free, nodes };
}

type Models = NonNullable<NonNullable<MeasuredCluster["spec"]>["resourceModels"]>;
type Counts = DeepReadonly<{ grade: number; count: number }[]>;

/** Undefined without models, or with invalid counts: then only the sum over all nodes is known. */
function readNodes(models: Models, counts: Counts): NodeGroup[] | undefined {
  if (models.length === 0 || counts.length === 0 || counts.some(({ count }) => count < 0)) return undefined;
  const countOf = new Map<number, number>();
  for (const { grade, count } of counts) countOf.set(grade, (countOf.get(grade) ?? 0) + count);
  const groups: NodeGroup[] = [];
  for (const { grade, ranges } of models.toSorted((a, b) => a.grade - b.grade)) {
    const count = countOf.get(grade) ?? 0;
    // A node of a grade has at least the grade's minimum free; more is not assumed.
    if (count > 0)
      groups.push({
        count,
        free: readAmountsOf(ranges.map(({ name, min }) => [name, min] as const)).set(PODS, PODS_PER_NODE),
      });
  }
  return groups;
}

/** Whether something may fit that did not fit before. */
export function hasGrown(before: Capacity | undefined, after: Capacity | undefined): boolean {
  if (!after || before === after) return false;
  if (!before || after.pods > before.pods || isMore(before.free, after.free)) return true;
  const { nodes: groups = [] } = after;
  return groups.some((group, index) => {
    const old = before.nodes?.[index];
    return !old || group.count > old.count || isMore(old.free, group.free);
  });
}

function isMore(before: Amounts, after: Amounts): boolean {
  for (const [name, amount] of after) if (amount > (before.get(name) ?? 0)) return true;
  return false;
}
