/**
 * The actions of one reconcile of an Advanced StatefulSet, as they are planned step by step.
 *
 * Every decision is based on the observed pods (`seen`); the planned changes accumulate in `after`. A pod to be deleted
 * cannot be changed any more, so a step that needs to change it ends the plan there: the deletion itself triggers the
 * next reconcile. Nothing here writes; `plan-statefulset.ts` turns the result into a plan.
 */
import { claimsOf } from "@flotilla/kubernetes";
import type {
  PersistentVolumeClaim,
  ReadonlyClaim,
  ReadonlyPod,
  ReadonlyRevision,
  StorageClass,
} from "@flotilla/kubernetes";
import type { DeepReadonly } from "@flotilla/base";
import type { RecordedEvent } from "@flotilla/controller-runtime";
import type { Applied } from "../in-place/apply.ts";
import { refreshPod, whyIncomplete } from "../in-place/refresh.ts";
import type { UpdateSpec } from "../in-place/state.ts";
import { enterState, isHooked, nextState } from "../lifecycle/lifecycle.ts";
import { firstOwner, mendedOwners } from "./claim-owners.ts";
import { isInRange } from "./ordinals.ts";
import type { OrdinalRange } from "./ordinals.ts";
import { revisionOf } from "./statefulset-pod-state.ts";
import type { ReadonlyStatefulSet } from "./statefulset-pod-state.ts";
import type { FeatureGates } from "../api/feature-gates.ts";

export interface PassInput {
  set: ReadonlyStatefulSet;
  /** The pods of this set, named after it. */
  pods: readonly ReadonlyPod[];
  current: ReadonlyRevision;
  update: ReadonlyRevision;
  /** All revisions in the history. */
  revisions: readonly ReadonlyRevision[];
  claimNamed(name: string): ReadonlyClaim | undefined;
  classNamed(name: string): DeepReadonly<StorageClass> | undefined;
  gates: FeatureGates;
  nowMs: number;
}

/** The planned changes of a pod. */
export interface Draft {
  readonly ordinal: number;
  readonly seen: ReadonlyPod;
  after: ReadonlyPod;
  resize?: Applied["resize"];
  /**
   * `missing` is a desired pod that does not exist, `new` one that this plan creates, `removed` one that it deletes.
   */
  is: "there" | "missing" | "new" | "removed";
  /** A field that only users or accidents change was corrected. */
  isMended: boolean;
  isUpdatedInPlace: boolean;
}

/** Why a plan ends early. */
export type Ending =
  /** The pod is being deleted by this plan. */
  | { because: "removed"; pod: string; while: "changing" | "updating" | "removing" }
  /** `isBlocked`: no event will signal the end of it. */
  | { because: "failure"; message: string; isBlocked?: boolean; isCreation?: boolean };

export interface Pass {
  readonly input: PassInput;
  readonly range: OrdinalRange;
  /** The desired pods, ascending. */
  readonly slots: readonly Draft[];
  /** Further desired pods, too many for one reconcile. */
  readonly unmade: number;
  /** The pods to remove, descending. */
  readonly condemned: readonly Draft[];
  readonly newClaims: Map<string, { claim: ReadonlyClaim; pod: string }>;
  readonly changedClaims: Map<string, { claim: ReadonlyClaim; pod: string; isResized: boolean }>;
  readonly events: RecordedEvent[];
  /** In-place changes between two revisions, by the older one: hundreds of pods share a few. */
  readonly specs: Map<ReadonlyRevision, UpdateSpec | undefined>;
  /** Requeue after this time; 0 if an event will trigger the next reconcile. */
  waitMs: number;
  ending?: Ending;
}

export const draftOf = (ordinal: number, seen: ReadonlyPod, is: Draft["is"]): Draft => ({
  ordinal,
  seen,
  after: seen,
  is,
  isMended: false,
  isUpdatedInPlace: false,
});

export function wait(pass: Pass, ms: number): void {
  if (ms > 0) pass.waitMs = pass.waitMs > 0 ? Math.min(pass.waitMs, ms) : ms;
}

/** Returns false and ends the plan for a pod that cannot be written. A pod with a finalizer can. */
function mayWrite(pass: Pass, draft: Draft, doing: "changing" | "updating" | "removing"): boolean {
  const isGone = draft.is === "missing" || (draft.is === "removed" && !draft.seen.metadata.finalizers?.length);
  if (isGone) pass.ending = { because: "removed", pod: draft.seen.metadata.name, while: doing };
  return !isGone;
}

