/**
 * Divides a UnitedDeployment: every member gets all subsets, and the numbers of a subset are split over the members so that
 * they add up to what the template says and fit each member's replicas. Percentages become whole numbers here, because
 * rounding them in each cluster would not add up.
 */
import type { DeepReadonly } from "../../base/index.ts";
import { InterpretError } from "../interpret-error.ts";
import type { Share } from "../kind-interpreter.ts";
import { withSpecField, type PodTemplateShape, type Workload } from "../workload.ts";
import { countsPerCluster, isDuplicated } from "./scope.ts";
import { splitUpdated, type IntOrPercent } from "./split-partition.ts";

interface WorkloadTemplate {
  spec?: { template?: PodTemplateShape };
}
interface Subset {
  name?: string;
  replicas?: IntOrPercent;
  minReplicas?: IntOrPercent;
  maxReplicas?: IntOrPercent;
}
export interface SubsetWorkload extends Omit<Workload, "spec"> {
  spec?: {
    replicas?: number;
    template?: PodTemplateShape & Partial<Record<"statefulSetTemplate" | "advancedStatefulSetTemplate" | "cloneSetTemplate" | "deploymentTemplate", WorkloadTemplate>>;
    topology?: { subsets?: Subset[] };
    updateStrategy?: { manualUpdate?: { partitions?: Record<string, number> } };
  };
}

type Copy = DeepReadonly<SubsetWorkload>;

export function divideSubsets(object: Copy, shares: readonly Share[]): ReadonlyMap<string, Copy> {
  const { spec = {} } = object;
  const subsets = spec.topology?.subsets ?? [];
  if (subsets.length === 0 || countsPerCluster(object) || isDuplicated(shares, spec.replicas ?? 1)) {
    return new Map(shares.map(({ cluster, replicas }) => [cluster, withSpecField(object, "replicas", replicas)]));
  }
  const sizes = shares.map(({ replicas }) => replicas);
  const total = sizes.reduce((sum, size) => sum + size, 0);
  const split = splitReplicas(subsets, sizes, total);
  const limits = subsets.map(({ minReplicas, maxReplicas }) => {
    const min = minReplicas === undefined ? undefined : splitUpdated(sizes, amountOf(minReplicas, total));
    const max = maxReplicas === undefined ? undefined : splitUpdated(sizes, amountOf(maxReplicas, total));
    return { min, max };
  });
  const partitions = splitPartitions(spec.updateStrategy?.manualUpdate?.partitions ?? {}, subsets, split);
  return new Map(
    shares.map(({ cluster, replicas }, index) => {
      const own = subsets.map((subset, position) => {
        const { min, max } = limits[position] ?? {};
        const minReplicas = min?.[index];
        return {
          ...subset,
          ...(subset.replicas !== undefined && { replicas: split[position]?.[index] ?? 0 }),
          ...(minReplicas !== undefined && { minReplicas }),
          ...(max && { maxReplicas: Math.max(minReplicas ?? 0, max[index] ?? 0) }),
        };
      });
      const placed = withSpecField(withSpecField(object, "replicas", replicas), "topology", { ...spec.topology, subsets: own });
      const ownPartitions = partitions[index];
      if (!spec.updateStrategy?.manualUpdate?.partitions || !ownPartitions) return [cluster, placed];
      return [cluster, withSpecField(placed, "updateStrategy", { ...spec.updateStrategy, manualUpdate: { ...spec.updateStrategy.manualUpdate, partitions: ownPartitions } })];
    }),
  );
}

/** Replicas by subset and member. Subsets that name none share what is left, as a member would share it. */
function splitReplicas(subsets: readonly DeepReadonly<Subset>[], sizes: readonly number[], total: number): number[][] {
  const rest = [...sizes];
  const take = (amount: number): number[] => {
    const taken = splitUpdated(rest, Math.min(amount, rest.reduce((sum, size) => sum + size, 0)));
    for (const [index, count] of taken.entries()) rest[index] = (rest[index] ?? 0) - count;
    return taken;
  };
  const named = new Map(subsets.flatMap(({ replicas }, position) => (replicas === undefined ? [] : [[position, take(amountOf(replicas, total))] as const])));
  const open = subsets.length - named.size;
  let unnamed = 0;
  return subsets.map((_subset, position) => {
    const own = named.get(position);
    if (own) return own;
    const left = rest.reduce((sum, size) => sum + size, 0);
    return take(Math.floor(left / (open - unnamed++)));
  });
}

/** By member: how many pods of each subset stay at the old revision. */
function splitPartitions(partitions: Readonly<Record<string, number>>, subsets: readonly DeepReadonly<Subset>[], split: readonly number[][]): Record<string, number>[] {
  const members = split[0]?.length ?? 0;
  const own = Array.from({ length: members }, (): Record<string, number> => ({}));
  for (const [position, { name = "" }] of subsets.entries()) {
    if (!Object.hasOwn(partitions, name)) continue;
    const sizes = split[position] ?? [];
    const total = sizes.reduce((sum, size) => sum + size, 0);
    const updated = splitUpdated(sizes, total - Math.min(total, Math.max(0, partitions[name] ?? 0)));
    for (const [index, size] of sizes.entries()) Object.assign(own[index] ?? {}, { [name]: size - (updated[index] ?? 0) });
  }
  return own;
}

/** Halves of a percentage are rounded up, as the kind does. */
function amountOf(value: IntOrPercent, total: number): number {
  if (typeof value === "number") return Math.min(Math.max(0, value), total);
  const percent = /^(\d{1,3})%$/.exec(value)?.[1];
  if (percent === undefined) throw new InterpretError(`dividing subsets: ${JSON.stringify(value)} is neither a number nor a whole percentage`);
  return Math.min(total, Math.floor((Number(percent) * total) / 100 + 0.5));
}
