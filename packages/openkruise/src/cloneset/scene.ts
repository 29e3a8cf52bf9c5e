/** The input of one reconcile of a CloneSet. */
import type { Owner, ReadonlyClaim, ReadonlyPod, ReadonlyRevision, RevisionPlan } from "@flotilla/kubernetes";
import type { ReadonlyCloneSet } from "./cloneset-pod-state.ts";

/** A CloneSet with its pods, claims and revisions. */
export interface Scene {
  cloneSet: ReadonlyCloneSet;
  owner: Owner;
  /** All pods of the CloneSet, and the active ones. */
  pods: readonly ReadonlyPod[];
  active: readonly ReadonlyPod[];
  claims: readonly ReadonlyClaim[];
  /** The stored revisions. */
  known: readonly ReadonlyRevision[];
  revisions: RevisionPlan;
  signal: AbortSignal;
}
