/**
 * Divides a UnitedDeployment: every member gets all subsets in declared order, with each subset's numbers split over
 * the members. Percentages become whole numbers here, because rounding them in each cluster would not add up.
 */
import { defined } from "@flotilla/base";
import type { DeepReadonly } from "@flotilla/base";
import { withSpecField } from "@flotilla/kubernetes";
import type { PodTemplateShape, Share, Workload } from "@flotilla/kubernetes";
import { digestOf, stageIn, withStage } from "../divide/release.ts";
import { rolloutOrderOf, type RolloutOrder } from "../divide/rollout-order.ts";
import { countsPerCluster, isDuplicated, stayingOf } from "../divide/counted-pods.ts";
import { isElastic, shareSubsets, type Subset, type SubsetShare } from "./subset-shares.ts";
import { splitStage } from "../divide/split-stage.ts";

interface WorkloadTemplate {
  spec?: { template?: PodTemplateShape };
}
export interface SubsetWorkload extends Omit<Workload, "spec"> {
  spec?: {
    replicas?: number;
    template?: PodTemplateShape &
      Partial<
        Record<
          "statefulSetTemplate" | "advancedStatefulSetTemplate" | "cloneSetTemplate" | "deploymentTemplate",
          WorkloadTemplate
        >
      >;
    topology?: { subsets?: Subset[] };
    updateStrategy?: { manualUpdate?: { partitions?: Record<string, number> } };
  };
}

type Copy = DeepReadonly<SubsetWorkload>;
type Partitions = Readonly<Record<string, number>>;

export function divideSubsets(object: Copy, given: readonly Share[]): ReadonlyMap<string, Copy> {
  const shares = stayingOf(given);
  const { spec = {} } = object;
  const subsets = spec.topology?.subsets ?? [];
  if (subsets.length === 0 || countsPerCluster(object) || isDuplicated(shares, spec.replicas ?? 1)) {
    return new Map(shares.map(({ cluster, replicas }) => [cluster, withSpecField(object, "replicas", replicas)]));
  }
  const order = rolloutOrderOf(object, shares);
  const partitions: Partitions = spec.updateStrategy?.manualUpdate?.partitions ?? {};
  const stage = formatPartitions(partitions);
  const digest = stage ? digestOf(spec.template) : "";
  const stamped = <T extends Copy>(copy: T): T => (stage ? withStage(copy, digest, stage) : copy);
  // A single cluster has all of every subset and resolves the numbers itself.
  if (shares.length < 2)
    return new Map(
      shares.map(({ cluster, replicas }) => [cluster, stamped(withSpecField(object, "replicas", replicas))]),
    );
  const split = shareSubsets(
    subsets,
    shares.map(({ replicas }) => replicas),
  );
  const own = splitPartitions(subsets, shares, { partitions, order, split, digest });
  return new Map(
    shares.map(({ cluster, replicas }, index) => {
      const placed = {
        ...object,
        spec: { ...spec, replicas, topology: { ...spec.topology, subsets: subsetsFor(subsets, split, index) } },
      };
      if (!spec.updateStrategy?.manualUpdate?.partitions) return [cluster, placed];
      return [
        cluster,
        stamped(
          withSpecField(placed, "updateStrategy", {
            ...spec.updateStrategy,
            manualUpdate: { ...spec.updateStrategy.manualUpdate, partitions: own[index] },
          }),
        ),
      ];
    }),
  );
}

/** The last subset without replicas stays open: it takes the remainder, also where an override changes the replicas. */
function subsetsFor(
  subsets: readonly DeepReadonly<Subset>[],
  split: readonly (readonly SubsetShare[])[],
  index: number,
): DeepReadonly<Subset>[] {
  const open = isElastic(subsets) ? -1 : subsets.findLastIndex(({ replicas }) => replicas === undefined);
  return subsets.map((subset, position) => {
    const { pods = 0, limits } = split[position]?.[index] ?? {};
    if (position === open) return subset;
    if (!limits || subset.replicas !== undefined) return { ...subset, replicas: pods };
    return {
      ...subset,
      ...defined({ minReplicas: subset.minReplicas === undefined ? undefined : limits.min, maxReplicas: limits.max }),
    };
  });
}

interface PartitionedSubsets {
  readonly partitions: Partitions;
  readonly order: RolloutOrder;
  readonly split: readonly (readonly SubsetShare[])[];
  readonly digest: string;
}

/** By member: the number of pods of each subset that stay at the old revision. */
function splitPartitions(
  subsets: readonly DeepReadonly<Subset>[],
  shares: readonly Share[],
  { partitions, order, split, digest }: PartitionedSubsets,
): Record<string, number>[] {
  const own = shares.map((): [string, number][] => []);
  for (const [position, { name = "" }] of subsets.entries()) {
    if (!Object.hasOwn(partitions, name)) continue;
    const sizes = (split[position] ?? []).map(({ pods }) => pods);
    const updated = splitStage(shares, {
      sizes,
      order,
      partition: partitions[name] ?? 0,
      partitionBefore: (copy) => partitionIn(stageIn(copy, digest), name),
      updatedBy: (copy) => updatedIn(copy, name),
    });
    for (const [index, size] of sizes.entries()) own[index]?.push([name, size - (updated[index] ?? 0)]);
  }
  return own.map((entries) => Object.fromEntries(entries));
}

/**
 * The number of pods that a copy lets its member update in a subset. A subset that takes the remainder counts with its
 * partition.
 */
function updatedIn({ spec }: Copy, name: string): number {
  const subsets = spec?.topology?.subsets ?? [];
  const subset = subsets.find((each) => each.name === name);
  const others = subsets.reduce(
    (sum, each) => sum + (each === subset || typeof each.replicas !== "number" ? 0 : each.replicas),
    0,
  );
  const pods = typeof subset?.replicas === "number" ? subset.replicas : (spec?.replicas ?? 1) - others;
  const partitions: Partitions = spec?.updateStrategy?.manualUpdate?.partitions ?? {};
  return Math.max(0, pods - (Object.hasOwn(partitions, name) ? (partitions[name] ?? 0) : 0));
}

/** `a=3&b=4`, sorted by name; empty when nothing is kept back. */
function formatPartitions(partitions: Partitions): string {
  const staged = Object.entries(partitions).filter(([, count]) => count > 0);
  return new URLSearchParams(
    staged.map(([name, count]): [string, string] => [name, String(count)]).sort(([a], [b]) => (a < b ? -1 : 1)),
  ).toString();
}

function partitionIn(stage: string | undefined, name: string): number | undefined {
  if (stage === undefined) return undefined;
  const count = Number(new URLSearchParams(stage).get(name) ?? 0);
  return Number.isSafeInteger(count) ? count : undefined;
}
