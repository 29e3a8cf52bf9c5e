/**
 * Schedule decides on which members a binding's resource runs, and with how many replicas.
 *
 * Reads: ResourceBinding, Cluster.
 * Writes: `spec.clusters`, the applied placement and, when it returns to an earlier affinity, evictions of the binding;
 * the condition `Scheduled` and the scheduler's fields in its status; events on the binding and its template.
 * Before: match wrote the binding. After: dispatch creates one Work per cluster.
 */
import { Cluster, ClusterResourceBinding, FederatedResourceQuota, ResourceBinding } from "@flotilla/karmada";
import type { Kind } from "@flotilla/apimachinery";
import { equalJson, formatTime } from "@flotilla/base";
import type { Clock, DeepReadonly, Json } from "@flotilla/base";
import type { Client, ObjectKey } from "@flotilla/client";
import { SCHEDULED_TIMING } from "../../delivery/status-timing.ts";
import { defineController, done, idOfKey, keyOf, rejectionOf, watch } from "@flotilla/controller-runtime";
import type { Controller, EventRecorder, Lister, StatusWriter } from "@flotilla/controller-runtime";
import { hasGrown } from "../estimate/index.ts";
import type { PipelineMeter } from "../meter.ts";
import { quotaRejection } from "../../quota/quota-enforcement.ts";
import { hasMoreRoom } from "../../quota/quota-room.ts";
import { isRefusal } from "../bindings/refusal.ts";
import { resourceOf } from "../bindings/resource-of.ts";
import type { DecisionRecorder } from "../../decisions/decision-recorder.ts";
import { createDecisions } from "./decisions.ts";
import { describeNotPlaced, describePlaced } from "./describe-decision.ts";
import { createFleet, readCluster, updateFleet, type Fleet } from "./fleet-view.ts";
import { scheduleType } from "./needs-scheduling.ts";
import { planEvents, planReported, reportedBy, type Reported } from "./plan-events.ts";
import { isToBeScheduled, planPatch } from "./plan-patch.ts";
import { planSchedule, refusedByHub, refusedByQuota, type SchedulePlan } from "./plan-schedule.ts";
import { planScheduled } from "./plan-scheduled.ts";
import type { ScheduleOptions } from "./schedule-cycle.ts";
import type { WorkloadGroups } from "./workload-groups.ts";

export interface ScheduleDependencies {
  /** The kind of binding to schedule; defaults to ResourceBinding. */
  kind?: Kind<ResourceBinding>;
  client: Client;
  bindings: Lister<ResourceBinding>;
  clusters: Lister<Cluster>;
  /** Groups of the bindings of this kind. */
  groups: WorkloadGroups;
  bindingStatus: StatusWriter<ResourceBinding>;
  events: EventRecorder;
  recorder?: DecisionRecorder | undefined;
  clock: Clock;
  options?: ScheduleOptions;
  /** Receives every decision that was written, so that it can be explained (`summarise-decision.ts`). */
  onDecision?(key: ObjectKey, plan: SchedulePlan): void;
  meter?: PipelineMeter;
}

const CONCURRENCY = 64;
/** How soon a placement that the hub's admission rejects is tried again. */
const REJECTED_RETRY_MS = 10_000;
const CONTROLLER = "schedule";

