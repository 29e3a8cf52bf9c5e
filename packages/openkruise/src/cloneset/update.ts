/**
 * The update step: first completes pending steps of every pod, then moves some of them to their target revision.
 *
 * Reads: pods, the revisions' templates, the numbers of `diff.ts`. Writes nothing; `cloneset-controller.ts` executes
 * the plan.
 */
import { podTemplateOf, REVISION_LABEL, shortHash, TEMPLATE_HASH_LABEL } from "@flotilla/kubernetes";
import type { ReadonlyPod, ReadonlyRevision } from "@flotilla/kubernetes";
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
import { isMarkedForDelete } from "../pod/specified-delete.ts";
import type { PodStep } from "../in-place/write-pod.ts";
import { computeDiff } from "./diff.ts";
import type { DiffInput } from "./diff.ts";
import { CLAIM_TEMPLATES_HASH_ANNOTATION, hasRevision, revisionLabels } from "./cloneset-names.ts";
import { changesState } from "./plan-scale.ts";
import { choosePodsToUpdate } from "./update-order.ts";

export type UpdateAction =
  /** The pod waits for its hook first. */
  | { do: "prepare"; step: PodStep }
  | { do: "in-place"; pod: ReadonlyPod; spec: UpdateSpec }
  /** Marks the pod for deletion; the next scale step deletes and replaces it. */
  | { do: "recreate"; pod: ReadonlyPod };

export interface UpdatePlan {
  /** Pending steps of pods, outside of updates. */
  refresh: readonly PodStep[];
  /** In execution order. */
  actions: readonly UpdateAction[];
  /** The target revision of `actions`. */
  targetRevision: string;
  /** Why the update is blocked. */
  failure?: string;
  /** Requeue after this time; 0 if an event will trigger the next reconcile. */
  delayMs: number;
}

export const changesPods = ({ refresh, actions }: UpdatePlan): boolean => refresh.length + actions.length > 0;

export interface UpdateInput extends DiffInput {
  /** All revisions in the history. */
  revisions: readonly ReadonlyRevision[];
}

export function planUpdate(input: UpdateInput): UpdatePlan {
  const { cloneSet, pods, updateRevision, currentRevision } = input;
  const refreshed = pods.map((pod) => ({ pod, ...refreshOne(pod, input) }));
  const refresh = refreshed.filter(({ pod, after }) => after !== pod);
  const delayMs = soonest(refreshed.map((step) => step.delayMs));
  const nothing: UpdatePlan = { refresh, actions: [], targetRevision: updateRevision, delayMs };
  // A pod between two states would be counted wrongly; a gate that becomes true changes no count yet.
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
    // Setting the gate of a pod that is about to clear it again would waste a write.
    refresh: refresh.filter(({ pod }) => !closing.has(pod)),
    actions,
    targetRevision,
    failure,
    delayMs: soonest([delayMs, ...inPlace.map(({ spec }) => spec.graceSeconds * 1000)]),
  };
}

const soonest = (delays: readonly number[]): number => {
  const positive = delays.filter((delay) => delay > 0);
  return positive.length > 0 ? Math.min(...positive) : 0;
};

/**
 * The readiness gate, the next step of an in-place update, the lifecycle state, and a label that releases before 1.1
 * did not set.
 */
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
  return { after: withTemplateHash(entered), delayMs, resize };
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
  // Hundreds of pods share a few revisions.
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
      // A marked pod waits for the scale step to delete it; marking it again would change nothing.
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

/** The update, its preparation, nothing while the pod waits, or the reason why it is impossible. */
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
 * The two halves of an in-place update: the pod becomes unready, and then changes. The second builds on the result of
 * the first.
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
