/**
 * Placement: maintains the PlacementDecisions and the status of every Placement.
 *
 * Reads: Placement, ManagedCluster, ManagedClusterSet, ManagedClusterSetBinding, AddOnPlacementScore,
 * PlacementDecision.
 * Writes: the PlacementDecisions it owns, with their status; the Placement's status.
 * After: ManifestWorkReplicaSet and other readers of decisions.
 */
import {
  AddOnPlacementScore,
  ManagedCluster,
  ManagedClusterSet,
  ManagedClusterSetBinding,
  OcmPlacement,
  PlacementDecision,
  SCHEDULING_DISABLED_ANNOTATION,
} from "@flotilla/ocm";
import { equalJson, formatTime } from "@flotilla/base";
import type { Clock, DeepReadonly, Json } from "@flotilla/base";
import type { Client, ObjectKey } from "@flotilla/client";
import { withCondition } from "@flotilla/apimachinery";
import { defineController, done, owned, watch } from "@flotilla/controller-runtime";
import type { Controller, EventRecorder, Informers } from "@flotilla/controller-runtime";
import type { DecisionRecorder } from "../../decisions/decision-recorder.ts";
import { findConcerned } from "./concerned.ts";
import type { PlacementMeter } from "./meter.ts";
import { planPlacement, type PlacementPlan } from "./plan-placement.ts";
import type { PlacementSources } from "./sources.ts";
import { createDecisionWriter } from "./write-decisions.ts";

type Placement = DeepReadonly<OcmPlacement>;

/** The clusters that decisions name, in order. */
const namesIn = (decisions: readonly DeepReadonly<PlacementDecision>[]): string[] =>
  decisions.flatMap(({ status }) => (status?.decisions ?? []).map(({ clusterName }) => clusterName)).toSorted();

export interface PlacementDependencies {
  hub: string;
  informers: Informers;
  client: Client;
  events: EventRecorder;
  recorder?: DecisionRecorder | undefined;
  clock: Clock;
  sources: PlacementSources;
  meter?: PlacementMeter;
}

export function createPlacementController(deps: PlacementDependencies): Controller<ObjectKey> {
  const { hub, informers, client, events, recorder, clock, sources, meter } = deps;
  const concerned = findConcerned({
    hub,
    placements: informers.of(OcmPlacement),
    sets: informers.of(ManagedClusterSet),
    bindings: informers.of(ManagedClusterSetBinding),
  });

  const decisions = createDecisionWriter({ hub, client, events, sources });

  function recordSelection(placement: Placement, plan: PlacementPlan, before: readonly string[]): void {
    const after = plan.isKept ? before : plan.chosen.toSorted();
    if (!recorder || equalJson(before, after)) return;
    const conditions = plan.conditions.map(({ type, reason, message }) => `${type}: ${reason}: ${message}`);
    recorder.record({
      type: "ClustersSelected",
      controller: "ocm-placement",
      object: placement,
      clusters: [...new Set(before).symmetricDifference(new Set(after))],
      cause: { reason: "PlacementEvaluated", message: plan.warning ?? conditions.join("; ") },
      before: { clusters: [...before] },
      after: { clusters: [...after] },
    });
  }

  async function writeStatus(
    placement: Placement,
    plan: PlacementPlan,
    isRescored: boolean,
    key: ObjectKey,
    signal: AbortSignal,
  ): Promise<void> {
    const before = placement.status;
    const now = formatTime(clock.now());
    const conditions = plan.conditions.reduce<NonNullable<typeof before>["conditions"]>(
      (all, condition) => withCondition(all, { ...condition, observedGeneration: placement.metadata.generation }, now),
      before?.conditions,
    );
    const groups = plan.isKept && before?.decisionGroups ? before.decisionGroups : plan.groups;
    const lastScoreUpdateTime = isRescored ? now : before?.lastScoreUpdateTime;
    const status = {
      numberOfSelectedClusters: plan.chosen.length,
      decisionGroups: groups,
      conditions,
      lastScoreUpdateTime,
    };
    if (equalJson(before, status)) return;
    await client.patch(OcmPlacement, key, { status } as unknown as Json, {
      type: "merge",
      subresource: "status",
      signal,
    });
  }

  return defineController({
    name: "ocm-placement",
    for: OcmPlacement,
    watches: [
      owned(PlacementDecision),
      watch(ManagedCluster, concerned.byCluster),
      watch(ManagedClusterSet, concerned.bySet),
      watch(ManagedClusterSetBinding, concerned.byBinding),
      watch(AddOnPlacementScore, concerned.byScore),
    ],
    writes: [PlacementDecision, OcmPlacement],

    async reconcile(placement, { key, signal }) {
      if (
        placement.metadata.deletionTimestamp ||
        placement.metadata.annotations?.[SCHEDULING_DISABLED_ANNOTATION] === "true"
      )
        return done;
      const nowMs = clock.now();
      const startMs = meter?.nowMs() ?? 0;
      const plan = planPlacement(placement, { ...sources.inputOf(placement, nowMs), meter });
      const decidedMs = meter?.nowMs() ?? 0;
      meter?.scheduled(decidedMs - startMs);
      const before = recorder ? namesIn(sources.decisionsOf(placement)) : [];
      const { waitMs, isRescored } = await decisions.write(placement, plan, nowMs, signal);
      if (waitMs === 0) recordSelection(placement, plan, before);
      meter?.bound(meter.nowMs() - decidedMs);
      await writeStatus(placement, plan, isRescored, key, signal);
      const againMs = Math.min(
        waitMs || Number.POSITIVE_INFINITY,
        plan.recheckMs === undefined ? Number.POSITIVE_INFINITY : plan.recheckMs - nowMs,
      );
      return Number.isFinite(againMs) ? { requeueAfterMs: Math.max(0, againMs) } : done;
    },
  });
}
