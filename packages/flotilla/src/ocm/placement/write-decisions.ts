/** Writes the PlacementDecisions of a Placement as planned, and reports each change as an event. */
import {
  DECISION_GROUP_INDEX_LABEL,
  DECISION_GROUP_NAME_LABEL,
  OcmPlacement,
  PLACEMENT_LABEL,
  PlacementDecision,
} from "@flotilla/ocm";
import { equalJson } from "@flotilla/base";
import type { DeepReadonly, Json } from "@flotilla/base";
import type { Client } from "@flotilla/client";
import { unlessChanged } from "@flotilla/controller-runtime";
import type { EventRecorder } from "@flotilla/controller-runtime";
import { isByScore, type PlacementPlan } from "./plan-placement.ts";
import type { PlacementSources } from "./sources.ts";
import { isWritten, scoreWaitMs, wantedDecisions, writeSteps, type WantedDecision } from "./wanted-decisions.ts";

type Placement = DeepReadonly<OcmPlacement>;

interface Dependencies {
  hub: string;
  client: Client;
  events: EventRecorder;
  sources: PlacementSources;
}

/** The event that lists scores is truncated at this length. */
const MAX_SCORES_LENGTH = 1000;

export interface DecisionWriter {
  /** Returns how long decisions that only change scores have to wait, and 0 if they were written. */
  write(
    placement: Placement,
    plan: PlacementPlan,
    nowMs: number,
    signal: AbortSignal,
  ): Promise<{ waitMs: number; isRescored: boolean }>;
}

export function createDecisionWriter({ hub, client, events, sources }: Dependencies): DecisionWriter {
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

  return { write: writeDecisions };
}
