/**
 * Plans which members an object leaves because of their NoExecute taints, as failover decides it, and the state once
 * the evictions are over. Pure.
 */
import type { GracefulEvictionTask } from "@flotilla/apimachinery/facts/work-karmada-v1alpha2.ts";
import { departureProblem } from "../propagation/failover/find-replacement.ts";
import { planTask } from "../propagation/failover/departure.ts";
import type { Departure } from "../propagation/failover/departure.ts";
import { planClusterFailover } from "../propagation/failover/plan-cluster-failover.ts";
import { runsAgain } from "../propagation/jobs/finished-run.ts";
import { isJob } from "../propagation/jobs/plan-job.ts";
import type { createFleet } from "../propagation/schedule/fleet-view.ts";
import type { PlanningViews } from "../propagation/planning-views.ts";
import type { Binding } from "./planned-binding.ts";

export interface PlannedDeparture {
  cluster: string;
  /** What happens to the copy there, and why. */
  note: string;
}

interface DepartureInput {
  views: PlanningViews;
  fleet: ReturnType<typeof createFleet>;
  nowMs: number;
}

export interface DeparturePlan {
  /** With the tasks that failover would add: schedule then looks for other members. */
  binding: Binding;
  departures: PlannedDeparture[];
  /** Why it stays on members that it should leave. */
  problems: string[];
  /** When it leaves a member whose taint it tolerates for a time. */
  leavesInMs?: number | undefined;
  /** Members that it would leave if its policy had `failover.cluster`. */
  staysOn: string[];
}

/** What a hub moves that is started to move objects without `failover.cluster`, too. */
const UNASKED = { purgeMode: "Gracefully" } as const;

/** How the hub was started is not known to a plan. */
export function planDepartures(binding: Binding, { views, fleet, nowMs }: DepartureInput): DeparturePlan {
  const clusterOf = (name: string) => views.clusters.get({ cluster: views.hub, name });
  const { due, requeueAfterMs } = planClusterFailover(binding, clusterOf, undefined, nowMs);
  const environment = {
    ...views.scheduling,
    fleet,
    neighbours: views.groups.neighboursOf(views.hub, binding),
    nowMs,
  };
  const asked = new Set(due.map(({ cluster }) => cluster));
  const unasked = planClusterFailover(binding, clusterOf, UNASKED, nowMs).due.map(({ cluster }) => cluster);
  const staysOn = unasked.filter((cluster) => !asked.has(cluster));
  const plan: DeparturePlan = { binding, departures: [], problems: [], leavesInMs: requeueAfterMs, staysOn };
  for (const departure of due) {
    const planned = planTask(binding, departure, nowMs);
    const problem = departureProblem(plan.binding, departure, planned, environment);
    if (problem !== undefined) plan.problems.push(`Evict from cluster ${departure.cluster} failed: ${problem}`);
    else if ("task" in planned) {
      plan.binding = withTask(plan.binding, planned.task);
      plan.departures.push({ cluster: departure.cluster, note: noteOf(binding, departure) });
    }
  }
  return plan;
}

const withTask = (binding: Binding, task: GracefulEvictionTask): Binding => ({
  ...binding,
  spec: { ...binding.spec, gracefulEvictionTasks: [...(binding.spec.gracefulEvictionTasks ?? []), task] },
});

/** The binding once its planned evictions are over. A copy that is never purged stays, and so does its task. */
export function withoutDepartures(scheduled: Binding, departures: readonly PlannedDeparture[]): Binding {
  if (departures.length === 0) return scheduled;
  const left = new Set(departures.map(({ cluster }) => cluster));
  const targets = new Set(scheduled.spec.clusters?.map(({ name }) => name));
  const gracefulEvictionTasks = scheduled.spec.gracefulEvictionTasks?.filter(
    ({ fromCluster, purgeMode }) => !left.has(fromCluster) || targets.has(fromCluster) || purgeMode === "Never",
  );
  return { ...scheduled, spec: { ...scheduled.spec, gracefulEvictionTasks } };
}

/** Without another member only copies that are purged directly leave. Two copies of a Job would run the same completions. */
function noteOf(binding: Binding, { message, purgeMode }: Departure): string {
  const gracefully = isJob(binding.spec.resource) ? "at once" : "when its replacement is healthy";
  const rest = runsAgain(binding) ? "it runs again elsewhere" : "what is left runs elsewhere";
  return (
    `${message}; the copy is deleted ${purgeMode === "Gracefully" ? gracefully : "at once, also if no other member fits"}` +
    (isJob(binding.spec.resource) ? `; ${rest}` : "")
  );
}
