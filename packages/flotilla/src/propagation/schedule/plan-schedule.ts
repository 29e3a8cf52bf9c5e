/**
 * Decides where a binding's resource is placed: which clusters fit, why the others do not, and how many replicas each
 * gets. Pure and deterministic over one view of the fleet; every cluster's verdict is kept, for users and for `flotilla
 * why`.
 *
 * With several affinities the first that fits is used. A binding that uses a later one stays there, as in Karmada,
 * unless its policy enables the return (`return-to-affinity.ts`).
 */
import type { GracefulEvictionTask } from "@flotilla/apimachinery/facts/work-karmada-v1alpha2.ts";
import { tieBreakerOf } from "../replicas/tie-breaker.ts";
import { QUOTA_EXCEEDED } from "../../quota/quota-charge.ts";
import { isPurgedDirectly } from "../bindings/target-clusters.ts";
import { isFresh, type AssignedCluster } from "./assign.ts";
import type { ClusterVerdict } from "./candidate.ts";
import type { CycleMeter } from "../meter.ts";
import { createFleet, type Fleet } from "./fleet-view.ts";
import { affinityOf, type BindingSpecView, type CycleAffinity } from "./framework.ts";
import type { ClusterView } from "./fleet-cluster.ts";
import { clustersOfNamedPods, namedPodsOf } from "../pods-to-delete/named-pods.ts";
import { needsScheduling, scheduleType, type BindingView } from "./needs-scheduling.ts";
import { leaveGracefully, returnDue } from "./return-to-affinity.ts";
import { scheduleCycle, type CycleResult, type ScheduleOptions, type UnschedulableReason } from "./schedule-cycle.ts";
import { isFinishedRun } from "../jobs/finished-run.ts";
import type { Neighbours } from "./workload-groups.ts";

export interface ScheduleInput extends ScheduleOptions {
  readonly binding: BindingView;
  /** The parsed clusters; computed from `clusters` when unset. */
  readonly fleet?: Fleet;
  readonly clusters?: readonly ClusterView[];
  /** The other bindings of its workload groups; ignored when unset. */
  readonly neighbours?: Neighbours | undefined;
  readonly nowMs?: number;
  /** Whether a cluster under eviction stays excluded even when nothing else fits. */
  readonly isStrict?: boolean;
  readonly meter?: CycleMeter | undefined;
}

/** A term of `clusterAffinities` that was tried and did not fit. */
export interface FailedTerm {
  readonly name: string;
  readonly message: string;
}

interface Decision {
  readonly verdicts: readonly ClusterVerdict[];
  readonly failedTerms: readonly FailedTerm[];
}

/**
 * Set while the binding would return to an earlier affinity: when to retry, or `Infinity` for whenever clusters change.
 */
interface Waiting {
  readonly returnsAtMs?: number;
}

export type SchedulePlan =
  | (Decision &
      Waiting & {
        readonly outcome: "scheduled";
        readonly clusters: AssignedCluster[];
        /** The term of `clusterAffinities` in use. */
        readonly affinityName?: string;
        /** Clusters under graceful eviction, because an earlier term fits again. */
        readonly evictions?: readonly GracefulEvictionTask[];
      })
  /** Nothing that scheduling depends on has changed: the clusters stay. */
  | (Waiting & { readonly outcome: "unchanged" })
  /**
   * A running workload stays in place: a temporarily wrong label must not stop it, and it leaves a cluster only for
   * another one. `staying`: some of its clusters have left the fleet; these have not.
   */
  | (Decision & {
      readonly outcome: "unschedulable";
      readonly reason: UnschedulableReason;
      readonly message: string;
      readonly staying?: NonNullable<BindingSpecView["clusters"]>;
    });

export function planSchedule(input: ScheduleInput): SchedulePlan {
  const { binding, clusters = [], fleet = createFleet(clusters), nowMs = 0 } = input;
  if (isFinishedRun(binding)) return keepFinished(binding, fleet);
  const terms = affinityTerms(binding);
  const current = currentIndex(binding, terms);
  const returnsAtMs = current > 0 ? returnDue(binding.metadata, binding.status?.lastScheduledTime, nowMs) : undefined;

  if (returnsAtMs !== undefined && returnsAtMs <= nowMs) {
    const earlier = tryTerms({ ...input, fleet }, terms.slice(0, current));
    if (earlier.outcome === "scheduled")
      return { ...earlier, evictions: leaveGracefully(binding.spec, earlier.clusters, earlier.affinityName, nowMs) };
  }
  const waiting: Waiting =
    returnsAtMs === undefined ? {} : { returnsAtMs: returnsAtMs > nowMs ? returnsAtMs : Infinity };
  if (!needsScheduling(binding, fleet)) return { outcome: "unchanged", ...waiting };

  const plan = tryWithReturn({ ...input, fleet }, terms.slice(current));
  if (plan.outcome !== "scheduled") return plan;
  // A binding that falls back now starts waiting now.
  const fellBackMs =
    plan.affinityName === terms[current]?.name ? undefined : returnDue(binding.metadata, undefined, nowMs);
  return { ...plan, ...(fellBackMs === undefined ? waiting : { returnsAtMs: fellBackMs }) };
}

/** The replicas stay where they are until the quota has room. */
export function refusedByQuota(
  { verdicts, failedTerms }: Extract<SchedulePlan, { outcome: "scheduled" }>,
  message: string,
): SchedulePlan {
  return {
    outcome: "unschedulable",
    reason: QUOTA_EXCEEDED,
    message,
    verdicts: verdicts.map(({ replicas, ...verdict }) =>
      replicas === undefined ? verdict : { ...verdict, reason: "a FederatedResourceQuota has no room for it" },
    ),
    failedTerms,
  };
}

