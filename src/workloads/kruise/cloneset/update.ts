/**
 * One update pass: first every pod catches up with itself, then some of them are brought to the revision that they
 * should have.
 *
 * Reads: pods, the revisions' templates, the numbers of `diff.ts`. Writes nothing; `controller.ts` carries it out.
 */
import type { ReadonlyPod } from "../../kubernetes/pod.ts";
import { podTemplateOf } from "../../revisions/pod-template-data.ts";
import type { ReadonlyRevision } from "../../revisions/pod-template-data.ts";
import { REVISION_LABEL, shortHash } from "../../revisions/revisions.ts";
import { closeGate, startUpdate } from "../in-place/apply.ts";
import type { Applied } from "../in-place/apply.ts";
import { refreshPod, whyIncomplete } from "../in-place/refresh.ts";
import type { Refreshed } from "../in-place/refresh.ts";
import type { UpdateSpec } from "../in-place/state.ts";
import { planInPlaceUpdate } from "../in-place/update-spec.ts";
import type { InPlaceSide } from "../in-place/update-spec.ts";
import {
  enterState,
  isHooked,
  lifecycleState,
  nextState,
  prepareUpdateAgain,
  withLifecycleState,
} from "../lifecycle/lifecycle.ts";
import { isMarkedForDelete } from "../specified-delete.ts";
import type { PodStep } from "../write-pod.ts";
import { computeDiff } from "./diff.ts";
import type { DiffInput } from "./diff.ts";
import { CLAIM_TEMPLATES_HASH_ANNOTATION, TEMPLATE_HASH_LABEL, hasRevision, revisionLabels } from "./names.ts";
import { changesState } from "./scale.ts";
import { choosePodsToUpdate } from "./update-order.ts";

export type UpdateAction =
  /** The pod waits for its hook first. */
  | { do: "prepare"; step: PodStep }
  | { do: "in-place"; pod: ReadonlyPod; spec: UpdateSpec }
  /** To be marked for deletion; the next scale pass deletes and replaces it. */
  | { do: "recreate"; pod: ReadonlyPod };

export interface UpdatePlan {
  /** What pods do by themselves, between two updates. */
  refresh: readonly PodStep[];
  /** In the order in which they are to be carried out. */
  actions: readonly UpdateAction[];
  /** The revision that `actions` lead to. */
  targetRevision: string;
  /** Why the update cannot go on. */
  failure?: string;
  /** Look again after this time; 0 when a change will tell. */
  delayMs: number;
}

export const changesPods = ({ refresh, actions }: UpdatePlan): boolean => refresh.length + actions.length > 0;

export interface UpdateInput extends DiffInput {
  /** Every revision that is kept. */
  revisions: readonly ReadonlyRevision[];
}

export function planUpdate(input: UpdateInput): UpdatePlan {
  const { cloneSet, pods, updateRevision, currentRevision } = input;
  const refreshed = pods.map((pod) => ({ pod, ...refreshOne(pod, input) }));
  const refresh = refreshed.filter(({ pod, after }) => after !== pod);
  const delayMs = soonest(refreshed.map((step) => step.delayMs));
  const nothing: UpdatePlan = { refresh, actions: [], targetRevision: updateRevision, delayMs };
  // A pod between two states would be counted wrongly; a gate that opens changes no count yet.
  if (refresh.some((step) => changesState(step) || wasLabelled(step))) return nothing;

  const strategy = cloneSet.spec.updateStrategy;
  if (strategy?.type === "OnDelete" || strategy?.rollingUpdate?.paused) return nothing;
  const diff = computeDiff(input, (pod) => hasRevision(pod, updateRevision));
  if (diff.updateNum === 0) return nothing;

  const targetRevision = diff.updateNum > 0 ? updateRevision : currentRevision;
  const chosen = choosePodsToUpdate({ ...input, targetRevision, diff });
  const { actions, failure } = planActions(input, chosen, targetRevision);
  const inPlace = actions.flatMap((action) => (action.do === "in-place" ? [action] : []));
  const closing = new Set(inPlace.map(({ pod }) => pod));
  return {
    // Opening the gate of a pod that is about to close it again would only cost a write.
    refresh: refresh.filter(({ pod }) => !closing.has(pod)),
    actions,
    targetRevision,
    ...(failure !== undefined && { failure }),
    delayMs: soonest([delayMs, ...inPlace.map(({ spec }) => spec.graceSeconds * 1000)]),
  };
}

const soonest = (delays: readonly number[]): number => {
  const positive = delays.filter((delay) => delay > 0);
  return positive.length > 0 ? Math.min(...positive) : 0;
};

/** The gate, the next step of an in-place update, the lifecycle, and a label that releases before 1.1 did not set. */
function refreshOne(
  pod: ReadonlyPod,
  { cloneSet, updateRevision, gates, nowMs }: UpdateInput,
): Omit<PodStep, "pod"> & { delayMs: number } {
  const { lifecycle } = cloneSet.spec;
  const { pod: settled, delayMs, resize }: Refreshed = refreshPod(pod, { gates, hasRevision, nowMs });
  const state = nextState(pod, {
    lifecycle,
    isPlaced: Boolean(pod.spec?.nodeName),
    isUpdated: hasRevision(pod, updateRevision),
    isComplete: () => whyIncomplete(pod, gates) === undefined,
  });
  const entered = state
    ? enterState(settled, state, lifecycle?.inPlaceUpdate?.markPodNotReady ?? false, nowMs)
    : settled;
  return { after: withTemplateHash(entered), delayMs, ...(resize && { resize }) };
}

