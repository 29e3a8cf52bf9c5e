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
  DECISION_GROUP_INDEX_LABEL,
  DECISION_GROUP_NAME_LABEL,
  ManagedCluster,
  ManagedClusterSet,
  ManagedClusterSetBinding,
  OcmPlacement,
  PLACEMENT_LABEL,
  PlacementDecision,
  SCHEDULING_DISABLED_ANNOTATION,
} from "@flotilla/ocm";
import { equalJson, formatTime } from "@flotilla/base";
import type { Clock, DeepReadonly, Json } from "@flotilla/base";
import type { Client, ObjectKey } from "@flotilla/client";
import { withCondition } from "@flotilla/apimachinery";
import { defineController, done, owned, unlessChanged, watch } from "@flotilla/controller-runtime";
import type { Controller, EventRecorder, Informers } from "@flotilla/controller-runtime";
import type { DecisionRecorder } from "../../decisions/decision-recorder.ts";
import { findConcerned } from "./concerned.ts";
import type { PlacementMeter } from "./meter.ts";
import { isByScore, planPlacement, type PlacementPlan } from "./plan-placement.ts";
import type { PlacementSources } from "./sources.ts";
import { isWritten, scoreWaitMs, wantedDecisions, writeSteps, type WantedDecision } from "./wanted-decisions.ts";

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

/** The event that lists scores is truncated at this length. */
const MAX_SCORES_LENGTH = 1000;

export function createPlacementController({
  hub,
  informers,
  client,
  events,
  recorder,
  clock,
  sources,
  meter,
}: PlacementDependencies): Controller<ObjectKey> {
  const concerned = findConcerned({
    hub,
    placements: informers.of(OcmPlacement),
    sets: informers.of(ManagedClusterSet),
    bindings: informers.of(ManagedClusterSetBinding),
  });

  function recordChange(placement: Placement, name: string, { warning, record }: PlacementPlan): void {
    const { namespace } = placement.metadata;
    events.record(hub, placement, {
      type: warning ? "Warning" : "Normal",
      reason: "DecisionUpdate",
      message: `Decision ${name} is updated with placement ${placement.metadata.name} in namespace ${namespace}${warning ? `: ${warning}` : ""}`,
    });
    const scoresText = [...record.scores]
      .toSorted(([a], [b]) => (a < b ? -1 : 1))
      .map(([cluster, score]) => `${cluster}:${score}`)
      .join(" ");
    if (scoresText)
      events.record(hub, placement, {
        type: "Normal",
        reason: "ScoreUpdate",
        message:
          scoresText.length > MAX_SCORES_LENGTH ? `${scoresText.slice(0, MAX_SCORES_LENGTH)} ......` : scoresText,
      });
  }

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

  async function writeDecision(
    placement: Placement,
    { planned, before, status, isInterim }: WantedDecision,
    plan: PlacementPlan,
    signal: AbortSignal,
  ): Promise<void> {
    const { namespace = "", name: owner, uid = "" } = placement.metadata;
    const { name, groupName, groupIndex } = planned;
    const key = { cluster: hub, namespace, name };
    const writeStatusOf = async (): Promise<void> =>
      void (await client.patch(PlacementDecision, key, { status } as unknown as Json, {
        type: "merge",
        subresource: "status",
        signal,
      }));
    if (isInterim) return writeStatusOf();
    const labels = {
      [PLACEMENT_LABEL]: owner,
      [DECISION_GROUP_NAME_LABEL]: groupName,
      [DECISION_GROUP_INDEX_LABEL]: String(groupIndex),
    };
    if (!before) {
      const ownerReferences = [
        {
          apiVersion: `${OcmPlacement.group}/${OcmPlacement.storageVersion}`,
          kind: OcmPlacement.kind,
          name: owner,
          uid,
          controller: true,
          blockOwnerDeletion: true,
        },
      ];
      await client.create(
        PlacementDecision,
        hub,
        {
          apiVersion: `${PlacementDecision.group}/${PlacementDecision.storageVersion}`,
          kind: PlacementDecision.kind,
          metadata: { name, namespace, labels, ownerReferences },
        },
        { signal },
      );
      events.record(hub, placement, {
        type: "Normal",
        reason: "DecisionCreate",
        message: `Decision ${name} is created with placement ${owner} in namespace ${namespace}`,
      });
    } else if (!equalJson(before.metadata.labels, labels))
      await client.patch(PlacementDecision, key, { metadata: { labels } }, { type: "merge", signal });
    if (isWritten({ before, status })) return;
    await writeStatusOf();
    recordChange(placement, name, plan);
  }

  /** Returns how long decisions that only change scores have to wait, and 0 if they were written. */
  async function writeDecisions(
    placement: Placement,
    plan: PlacementPlan,
    nowMs: number,
    signal: AbortSignal,
  ): Promise<{ waitMs: number; isRescored: boolean }> {
    const before = new Map(sources.decisionsOf(placement).map((decision) => [decision.metadata.name, decision]));
    const wanted = wantedDecisions(placement, plan, before);
    const isRescored = isByScore(placement) && wanted.some((decision) => !isWritten(decision));
    const waitMs = isRescored ? scoreWaitMs(placement, wanted, before.size, nowMs) : 0;
    if (waitMs > 0) return { waitMs, isRescored: false };
    for (const { planned } of wanted) before.delete(planned.name);
    // In parallel, so that a thousand clusters in ten decisions take one disk sync.
    for (const step of writeSteps(wanted)) {
      const outcomes = await Promise.allSettled(
        step.map((decision) => writeDecision(placement, decision, plan, signal)),
      );
      for (const outcome of outcomes) if (outcome.status === "rejected") throw outcome.reason;
    }
    for (const { metadata } of before.values()) {
      await unlessChanged(
        client.delete(
          PlacementDecision,
          { cluster: hub, namespace: metadata.namespace ?? "", name: metadata.name },
          { preconditions: metadata.uid ? { uid: metadata.uid } : undefined, signal },
        ),
      );
      events.record(hub, placement, {
        type: "Normal",
        reason: "DecisionDelete",
        message: `Decision ${metadata.name} is deleted with placement ${placement.metadata.name} in namespace ${metadata.namespace}`,
      });
    }
    return { waitMs, isRescored };
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
      const { waitMs, isRescored } = await writeDecisions(placement, plan, nowMs, signal);
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