/** How the message of such a decision starts. */
export const PLACEMENT_REJECTED = "the hub cannot write the placement";

/** The hub's own API server does not store the placement; every cluster stays as it was. */
export function refusedByHub(
  { verdicts, failedTerms }: Extract<SchedulePlan, { outcome: "scheduled" }>,
  cause: string,
): SchedulePlan {
  const message = `${PLACEMENT_REJECTED}: ${cause}`;
  return { outcome: "unschedulable", reason: "SchedulerError", message, verdicts, failedTerms };
}

/** A finished run stays where it ran; a member that leaves the fleet is not replaced. */
function keepFinished({ spec: { clusters = [] } }: BindingView, fleet: Fleet): SchedulePlan {
  const staying = clusters.filter(({ name }) => fleet.isStaying(name));
  return staying.length === clusters.length
    ? { outcome: "unchanged" }
    : { outcome: "scheduled", clusters: [...staying], verdicts: finishedVerdicts(clusters, fleet), failedTerms: [] };
}

/** The clusters of a finished run, and why it is no longer placed on some of them. */
export function finishedVerdicts(
  clusters: NonNullable<BindingSpecView["clusters"]>,
  fleet: Pick<Fleet, "isStaying">,
): ClusterVerdict[] {
  return clusters.map(({ name: cluster, replicas }) =>
    fleet.isStaying(cluster)
      ? { cluster, replicas }
      : { cluster, reason: "it leaves the fleet, and a finished run does not run again elsewhere" },
  );
}

/** The affinities in order; a placement without any still has one cycle. */
function affinityTerms({ spec }: BindingView): (CycleAffinity | undefined)[] {
  const { clusterAffinity, clusterAffinities } = spec.placement ?? {};
  if (clusterAffinity) return [{ primary: clusterAffinity, overflow: [] }];
  return clusterAffinities?.length ? clusterAffinities.map(affinityOf) : [undefined];
}

/** The term in use; the first when there is none yet, and again after a rebalance request. */
function currentIndex({ spec, status }: BindingView, terms: readonly (CycleAffinity | undefined)[]): number {
  if (isFresh(spec, status)) return 0;
  const observing = status?.schedulerObservingAffinityName;
  return Math.max(0, observing ? terms.findIndex((term) => term?.name === observing) : 0);
}

/**
 * If nothing else fits, a cluster under eviction is allowed again: its copy still runs, and the task is void without a
 * replacement. Otherwise the task would wait for a replacement, and the replacement for the end of the task.
 */
function tryWithReturn(
  input: ScheduleInput & { readonly fleet: Fleet },
  terms: readonly (CycleAffinity | undefined)[],
): Exclude<SchedulePlan, { outcome: "unchanged" }> {
  const plan = tryTerms(input, terms);
  const { spec } = input.binding;
  const tasks = spec.gracefulEvictionTasks ?? [];
  const isCarriedOut = ({ fromCluster }: (typeof tasks)[number]): boolean =>
    !spec.clusters?.some(({ name }) => name === fromCluster);
  const barring = tasks.filter((task) => !isCarriedOut(task) || isPurgedDirectly(task) || task.purgeMode === "Never");
  if (plan.outcome === "scheduled" || input.isStrict || barring.length === tasks.length) return plan;
  const again = tryTerms(
    { ...input, binding: { ...input.binding, spec: { ...spec, gracefulEvictionTasks: barring } } },
    terms,
  );
  return again.outcome === "scheduled" ? again : plan;
}

/** The first term that fits. When none does, the message of the first is reported. */
function tryTerms(
  input: ScheduleInput & { readonly fleet: Fleet },
  terms: readonly (CycleAffinity | undefined)[],
): Exclude<SchedulePlan, { outcome: "unchanged" }> {
  const failedTerms: FailedTerm[] = [];
  // A changed placement divides again.
  const named =
    scheduleType(input.binding) === "ScaleSchedule"
      ? clustersOfNamedPods(namedPodsOf(input.binding), input.binding.spec.replicas ?? 0)
      : [];
  let failure: Extract<CycleResult, { ok: false }> | undefined;
  for (const affinity of terms) {
    const { spec, status } = input.binding;
    const tieBreaker = tieBreakerOf(spec.resource);
    const result = scheduleCycle({ ...input, spec, status, affinity, tieBreaker, named });
    const name = affinity?.name;
    if (result.ok)
      return {
        outcome: "scheduled",
        clusters: result.clusters,
        verdicts: result.verdicts,
        failedTerms,
        affinityName: name,
      };
    if (name !== undefined) failedTerms.push({ name, message: result.message });
    failure ??= result;
  }
  const { reason, message, verdicts }: Omit<typeof NO_TERM, "ok"> = failure ?? NO_TERM;
  const { clusters = [] } = input.binding.spec;
  const staying = clusters.filter((target) => input.fleet.isStaying(target.name));
  // A fleet without any cluster is more likely a wrong view.
  const isLeft = staying.length < clusters.length && input.fleet.clusters.length > 0;
  return { outcome: "unschedulable", reason, message, verdicts, failedTerms, staying: isLeft ? staying : undefined };
}

const NO_TERM: Extract<CycleResult, { ok: false }> = {
  ok: false,
  reason: "SchedulerError",
  message: "the placement has no cluster affinity to use",
  verdicts: [],
};
