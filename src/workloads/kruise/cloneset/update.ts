/**
 * One update pass: first let every pod catch up with itself, then bring some of them to the update revision.
 *
 * Reads: pods, the revisions' templates, the numbers of `diff.ts`. Writes nothing; `controller.ts` carries it out.
 */
import type { ReadonlyPod } from "../../kubernetes/pod.ts";
import { computeDiff } from "./diff.ts";
import { openGate, planInPlaceChange } from "./in-place.ts";
import type { InPlaceChange } from "./in-place.ts";
import { nextLifecycleState, withLifecycleState } from "./lifecycle.ts";
import { REVISION_LABEL, SPECIFIED_DELETE_LABEL, TEMPLATE_HASH_LABEL, shortHash } from "./names.ts";
import { choosePodsToUpdate } from "./update-order.ts";
import type { PodTemplate } from "./revisions.ts";
import type { PassInput } from "./scale.ts";

/** A pod that has to catch up, in its status, in its metadata, or both. */
export interface Refresh {
  pod: ReadonlyPod;
  /** The pod with its gate open; to be written as status. */
  opened?: ReadonlyPod;
  /** The pod in its next lifecycle state, or with a label that old releases did not set. */
  relabelled?: ReadonlyPod;
}

export interface UpdatePlan {
  refresh: readonly Refresh[];
  inPlace: readonly { pod: ReadonlyPod; change: InPlaceChange }[];
  /** To be labelled for deletion; the next scale pass deletes and replaces them. */
  recreate: readonly ReadonlyPod[];
  /** Why the update cannot go on. */
  failure?: string;
}

export const changesPods = ({ refresh, inPlace, recreate }: UpdatePlan): boolean => refresh.length + inPlace.length + recreate.length > 0;

export interface UpdateInput extends PassInput {
  updateTemplate: PodTemplate;
  /** The template of the revision whose name ends in this hash, while it is kept. */
  templateByHash(hash: string): PodTemplate | undefined;
}

export function planUpdate(input: UpdateInput): UpdatePlan {
  const { cloneSet, pods, updateRevision, nowMs } = input;
  const refresh = pods.flatMap((pod) => planRefresh(pod, updateRevision, nowMs));
  const nothing: UpdatePlan = { refresh, inPlace: [], recreate: [] };
  // A pod between two states would be counted wrongly; a gate that opens changes no count yet.
  if (refresh.some(({ relabelled }) => relabelled)) return nothing;

  const strategy = cloneSet.spec.updateStrategy;
  if (strategy?.type === "OnDelete" || strategy?.rollingUpdate?.paused) return nothing;
  const diff = computeDiff(cloneSet, pods, updateRevision, nowMs);
  if (diff.updateNum === 0) return nothing;

  const policy = strategy?.rollingUpdate?.podUpdatePolicy ?? "ReCreate";
  const chosen = choosePodsToUpdate(cloneSet, pods, updateRevision, diff, nowMs);
  // A pod that is marked waits for the scale pass to delete it; marking it again would be no change, and so no progress.
  const unmarked = (pods: readonly ReadonlyPod[]): ReadonlyPod[] => pods.filter(({ metadata }) => metadata.labels?.[SPECIFIED_DELETE_LABEL] === undefined);
  if (policy === "ReCreate") return { ...nothing, recreate: unmarked(chosen) };

  const inPlace: { pod: ReadonlyPod; change: InPlaceChange }[] = [];
  const recreate: ReadonlyPod[] = [];
  for (const pod of chosen) {
    const old = input.templateByHash(shortHash(pod.metadata.labels?.[REVISION_LABEL] ?? ""));
    const change = old && planInPlaceChange(old, input.updateTemplate);
    if (change) inPlace.push({ pod, change });
    else if (policy === "InPlaceOnly") return { ...nothing, inPlace, failure: `find Pod ${pod.metadata.name} update strategy is InPlaceOnly but can not update in-place` };
    else recreate.push(pod);
  }
  // Opening the gate of a pod that is about to close it again would only cost a write.
  return { inPlace, recreate: unmarked(recreate), refresh: refresh.filter(({ pod }) => !inPlace.some((update) => update.pod === pod)) };
}

function planRefresh(pod: ReadonlyPod, updateRevision: string, nowMs: number): Refresh[] {
  const opened = openGate(pod, nowMs);
  const state = nextLifecycleState(pod, updateRevision);
  const hash = pod.metadata.labels?.[TEMPLATE_HASH_LABEL] === undefined ? shortHash(pod.metadata.labels?.[REVISION_LABEL] ?? "") : "";
  if (!opened && !state && !hash) return [];
  const inState = state ? withLifecycleState(pod, state, nowMs) : pod;
  const relabelled = hash ? { ...inState, metadata: { ...inState.metadata, labels: { ...inState.metadata.labels, [TEMPLATE_HASH_LABEL]: hash } } } : inState;
  return [{ pod, ...(opened && { opened }), ...(relabelled !== pod && { relabelled }) }];
}
