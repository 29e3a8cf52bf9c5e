/**
 * Keeps pods that move to a member during a release on the revision before, where the open wave allows no more. Pure.
 *
 * A workload of which all pods have a revision starts new pods with it, whatever its partition says. Its copy therefore
 * gets the template of the revision before, with a partition that keeps the pods of the release, until a wave raises it.
 */
import type { Entry, Release } from "./release.ts";

/** Before the new size is recorded: a member of which all pods could have the release gets more pods. */
export function noticeGrowth(entry: Entry, size: number): void {
  const { target, replicas } = entry;
  if (target === undefined) return;
  if (size > target && target >= replicas) entry.filled = true;
  // What it no longer has is given to others, and does not return with its pods.
  if (size < target) {
    entry.target = size;
    delete entry.kept;
  }
}

export function keepMoved({ self, previous, input }: Release, entry: Entry): void {
  const { revision, filled, target, replicas, updated } = entry;
  // A copy that an earlier release wrote stays until this one writes its own.
  if (revision !== self) return;
  const isKeeping =
    filled === true &&
    previous !== undefined &&
    input.updates.hasPartition &&
    target !== undefined &&
    target < replicas &&
    updated >= target;
  if (isKeeping) entry.kept = target;
  else delete entry.kept;
}
