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
import { SCHEDULER_NAME } from "../schedule/plan-patch.ts";
import { planSchedule, type ScheduleInput } from "../schedule/plan-schedule.ts";

import type { Departure, planTask } from "./departure.ts";

/** The scheduler's other inputs. */
export type Environment = Omit<ScheduleInput, "binding" | "clusters" | "isStrict">;

/** Why an eviction task is not created; undefined if it is. */
export function departureProblem(
  binding: DeepReadonly<ResourceBinding>,
  { reason, purgeMode }: Departure,
  planned: ReturnType<typeof planTask>,
  environment: Environment,
): string | undefined {
  const problem = schedulingProblem(binding);
  if (problem !== undefined) return problem;
  if ("problem" in planned) return planned.problem;
  // A taint with purge mode Directly evicts at once, even without another cluster.
  const isUnconditional = reason === "TaintUntolerated" && purgeMode === "Directly";
  return isUnconditional ? undefined : replacementProblem(binding, planned.task, environment);
}

/** Why the scheduler would not act on an eviction task; then none is created. */
function schedulingProblem({ spec }: DeepReadonly<ResourceBinding>): string | undefined {
  if (spec.suspension?.scheduling) return "scheduling of the binding is suspended";
  const { schedulerName = SCHEDULER_NAME } = spec;
  return schedulerName === SCHEDULER_NAME
    ? undefined
    : `failover is not supported for resources placed by the scheduler ${schedulerName}`;
}

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
