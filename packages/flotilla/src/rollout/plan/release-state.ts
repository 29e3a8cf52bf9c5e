/** What a planner of a release reads, and what it returns. */
import type { DeepReadonly } from "@flotilla/base";
import type { FleetRollout, FleetRolloutStatus, GateStatus } from "../kinds/fleet-rollout.ts";

/** A member as the hub sees it now. The numbers are about the copy that the member reports on. */
export interface ObservedMember {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  /** The pods that it should run; 1 for kinds without pods. */
  readonly size: number;
  readonly isReachable: boolean;
  /** Its last report is about the copy that its assignment asks for. */
  readonly isAcknowledged: boolean;
  /** Of its pods, those with the template of its copy, and those of them that are available. */
  readonly updated: number;
  readonly ready: number;
  /** Available pods of any template. */
  readonly available: number;
  /** The member rejects the copy. */
  readonly problem?: string | undefined;
  /** Pods of its copy's template that cannot start or restart again and again. */
  readonly trouble?: { readonly pods: number; readonly message: string } | undefined;
}

/** How a kind is updated, as far as releases are concerned. */
export interface Updates {
  /** Part of a member's pods can be updated. */
  readonly hasPartition: boolean;
  /**
   * How many pods a member makes unavailable while it updates: as many as its copy says, one, all at once, or none
   * because the kind has no pods.
   */
  readonly takesDown: "budget" | "one" | "all" | "none";
}

export interface ReleaseInput {
  readonly rollout: DeepReadonly<FleetRollout>;
  readonly members: readonly ObservedMember[];
  readonly updates: Updates;
  /** Pods of the release that still run on members which the workload is leaving. */
  readonly leaving?: number | undefined;
  /** Pods that a FleetDisruptionBudget allows this workload to have unavailable in all; undefined without a budget. */
  readonly allowance?: { readonly pods: number; readonly name: string } | undefined;
  /** Who approved or promoted a wave. */
  readonly actorOf?: ((did: "approvals" | "promotions", wave: string) => string | undefined) | undefined;
  /** The gates that have been asked, with their newest answers. */
  readonly answers?: readonly GateStatus[];
  /** What members had before the release, where that is another revision than `previous`. */
  readonly inherited?: FleetRolloutStatus["clusters"] | undefined;
  /** The names of other releases of the same revision: what they gave a member is what this one gives. */
  readonly same?: ReadonlySet<string> | undefined;
  /** A newer release of the template exists. */
  readonly newer?: string | undefined;
  readonly nowMs: number;
}

export interface ReleaseEvent {
  readonly type: "Normal" | "Warning";
  readonly reason: string;
  readonly message: string;
  readonly clusters: readonly string[];
}

export interface ReleasePlan {
  readonly status: FleetRolloutStatus;
  readonly events: readonly ReleaseEvent[];
  /** When time alone may change the plan. */
  readonly againInMs?: number | undefined;
  /** The pods that the release may be making unavailable, for budgets. */
  readonly booked: number;
}