export function createScheduleController({
  kind = ResourceBinding,
  client,
  bindings,
  clusters,
  groups,
  bindingStatus,
  events,
  recorder,
  clock,
  options = {},
  onDecision,
  meter,
}: ScheduleDependencies): Controller<ObjectKey> {
  const decisions = createDecisions<ObjectKey>();
  /** Reported results of bindings whose status is not written yet. */
  const reported = new Map<string, Reported>();
  /** By hub; updated by the watch, so that scheduling a binding reads no clusters. */
  const fleets = new Map<string, Fleet>();
  const fleetOf = (hub: string): Fleet => {
    const fleet = fleets.get(hub) ?? createFleet(clusters.list({ cluster: hub }));
    fleets.set(hub, fleet);
    return fleet;
  };

  /** The bindings whose decision may change with a cluster change. */
  function bindingsAfter(
    hub: string,
    old: DeepReadonly<Cluster> | undefined,
    cluster: DeepReadonly<Cluster>,
    deleted: boolean,
  ): ObjectKey[] {
    if (!old || deleted || changesFit(old, cluster)) {
      decisions.startFleetGeneration();
      return bindings.list({ cluster: hub }).map((binding) => keyOf(hub, binding));
    }
    return hasGrown(readCluster(old).capacity, readCluster(cluster).capacity) ? decisions.wakeWaiting(clock.now()) : [];
  }

  function report(key: ObjectKey, binding: DeepReadonly<ResourceBinding>, plan: SchedulePlan): void {
    const id = idOfKey(key);
    const known = reportedBy(binding);
    const before = reported.get(id) ?? known;
    for (const event of planEvents(binding, plan, before)) {
      for (const object of [binding, resourceOf(binding)]) events.record(key.cluster, object, event);
      if (plan.outcome === "unschedulable")
        recorder?.record({ controller: CONTROLLER, ...describeNotPlaced(binding, plan.message) });
    }
    const next = planReported(plan, before);
    if (equalJson(next, known)) reported.delete(id);
    else if (next.failure !== undefined || before.failure !== undefined || next.affinityName !== before.affinityName)
      reported.set(id, next);
  }

  /**
   * The decision is valid for this version only: a binding that changed meanwhile causes a conflict, and is decided
   * again.
   */
  async function carryOut(
    binding: DeepReadonly<ResourceBinding>,
    key: ObjectKey,
    plan: SchedulePlan,
    change: Json,
    signal: AbortSignal,
  ): Promise<DeepReadonly<ResourceBinding>> {
    const assumption =
      plan.outcome === "scheduled"
        ? groups.assume(
            key.cluster,
            binding,
            plan.clusters.map(({ name }) => name),
          )
        : undefined;
    try {
      const written = await client.patch(kind, key, change, { type: "merge", signal });
      assumption?.written(written);
      return written;
    } catch (error) {
      assumption?.drop();
      throw error;
    }
  }

  return defineController({
    name: kind.scope === "Namespaced" ? "schedule" : "schedule-cluster-bindings",
    for: kind,
    watches: [
      watch(Cluster, ({ cluster: hub, object, old, deleted }) => {
        const fleet = fleets.get(hub);
        if (fleet) fleets.set(hub, updateFleet(fleet, object, deleted));
        const concerned = bindingsAfter(hub, old, object, deleted);
        meter?.bindingsQueued("ClusterChanged", concerned.length);
        return concerned;
      }),
      // Bindings of a workload group are reconsidered when another binding of the group moves.
      watch(FederatedResourceQuota, ({ object, old, deleted }) =>
        deleted || hasMoreRoom(old, object) ? decisions.wakeWaiting(clock.now()) : [],
      ),
      watch(kind, (event) => groups.affectedBy(event).filter((key) => decisions.reconsider(idOfKey(key), clock.now()))),
    ],
    // Not the Works: a decision after a restart does not wait for thousands of them. Groups contain bindings of both
    // scopes.
    reads: [ResourceBinding, ClusterResourceBinding],
    writes: [kind],
    concurrency: CONCURRENCY,
    priorityOf: (key) => bindings.get(key)?.spec.schedulePriority?.priority ?? 0,

    async reconcile(binding, { key, log, signal }) {
      if (!isToBeScheduled(binding)) return done;
      const id = idOfKey(key);
      const nowMs = clock.now();
      const turn = decisions.turn(id, binding, nowMs);
      if (!turn.decide) return turn.requeueAfterMs === undefined ? done : { requeueAfterMs: turn.requeueAfterMs };

      const { fleetGeneration } = decisions;
      const startMs = meter?.nowMs() ?? 0;
      let plan = planSchedule({
        ...options,
        binding,
        meter: meter?.cycle,
        fleet: fleetOf(key.cluster),
        neighbours: groups.neighboursOf(key.cluster, binding),
        nowMs,
      });
      let change = planPatch(binding, plan);
      let scheduled = binding;
      let isRejected = false;
      try {
        if (change) scheduled = await carryOut(binding, key, plan, change, signal);
      } catch (error) {
        const message = quotaRejection(error);
        isRejected = message === undefined && isRefusal(error);
        if ((message === undefined && !isRejected) || plan.outcome !== "scheduled") throw error;
        plan = message === undefined ? refusedByHub(plan, rejectionOf(error)) : refusedByQuota(plan, message);
        change = undefined;
      }
      if (change) {
        log.info("binding scheduled", { clusters: scheduled.spec.clusters?.length ?? 0 });
        const placed = recorder && describePlaced(binding, plan);
        if (placed) recorder.record({ controller: CONTROLLER, ...placed });
      }
      if (meter && plan.outcome !== "unchanged")
        meter.bindingScheduled(scheduleType(binding), meter.nowMs() - startMs, plan.outcome === "scheduled");
      if (plan.outcome === "unschedulable") meter?.bindingsQueued("ScheduleAttemptFailure", 1);

      onDecision?.(key, plan);
      report(key, binding, plan);

      const now = formatTime(nowMs);
      const outcome = (newest: DeepReadonly<ResourceBinding>): DeepReadonly<ResourceBinding> =>
        planScheduled(newest, plan, scheduled.metadata.generation ?? 0, now);
      if (outcome(scheduled) !== scheduled)
        bindingStatus.set(key, "schedule", outcome, isUrgent(scheduled, plan) ? {} : SCHEDULED_TIMING);
      // Nothing of the binding or the fleet changes when the hub's admission does.
      if (isRejected) return { requeueAfterMs: REJECTED_RETRY_MS };
      return decisions.keep(id, key, scheduled, plan, fleetGeneration, nowMs);
    },

    forget(key) {
      decisions.forget(idOfKey(key));
      reported.delete(idOfKey(key));
    },
  });
}

/**
 * A success is visible in spec.clusters at once; its condition may be delayed until the members report. A failure may
 * not, and neither may the observed affinity: after a restart the binding would be scheduled from the first one.
 */
function isUrgent({ status }: DeepReadonly<ResourceBinding>, plan: SchedulePlan): boolean {
  return (
    plan.outcome === "unschedulable" ||
    (plan.outcome === "scheduled" &&
      plan.affinityName !== undefined &&
      plan.affinityName !== status?.schedulerObservingAffinityName)
  );
}

/** Whether a cluster change affects which bindings fit it: its labels, spec, deletion, or served kinds. */
function changesFit(before: DeepReadonly<Cluster>, after: DeepReadonly<Cluster>): boolean {
  return (
    before.metadata.generation !== after.metadata.generation ||
    before.metadata.deletionTimestamp !== after.metadata.deletionTimestamp ||
    !equalJson(before.metadata.labels, after.metadata.labels) ||
    !equalJson(before.status?.apiEnablements, after.status?.apiEnablements)
  );
}
