/**
 * Plans one step of an Advanced StatefulSet: the pods and claims to create, delete or change, and the status.
 *
 * Reads the set, its pods, claims and revisions; writes nothing. Runs `scale-statefulset.ts`, then `update.ts`.
 */
import type { RecordedEvent } from "@flotilla/controller-runtime";
import type { ReadonlyClaim, ReadonlyPod } from "@flotilla/kubernetes";
import type { Applied } from "../in-place/apply.ts";
import type { Ending, Pass, PassInput } from "./planned-actions.ts";
import { scale } from "./scale-statefulset.ts";
import { startPass } from "./slots.ts";
import { planStatus } from "./statefulset-status.ts";
import type { StatefulSetStatus, StatusFacts } from "./statefulset-status.ts";
import { update } from "./update.ts";

/** A pod and its new state. */
export interface PodChange {
  pod: ReadonlyPod;
  after: ReadonlyPod;
  resize?: Applied["resize"];
  isMended: boolean;
  isUpdatedInPlace: boolean;
}

export interface StatefulPlan {
  /** Created before the pods that use them. */
  createClaims: readonly { claim: ReadonlyClaim; pod: string }[];
  changeClaims: readonly { claim: ReadonlyClaim; pod: string; isResized: boolean }[];
  create: readonly ReadonlyPod[];
  change: readonly PodChange[];
  remove: readonly ReadonlyPod[];
  /** Events besides those of the writes. */
  events: readonly RecordedEvent[];
  status: StatefulSetStatus;
  /** Requeue after this time; 0 if an event will trigger the next reconcile. */
  delayMs: number;
  /** Why the plan ended early. */
  ending?: Ending;
}

export const changesNothing = (plan: StatefulPlan): boolean => {
  const { createClaims, changeClaims, create, change, remove } = plan;
  return createClaims.length + changeClaims.length + create.length + change.length + remove.length === 0;
};

export function planStatefulSet(input: PassInput, facts: StatusFacts): StatefulPlan {
  const pass = startPass(input);
  // The garbage collector deletes the dependents of a deleted set.
  const taken = !input.set.metadata.deletionTimestamp && scale(pass) ? update(pass) : { current: 0, updated: 0 };
  const drafts = [...pass.slots, ...pass.condemned];
  return {
    createClaims: [...pass.newClaims.values()],
    changeClaims: [...pass.changedClaims.values()],
    create: drafts.filter((draft) => draft.is === "new").map(({ seen }) => seen),
    change: changesOf(pass),
    remove: drafts.filter((draft) => draft.is === "removed").map(({ seen }) => seen),
    events: pass.events,
    status: planStatus(pass, taken, facts),
    delayMs: pass.waitMs,
    ending: pass.ending,
  };
}

/** A pod to be deleted is not changed first, unless a finalizer keeps it visible to users. */
function changesOf({ slots, condemned }: Pass): PodChange[] {
  const stays = slots
    .concat(condemned)
    .filter(({ is, seen }) => is === "there" || (is === "removed" && seen.metadata.finalizers?.length));
  return stays
    .filter(({ seen, after, isMended }) => after !== seen || isMended)
    .map(({ seen, after, resize, isMended, isUpdatedInPlace }) => ({
      pod: seen,
      after,
      isMended,
      isUpdatedInPlace,
      resize,
    }));
}
