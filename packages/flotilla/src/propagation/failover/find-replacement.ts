/**
 * Whether another cluster fits an evicted resource: runs the scheduler's own plan with the task added. Pure.
 *
 * Anti-affinity groups count, affinity groups do not: their workloads are evicted one after the other, and the first
 * would wait for the last.
 *
 * Without another cluster nothing is evicted, so a fault that affects all clusters, such as an image that cannot be
 * pulled, does not remove the application from one cluster after the other.
 */
import type { GracefulEvictionTask } from "@flotilla/apimachinery/facts/work-karmada-v1alpha2.ts";
import type { ResourceBinding } from "@flotilla/karmada";
import type { DeepReadonly } from "@flotilla/base";
import { planSchedule, type ScheduleInput } from "../schedule/plan-schedule.ts";

/** The scheduler's other inputs. */
export type Environment = Omit<ScheduleInput, "binding" | "clusters" | "isStrict">;

/** Undefined when a cluster fits; otherwise the reason why none does. */
export function replacementProblem(
  binding: DeepReadonly<ResourceBinding>,
  task: GracefulEvictionTask,
  { neighbours, ...environment }: Environment,
): string | undefined {
  const { spec } = binding;
  const ordered = {
    ...binding,
    spec: { ...spec, gracefulEvictionTasks: [...(spec.gracefulEvictionTasks ?? []), task] },
  };
  const plan = planSchedule({
    ...environment,
    binding: ordered,
    neighbours: neighbours && { ...neighbours, areAllOn: () => true },
    isStrict: true,
  });
  if (plan.outcome === "unschedulable") return `no other cluster fits: ${plan.message}`;
  // A taint requires eviction; it suffices that the other clusters have their own copies.
  if (plan.outcome === "unchanged" || task.reason === "TaintUntolerated") return undefined;
  const before = new Map(spec.clusters?.map(({ name, replicas = 0 }) => [name, replicas]));
  const gains = plan.clusters.some(({ name, replicas = 0 }) => replicas > (before.get(name) ?? -1));
  return gains ? undefined : "no other cluster would run more replicas than now";
}