/** Replaces the planned pod. Returns false if the plan ends. */
export function change(
  pass: Pass,
  draft: Draft,
  after: ReadonlyPod,
  doing: "changing" | "updating" = "changing",
): boolean {
  if (after === draft.after) return true;
  if (!mayWrite(pass, draft, doing)) return false;
  draft.after = after;
  return true;
}

export type Removal = "ended" | "removed" | "prepared" | "waits";

/**
 * Deletes the pod. One with a handler of the preDelete hook stays in PreparingDelete until its owner removes the
 * handler.
 */
export function remove(pass: Pass, draft: Draft): Removal {
  const { set, nowMs } = pass.input;
  const hook = set.spec.lifecycle?.preDelete;
  if (isHooked(hook, draft.seen)) {
    const before = draft.after;
    if (!change(pass, draft, enterState(before, "PreparingDelete", hook?.markPodNotReady ?? false, nowMs)))
      return "ended";
    return before.metadata === draft.after.metadata ? "waits" : "prepared";
  }
  if (!mayWrite(pass, draft, "removing")) return "ended";
  // A pod that this plan would create only to delete it is not created.
  draft.is = draft.is === "new" ? "missing" : "removed";
  return "removed";
}

export type Refresh = "ended" | "settled" | "moved";

/**
 * The readiness gate, the next step of an in-place update, and the lifecycle state; `moved` if the pod enters another
 * state.
 */
export function refresh(pass: Pass, draft: Draft): Refresh {
  const { set, update, gates, nowMs } = pass.input;
  const { lifecycle } = set.spec;
  const { pod, delayMs, resize } = refreshPod(draft.after, {
    gates,
    hasRevision: (candidate, revision) => revisionOf(candidate) === revision,
    nowMs,
  });
  wait(pass, delayMs);
  if (!change(pass, draft, pod)) return "ended";
  if (resize) draft.resize = resize;

  const state = nextState(draft.seen, {
    lifecycle,
    isPlaced: true,
    isUpdated: revisionOf(draft.seen) === update.metadata.name,
    isComplete: () => whyIncomplete(draft.seen, gates) === undefined,
  });
  if (state === undefined) return "settled";
  return change(pass, draft, enterState(draft.after, state, lifecycle?.inPlaceUpdate?.markPodNotReady ?? false, nowMs))
    ? "moved"
    : "ended";
}

/** The claim after the planned changes. */
export function claimNamed({ input, newClaims, changedClaims }: Pass, name: string): ReadonlyClaim | undefined {
  return changedClaims.get(name)?.claim ?? newClaims.get(name)?.claim ?? input.claimNamed(name);
}

/** The pod's existing claims that stay, by template. */
export function claimsInUse(
  pass: Pass,
  { ordinal }: Draft,
): { template: DeepReadonly<PersistentVolumeClaim>; claim: ReadonlyClaim }[] {
  const { metadata, spec } = pass.input.set;
  return (spec.volumeClaimTemplates ?? []).flatMap((template) => {
    const claim = claimNamed(pass, `${template.metadata.name}-${metadata.name}-${ordinal}`);
    return claim && claim.metadata.deletionTimestamp === undefined ? [{ template, claim }] : [];
  });
}

/** Creates missing claims of the pod. Returns the obstacle: a terminating claim of that name. */
export function makeClaims(pass: Pass, { ordinal, seen }: Draft): string | undefined {
  const { set, gates } = pass.input;
  const owner = gates.isOn("StatefulSetAutoDeletePVC") ? firstOwner(set) : undefined;
  const going: string[] = [];
  for (const claim of claimsOf(set, ordinal, owner).values()) {
    const { name } = claim.metadata;
    const there = claimNamed(pass, name);
    if (!there) pass.newClaims.set(name, { claim, pod: seen.metadata.name });
    else if (there.metadata.deletionTimestamp !== undefined) going.push(`pvc ${name} is to be deleted`);
  }
  if (going.length === 0) return undefined;
  return going.length === 1 ? going[0] : `[${going.join(", ")}]`;
}

/** Sets the owners of claims according to the retention policy. Returns whether any changed. */
export function mendClaimOwners(pass: Pass, draft: Draft): boolean {
  const { set, gates } = pass.input;
  if (!gates.isOn("StatefulSetAutoDeletePVC")) return false;
  let isChanged = false;
  for (const { metadata } of claimsOf(set, draft.ordinal).values()) {
    const claim = claimNamed(pass, metadata.name);
    const mended = claim && mendedOwners(set, claim, draft.seen, !isInRange(pass.range, draft.ordinal));
    if (!mended) continue;
    pass.changedClaims.set(metadata.name, { claim: mended, pod: draft.seen.metadata.name, isResized: false });
    isChanged = true;
  }
  return isChanged;
}
