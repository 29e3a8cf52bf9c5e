/**
 * Whether there is a place for what leaves a cluster: the scheduler's own plan is asked, with the order already given.
 * Pure.
 *
 * Who must be apart from a workload group counts, who must be together does not: the members of such a group are
 * ordered to leave one after the other, and the first would wait for the last.
 *
 * Without a place to go to nothing leaves, so a fault that is everywhere, such as an image that cannot be pulled, does
 * not take the application off one cluster after the other.
 */
import type { GracefulEvictionTask, ResourceBinding } from "../../api/index.ts";
import type { DeepReadonly } from "../../base/index.ts";
import { planSchedule, type ScheduleInput } from "../schedule/plan-schedule.ts";

/** What the scheduler would look at. */
export type Surroundings = Omit<ScheduleInput, "binding" | "clusters" | "isStrict">;

/** Undefined when there is a place; otherwise why there is none. */
export function replacementProblem(
  binding: DeepReadonly<ResourceBinding>,
  task: GracefulEvictionTask,
  { neighbours, ...surroundings }: Surroundings,
): string | undefined {
  const { spec } = binding;
  const ordered = {
    ...binding,
    spec: { ...spec, gracefulEvictionTasks: [...(spec.gracefulEvictionTasks ?? []), task] },
  };
  const plan = planSchedule({
    ...surroundings,
    binding: ordered,
    neighbours: neighbours && { ...neighbours, areAllOn: () => true },
    isStrict: true,
  });
  if (plan.outcome === "unschedulable") return `there is no other place: ${plan.message}`;
  // A taint is an order to leave; that the others have copies of their own is enough.
  if (plan.outcome === "unchanged" || task.reason === "TaintUntolerated") return undefined;
  const before = new Map(spec.clusters?.map(({ name, replicas = 0 }) => [name, replicas]));
  const gains = plan.clusters.some(({ name, replicas = 0 }) => replicas > (before.get(name) ?? -1));
  return gains ? undefined : "no other cluster would run more of it than now";
}
