/**
 * The next step of an Advanced DaemonSet's update: old pods are changed in place or deleted within maxUnavailable, or
 * new pods start beside them and the old ones are deleted afterwards.
 *
 * Upstream walks the nodes in random order. Here the order is fixed: the one in which the partition counts them. Reads:
 * the view of `nodes.ts`, the revisions' templates. Writes nothing.
 */
import { labelSelectorOf, matchesLabels } from "@flotilla/apimachinery";
import { podTemplateOf, REVISION_LABEL, shortHash } from "@flotilla/kubernetes";
import type { NodeView, ReadonlyPod, ReadonlyRevision } from "@flotilla/kubernetes";
import { closeGate, startUpdate } from "../in-place/apply.ts";
import { refreshPod } from "../in-place/refresh.ts";
import { IN_PLACE_READY } from "../in-place/state.ts";
import type { UpdateSpec } from "../in-place/state.ts";
import { planInPlaceUpdate } from "../in-place/update-spec.ts";
import { hasReadinessGate } from "../pod/pod-ready.ts";
import type { PodStep } from "../in-place/write-pod.ts";
import { burstOf, isRolling, partitionOf, rollingOf, updateLimits } from "./limits.ts";
import { planSync } from "./manage.ts";
import type { DaemonPlan } from "./manage.ts";
import { isLeaving, isPreparingDelete, versionsOn, works } from "./nodes.ts";
import type { DaemonView, Versions } from "./nodes.ts";
import type { FeatureGates } from "../api/feature-gates.ts";

export interface UpdatePlan extends DaemonPlan {
  inPlace: readonly PodStep[];
}

interface Place extends Versions {
  node: NodeView;
}

/**
 * The nodes of an update: updated ones and those without a pod first, so that the partition always selects the same
 * nodes, then those with an old pod, in descending order of names. A selector excludes other nodes with an old pod.
 */
export function placesInScope(view: DaemonView): Place[] {
  const { set, nodes } = view;
  const { selector } = rollingOf(set);
  const nodeSelector = selector && labelSelectorOf(selector);
  const places = nodes
    // Nodes that have no pod and need none do not count.
    .filter(({ shouldRun, pods }) => shouldRun || pods.length > 0)
    .toSorted((a, b) => (a.name < b.name ? 1 : -1))
    .map((node): Place => ({ node, ...versionsOn(view, node) }));
  const isUpdated = ({ updated, isCrowded }: Place): boolean => isCrowded || updated !== undefined;
  const waiting = places.filter((place) => !isUpdated(place));
  const old = waiting.filter((place) => !isLeaving(place.old));
  const selected = nodeSelector ? old.filter(({ node }) => matchesLabels(nodeSelector, node.labels)) : old;
  return [...places.filter(isUpdated), ...waiting.filter((place) => isLeaving(place.old)), ...selected].slice(
    0,
    Math.max(0, places.length - partitionOf(set)),
  );
}

export interface UpdateInput {
  revisions: readonly ReadonlyRevision[];
  update: ReadonlyRevision;
  gates: FeatureGates;
}

export function planUpdate(view: DaemonView, input: UpdateInput): UpdatePlan {
  const { set, nowMs } = view;
  if (!isRolling(set) || rollingOf(set).paused) return { ...planSync(set, [], [], nowMs), inPlace: [] };
  const { maxSurge, maxUnavailable } = updateLimits(view);
  const places = placesInScope(view);
  if (maxSurge > 0) {
    const { create, remove } = surge(view, places, maxSurge);
    return { ...planSync(set, create, remove, nowMs), inPlace: [] };
  }
  const old = replaceable(view, places, maxUnavailable);
  if (rollingOf(set).rollingUpdateType !== "InPlaceIfPossible")
    return { ...planSync(set, [], old, nowMs), inPlace: [] };
  const specOf = inPlaceSpecs(input);
  const possible: { pod: ReadonlyPod; spec: UpdateSpec }[] = [];
  const others: ReadonlyPod[] = [];
  for (const pod of old) {
    const spec = specOf(pod);
    if (spec) possible.push({ pod, spec });
    else others.push(pod);
  }
  const inPlace = possible.slice(0, burstOf(set)).map(({ pod, spec }) => inPlaceStep(pod, spec, input.gates, nowMs));
  return { ...planSync(set, [], others, nowMs), inPlace };
}

