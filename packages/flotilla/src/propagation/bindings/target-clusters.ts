/**
 * The clusters that a binding's resource has, had and must no longer have. Three lists of a binding determine them: the
 * scheduled clusters, those of the bindings that require the resource, and the eviction tasks.
 */
import type {
  GracefulEvictionTask,
  ResourceBindingSpec,
  TargetCluster,
} from "@flotilla/apimachinery/facts/work-karmada-v1alpha2.ts";
import type { DeepReadonly } from "@flotilla/base";

type Spec = DeepReadonly<Pick<ResourceBindingSpec, "clusters" | "requiredBy" | "gracefulEvictionTasks">>;
type Task = DeepReadonly<GracefulEvictionTask>;

/** The copy is deleted before its replacement is created; `Immediately` is Karmada's name for it before 1.15. */
export function isPurgedDirectly({ purgeMode }: Task): boolean {
  return purgeMode === "Directly" || purgeMode === "Immediately";
}

/** Clusters that get a copy: the scheduled ones, then those of the bindings that require the resource. Each once. */
export function targetsOf({
  clusters = [],
  requiredBy,
  gracefulEvictionTasks,
}: Spec): readonly DeepReadonly<TargetCluster>[] {
  const purged = gracefulEvictionTasks?.some(isPurgedDirectly)
    ? new Set(gracefulEvictionTasks.filter(isPurgedDirectly).map(({ fromCluster }) => fromCluster))
    : undefined;
  const chosen = purged ? clusters.filter(({ name }) => !purged.has(name)) : clusters;
  if (!requiredBy?.length) return chosen;
  const targets = new Map(chosen.map((target) => [target.name, target]));
  for (const requirer of requiredBy)
    for (const target of requirer.clusters ?? []) if (!targets.has(target.name)) targets.set(target.name, target);
  return [...targets.values()];
}

/** As `targetsOf`, for readers: a copy that another object requires has no share of the replicas of that object. */
export function copiesOf(spec: Spec): readonly { name: string; replicas?: number | undefined }[] {
  const shares = new Map(spec.clusters?.map(({ name, replicas }) => [name, replicas]));
  return targetsOf(spec).map(({ name }) => ({ name, replicas: shares.get(name) }));
}

/** Clusters whose copy stays unchanged until its replacement is healthy. */
export function leftGracefully(spec: Spec): ReadonlySet<string> {
  return leaving(spec, (task) => !isPurgedDirectly(task));
}

/** Clusters whose copy must be deleted before another is created. */
export function leftDirectly(spec: Spec): ReadonlySet<string> {
  return leaving(spec, isPurgedDirectly);
}

const NOWHERE: ReadonlySet<string> = new Set();

/** A task counts once the cluster is no longer a target: nothing leaves until the scheduler found another cluster. */
function leaving(spec: Spec, counts: (task: Task) => boolean): ReadonlySet<string> {
  if (!spec.gracefulEvictionTasks?.length) return NOWHERE;
  const targets = new Set(targetsOf(spec).map(({ name }) => name));
  return new Set(
    spec.gracefulEvictionTasks
      .filter((task) => counts(task) && !targets.has(task.fromCluster))
      .map(({ fromCluster }) => fromCluster),
  );
}
