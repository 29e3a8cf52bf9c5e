/**
 * Assigns pods to slots: one slot per desired ordinal; the remaining pods are surplus.
 *
 * An empty slot gets a draft pod of the revision that the partition selects. Pure.
 */
import { INDEX_LABEL, statefulPod } from "@flotilla/kubernetes";
import type { ReadonlyPod, ReadonlyRevision } from "@flotilla/kubernetes";
import { isAllHooked, withLifecycleState } from "../lifecycle/lifecycle.ts";
import { isInRange, ordinalsIn } from "./ordinals.ts";
import { draftOf } from "./planned-actions.ts";
import type { Draft, Pass, PassInput } from "./planned-actions.ts";
import { countsAsUpdated, ordinalOf, ordinalsOf, replicasOf, startOf } from "./statefulset-pod-state.ts";
import type { ReadonlyStatefulSet } from "./statefulset-pod-state.ts";
import type { FeatureGates } from "../api/feature-gates.ts";

/** Pods created per reconcile; a set of thousands takes turns with the others. */
const MAX_NEW_PER_PASS = 500;

export function startPass(input: PassInput): Pass {
  const { set, pods, update, gates } = input;
  const range = ordinalsOf(set, gates);
  const inRange = new Map<number, ReadonlyPod>();
  const condemned: Draft[] = [];
  for (const pod of pods) {
    const ordinal = ordinalOf(pod);
    if (isInRange(range, ordinal)) inRange.set(ordinal, pod);
    else if (ordinal >= 0) condemned.push(draftOf(ordinal, pod, "there"));
  }

  const isNew = (pod: ReadonlyPod): boolean => countsAsUpdated(pod, update.metadata.name, gates);
  let old = [...inRange.values()].filter((pod) => !isNew(pod)).length;
  const slots: Draft[] = [];
  let made = 0;
  for (const ordinal of ordinalsIn(range)) {
    const there = inRange.get(ordinal);
    if (!there && made++ === MAX_NEW_PER_PASS) break;
    const pod = there ?? newPod(input, ordinal, { before: slots.length, old });
    slots.push(draftOf(ordinal, pod, there ? "there" : "missing"));
    if (!there && !isNew(pod)) old++;
    inRange.delete(ordinal);
  }
  // After the last slot of this reconcile only existing pods matter.
  for (const [ordinal, pod] of [...inRange].toSorted(([a], [b]) => a - b)) slots.push(draftOf(ordinal, pod, "there"));
  return {
    input,
    range,
    slots,
    unmade: replicasOf(set) - slots.length,
    condemned: condemned.toSorted((a, b) => b.ordinal - a.ordinal),
    newClaims: new Map(),
    changedClaims: new Map(),
    events: [],
    specs: new Map(),
    waitMs: 0,
  };
}

/** Input for the revision of a new pod. */
export interface Neighbours {
  /** The number of pods before it. */
  before: number;
  /** The number of other pods that are not updated. */
  old: number;
}

/** The pod as this set creates it, without its lifecycle state. */
export function makePod(
  { set, current, update, gates }: Pick<PassInput, "set" | "current" | "update" | "gates">,
  ordinal: number,
  neighbours: Neighbours,
): ReadonlyPod {
  const revision: ReadonlyRevision = isOfCurrent(set, ordinal, neighbours, gates) ? current : update;
  const pod = statefulPod(set, revision, ordinal);
  if (gates.isOn("PodIndexLabel")) return pod;
  const { [INDEX_LABEL]: _index, ...labels } = pod.metadata.labels ?? {};
  return { ...pod, metadata: { ...pod.metadata, labels } };
}

/** The partition keeps this many pods at the current revision: the first ones in order, or any. */
function isOfCurrent(
  set: ReadonlyStatefulSet,
  ordinal: number,
  { before, old }: Neighbours,
  gates: FeatureGates,
): boolean {
  const { type = "RollingUpdate", rollingUpdate } = set.spec.updateStrategy ?? {};
  if (type !== "RollingUpdate") return false;
  if (!rollingUpdate) return ordinal < startOf(set, gates) + (set.status?.currentReplicas ?? 0);
  return (rollingUpdate.unorderedUpdate ? old : before) < (rollingUpdate.partition ?? 0);
}

function newPod(input: PassInput, ordinal: number, neighbours: Neighbours): ReadonlyPod {
  const pod = makePod(input, ordinal, neighbours);
  const hook = input.set.spec.lifecycle?.preNormal;
  return withLifecycleState(pod, hook && !isAllHooked(hook, pod) ? "PreparingNormal" : "Normal", input.nowMs);
}