function withTemplateHash(pod: ReadonlyPod): ReadonlyPod {
  const { labels = {} } = pod.metadata;
  return labels[TEMPLATE_HASH_LABEL] === undefined
    ? {
        ...pod,
        metadata: {
          ...pod.metadata,
          labels: { ...labels, [TEMPLATE_HASH_LABEL]: shortHash(labels[REVISION_LABEL] ?? "") },
        },
      }
    : pod;
}

const wasLabelled = ({ pod }: PodStep): boolean => pod.metadata.labels?.[TEMPLATE_HASH_LABEL] === undefined;

function planActions(
  input: UpdateInput,
  chosen: readonly ReadonlyPod[],
  targetRevision: string,
): { actions: UpdateAction[]; failure?: string } {
  const { cloneSet, revisions, gates } = input;
  const rolling = cloneSet.spec.updateStrategy?.rollingUpdate;
  const policy = rolling?.podUpdatePolicy ?? "ReCreate";
  const options = {
    gates,
    graceSeconds: rolling?.inPlaceUpdateStrategy?.gracePeriodSeconds,
    ignoreClaims: policy === "InPlaceOnly",
  };
  // Hundreds of pods have the same few revisions.
  const specs = new Map<string, UpdateSpec | undefined>();
  const specFor = (pod: ReadonlyPod): UpdateSpec | undefined => {
    const hash = shortHash(pod.metadata.labels?.[REVISION_LABEL] ?? "");
    if (!specs.has(hash)) {
      const to = sideOf(revisions.find(({ metadata }) => shortHash(metadata.name) === shortHash(targetRevision)));
      specs.set(
        hash,
        to &&
          planInPlaceUpdate(
            sideOf(revisions.find(({ metadata }) => shortHash(metadata.name) === hash)),
            to,
            targetRevision,
            options,
          ),
      );
    }
    return specs.get(hash);
  };

  const actions: UpdateAction[] = [];
  for (const pod of chosen) {
    const spec = policy === "ReCreate" ? undefined : specFor(pod);
    if (spec) {
      const next = planInPlaceAction(input, pod, spec);
      if (typeof next === "string") return { actions, failure: next };
      if (next) actions.push(next);
    } else if (policy === "InPlaceOnly") {
      return {
        actions,
        failure: `find Pod ${pod.metadata.name} update strategy is InPlaceOnly but can not update in-place`,
      };
    } else if (!isMarkedForDelete(pod)) {
      // A pod that is marked waits for the scale pass to delete it; marking it again would be no change, and so no
      // progress.
      actions.push({ do: "recreate", pod });
    }
  }
  return { actions };
}

function sideOf(revision: ReadonlyRevision | undefined): InPlaceSide | undefined {
  return (
    revision && {
      template: podTemplateOf(revision),
      claimsHash: revision.metadata.annotations?.[CLAIM_TEMPLATES_HASH_ANNOTATION],
    }
  );
}

/** The update, what comes before it, nothing while the pod waits, or a text that says why it cannot be. */
function planInPlaceAction(
  { cloneSet, nowMs }: UpdateInput,
  pod: ReadonlyPod,
  spec: UpdateSpec,
): UpdateAction | string | undefined {
  const hook = cloneSet.spec.lifecycle?.inPlaceUpdate;
  const step = (after: ReadonlyPod): UpdateAction | undefined =>
    after === pod ? undefined : { do: "prepare", step: { pod, after } };
  const state = lifecycleState(pod);
  switch (state) {
    case "":
    case "PreparingNormal":
    case "Normal":
      return isHooked(hook, pod)
        ? step(enterState(pod, "PreparingUpdate", hook?.markPodNotReady ?? false, nowMs))
        : { do: "in-place", pod, spec };
    case "PreparingUpdate":
      return isHooked(hook, pod) ? undefined : { do: "in-place", pod, spec };
    case "Updated":
      return step(prepareUpdateAgain(pod, hook, nowMs));
    case "Updating":
      return { do: "in-place", pod, spec };
    default:
      return `not allowed to in-place update pod ${pod.metadata.name} in state ${state}`;
  }
}

/**
 * The two halves of an in-place update: the pod out of traffic, and then changed. The second builds on what the first
 * wrote.
 */
export function inPlaceSteps(
  spec: UpdateSpec,
  { gates, nowMs }: Pick<UpdateInput, "gates" | "nowMs">,
): { close(pod: ReadonlyPod): ReadonlyPod; start(pod: ReadonlyPod): Applied } {
  const relabel = (pod: ReadonlyPod): ReadonlyPod =>
    withLifecycleState(
      {
        ...pod,
        metadata: { ...pod.metadata, labels: { ...pod.metadata.labels, ...revisionLabels(spec.revision, gates) } },
      },
      "Updating",
      nowMs,
    );
  return {
    close: (pod) => closeGate(pod, spec, gates, nowMs),
    start: (pod) => startUpdate(pod, spec, { gates, relabel, nowMs }),
  };
}
