/** The state of a release that one planning works on. */
import type { DeepReadonly } from "@flotilla/base";
import type { FleetRolloutStatus, RolloutCluster } from "../kinds/fleet-rollout.ts";
import type { StrategySpec } from "../kinds/strategy-fields.ts";
import type { ObservedMember, ReleaseEvent, ReleaseInput } from "./release-state.ts";

/** A strategy that was removed from the object by hand: everything at once, and a failure pauses. */
export const NO_STRATEGY: DeepReadonly<StrategySpec> = {
  waves: [{ name: "all" }],
  order: "Spread",
  unit: "Pods",
  failure: {
    action: "Pause",
    progressDeadline: "10m",
    maxUnhealthy: 0,
    unhealthyFor: "15s",
    maxRestarts: 3,
    onUnreachable: "Fail",
  },
};

export type Entry = RolloutCluster;

/**
 * Whether a member has the revision before assigned by a rollback, and is not known to be back on it. One that is back
 * has no time of progress any more: without pods, nothing else distinguishes it from one that has not answered.
 */
export const isReturning = ({ state, returned, progressTime }: DeepReadonly<Entry>): boolean =>
  state === "RollingBack" || (state === "Unreachable" && returned !== undefined && progressTime !== undefined);

export interface Release {
  readonly input: ReleaseInput;
  readonly self: string;
  readonly previous: string | undefined;
  readonly strategy: DeepReadonly<StrategySpec>;
  readonly members: ReadonlyMap<string, ObservedMember>;
  readonly entries: Entry[];
  readonly status: FleetRolloutStatus;
  readonly now: string;
  readonly events: ReleaseEvent[];
  /** Asks to plan again after this time at the latest. */
  wake(inMs: number): void;
}

/** The member may have all its pods on its revision. */
export function withoutLimit(entry: Entry): void {
  delete entry.target;
  delete entry.filled;
  delete entry.kept;
}

export const totalOf = (entries: readonly Entry[]): number => entries.reduce((sum, { replicas }) => sum + replicas, 0);
