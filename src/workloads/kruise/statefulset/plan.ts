/**
 * One step of an Advanced StatefulSet: which pods and claims to make, delete or change, and what the status says.
 *
 * Reads the set, its pods, claims and revisions; writes nothing. Made of `scale.ts`, then `update.ts`, on one pass.
 */
import type { RecordedEvent } from "../../../runtime/index.ts";
import type { ReadonlyClaim } from "../../claims.ts";
import type { ReadonlyPod } from "../../kubernetes/pod.ts";
import type { Applied } from "../in-place/apply.ts";
import type { Ending, Pass, PassInput } from "./pass.ts";
import { scale } from "./scale.ts";
import { startPass } from "./slots.ts";
import { planStatus } from "./status.ts";
import type { StatefulSetStatus, StatusFacts } from "./status.ts";
import { update } from "./update.ts";

/** A pod and what becomes of it. */
export interface PodChange {
  pod: ReadonlyPod;
  after: ReadonlyPod;
  resize?: Applied["resize"];
  isMended: boolean;
  isUpdatedInPlace: boolean;
}

export interface StatefulPlan {
  /** Before the pods that use them. */
  createClaims: readonly { claim: ReadonlyClaim; pod: string }[];
  changeClaims: readonly { claim: ReadonlyClaim; pod: string; isResized: boolean }[];
  create: readonly ReadonlyPod[];
  change: readonly PodChange[];
  remove: readonly ReadonlyPod[];
  /** What is to be told besides the writes. */
  events: readonly RecordedEvent[];
  status: StatefulSetStatus;
  /** Look again after this time; 0 when a change will tell. */
  delayMs: number;
  /** Why the pass went no further. */
  ending?: Ending;
}

export const changesNothing = ({ createClaims, changeClaims, create, change, remove }: StatefulPlan): boolean =>
  createClaims.length + changeClaims.length + create.length + change.length + remove.length === 0;

export function planStatefulSet(input: PassInput, facts: StatusFacts): StatefulPlan {
  const pass = startPass(input);
  // What a set that goes has made is garbage collection's business.
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
    ...(pass.ending && { ending: pass.ending }),
  };
}

/** A pod that goes is not changed first, unless a finalizer keeps it and people will look at it. */
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
      ...(resize && { resize }),
    }));
}
