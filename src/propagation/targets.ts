/**
 * Where a binding's resource is, was and must no longer be. Three lists of a binding say it together: the clusters that
 * the scheduler chose, those of the bindings that need the resource, and the orders to leave a cluster.
 */
import type { GracefulEvictionTask, ResourceBindingSpec, TargetCluster } from "../api/index.ts";
import type { DeepReadonly } from "../base/index.ts";

type Spec = DeepReadonly<Pick<ResourceBindingSpec, "clusters" | "requiredBy" | "gracefulEvictionTasks">>;
type Task = DeepReadonly<GracefulEvictionTask>;

/** The copy goes before its replacement comes; `Immediately` is what Karmada called it before 1.15. */
export function isPurgedDirectly({ purgeMode }: Task): boolean {
  return purgeMode === "Directly" || purgeMode === "Immediately";
}

/**
 * Clusters that get a copy: those that the scheduler chose, then those of the bindings that need the resource. Each
 * once.
 */
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

/** Clusters whose copy stays as it is until its replacement is healthy. */
export function leftGracefully(spec: Spec): ReadonlySet<string> {
  return leaving(spec, (task) => !isPurgedDirectly(task));
}

/** Clusters whose copy must be gone before another is made. */
export function leftDirectly(spec: Spec): ReadonlySet<string> {
  return leaving(spec, isPurgedDirectly);
}

const NOWHERE: ReadonlySet<string> = new Set();

/** An order counts once the cluster is no target any more: until the scheduler found another place, nothing leaves. */
function leaving(spec: Spec, counts: (task: Task) => boolean): ReadonlySet<string> {
  if (!spec.gracefulEvictionTasks?.length) return NOWHERE;
  const targets = new Set(targetsOf(spec).map(({ name }) => name));
  return new Set(
    spec.gracefulEvictionTasks
      .filter((task) => counts(task) && !targets.has(task.fromCluster))
      .map(({ fromCluster }) => fromCluster),
  );
}
