/**
 * Which copies leave their members now: those that a replacement can follow, whose turn it is, and that have not moved too
 * often. Pure.
 */
import type { GracefulEvictionTask } from "@flotilla/apimachinery/facts/work-karmada-v1alpha2.ts";
import { formatTime, type DeepReadonly } from "@flotilla/base";
import type { ResourceBinding } from "@flotilla/karmada";
import { APPLICATION_FAILURE, nextMoveAt } from "../moves/move-pauses.ts";
import { planTask, type Departure } from "./departure.ts";
import { departureProblem } from "./find-replacement.ts";
import type { Environment } from "./find-replacement.ts";

type Binding = DeepReadonly<ResourceBinding>;

export interface DeparturePlan {
  tasks: GracefulEvictionTask[];
  /** Why others stay, as messages of events. */
  problems: readonly string[];
  /** When to decide again; infinite if nothing waits for a time. */
  requeueAfterMs: number;
}

interface FailoverEnvironment extends Environment {
  nowMs: number;
  /** How long a copy on a tainted member waits for its turn; 0 takes the turn. */
  turnMs(): number;
}

export function planDepartures(
  binding: Binding,
  departures: readonly Departure[],
  environment: FailoverEnvironment,
): DeparturePlan {
  const { nowMs, turnMs } = environment;
  const tasks: GracefulEvictionTask[] = [];
  const problems: string[] = [];
  let requeueAfterMs = Infinity;
  const next = nextMoveAt(binding, nowMs);
  for (const departure of departures) {
    if (departure.reason === APPLICATION_FAILURE && next.atMs > nowMs) {
      problems.push(
        `Evict from cluster ${departure.cluster} failed: the application is still unhealthy after ` +
          `${next.inRow} ${next.inRow === 1 ? "move" : "moves in a row"}, so it stays ` +
          `until ${formatTime(next.atMs)}`,
      );
      requeueAfterMs = Math.min(requeueAfterMs, next.atMs - nowMs);
      continue;
    }
    const planned = planTask(binding, departure, nowMs);
    const soFar = {
      ...binding,
      spec: { ...binding.spec, gracefulEvictionTasks: [...(binding.spec.gracefulEvictionTasks ?? []), ...tasks] },
    };
    const problem = departureProblem(soFar, departure, planned, environment);
    if (problem !== undefined) problems.push(`Evict from cluster ${departure.cluster} failed: ${problem}`);
    else if ("task" in planned) {
      const isPaced = departure.reason === "TaintUntolerated" && !departure.isDrain;
      const waitMs = isPaced ? turnMs() : 0;
      if (waitMs === 0) tasks.push(planned.task);
      else requeueAfterMs = Math.min(requeueAfterMs, waitMs);
    }
  }
  return { tasks, problems, requeueAfterMs };
}