/** Old pods that may be deleted now; unavailable ones do not count against the budget. */
function replaceable(view: DaemonView, places: readonly Place[], maxUnavailable: number): ReadonlyPod[] {
  const broken: ReadonlyPod[] = [];
  const candidates: ReadonlyPod[] = [];
  let unavailable = 0;
  for (const { updated, old, isCrowded } of places) {
    if (isCrowded || isLeaving(old) === isLeaving(updated)) unavailable++;
    else if (updated) {
      // A leaving pod that is unavailable counts twice, as upstream does.
      unavailable += Number(!works(view, updated)) + Number(isPreparingDelete(updated));
    } else if (old) (works(view, old) ? candidates : broken).push(old);
  }
  return [...broken, ...candidates.slice(0, Math.max(0, maxUnavailable - unavailable))];
}

/** New pods start beside old ones, which are deleted when the new ones are available. */
function surge(
  view: DaemonView,
  places: readonly Place[],
  maxSurge: number,
): { create: string[]; remove: ReadonlyPod[] } {
  const remove: ReadonlyPod[] = [];
  const atOnce: string[] = [];
  const candidates: string[] = [];
  let surging = 0;
  for (const { node, updated, old, isCrowded } of places) {
    if (isCrowded) surging++;
    else if (!old || isPreparingDelete(old)) continue;
    else if (!updated) (works(view, old) ? candidates : atOnce).push(node.name);
    else if (!works(view, updated) || isPreparingDelete(updated)) surging++;
    else remove.push(old);
  }
  return { create: [...atOnce, ...candidates.slice(0, Math.max(0, maxSurge - surging))], remove };
}

export const hashOf = ({ metadata }: ReadonlyRevision): string => metadata.labels?.[REVISION_LABEL] ?? "";

/**
 * The in-place change, or undefined for a pod that must be replaced. Only pods created with the readiness gate can be
 * updated in place.
 */
function inPlaceSpecs({ revisions, update, gates }: UpdateInput): (pod: ReadonlyPod) => UpdateSpec | undefined {
  // Hundreds of pods share a few revisions.
  const specs = new Map<string, UpdateSpec | undefined>();
  return (pod) => {
    if (!hasReadinessGate(pod, IN_PLACE_READY)) return undefined;
    const hash = shortHash(pod.metadata.labels?.[REVISION_LABEL] ?? "");
    if (!specs.has(hash)) {
      const from = revisions.find((revision) => revision !== update && shortHash(hashOf(revision)) === hash);
      specs.set(
        hash,
        from &&
          planInPlaceUpdate({ template: podTemplateOf(from) }, { template: podTemplateOf(update) }, hashOf(update), {
            gates,
          }),
      );
    }
    return specs.get(hash);
  };
}

function inPlaceStep(pod: ReadonlyPod, spec: UpdateSpec, gates: FeatureGates, nowMs: number): PodStep {
  const relabel = (before: ReadonlyPod): ReadonlyPod => ({
    ...before,
    metadata: { ...before.metadata, labels: { ...before.metadata.labels, [REVISION_LABEL]: spec.revision } },
  });
  const { pod: after, resize } = startUpdate(closeGate(pod, spec, gates, nowMs), spec, { gates, relabel, nowMs });
  return { pod, after, resize };
}

export interface RefreshPlan {
  steps: readonly PodStep[];
  /** Requeue after this time; 0 if an event will trigger the next reconcile. */
  delayMs: number;
}

/** Sets readiness gates and continues in-place updates, except for pods that the update makes unready now. */
export function planRefresh(
  pods: readonly ReadonlyPod[],
  { inPlace }: UpdatePlan,
  gates: FeatureGates,
  nowMs: number,
): RefreshPlan {
  const taken = new Set(inPlace.map(({ pod }) => pod));
  const hasRevision = ({ metadata }: ReadonlyPod, revision: string): boolean =>
    metadata.labels?.[REVISION_LABEL] === revision;
  const refreshed = pods
    .filter((pod) => !taken.has(pod))
    .map((pod) => ({ before: pod, ...refreshPod(pod, { gates, hasRevision, nowMs }) }));
  return {
    // A pod without a node does not need the readiness gate yet, and placement is about to write it: two writes at once
    // would conflict.
    steps: refreshed
      .filter(({ before, pod }) => pod !== before && before.spec.nodeName)
      .map(({ before, pod, resize }) => ({ pod: before, after: pod, resize })),
    delayMs: refreshed.reduce(
      (soonest, { delayMs }) => (delayMs > 0 && (soonest === 0 || delayMs < soonest) ? delayMs : soonest),
      0,
    ),
  };
}
