/**
 * The deletion of a leaving cluster's ManifestWorks: one cleanup priority after the other, each waited for. Pure.
 *
 * Upstream waits for the agent without a limit, so that the ManagedCluster of a vanished member stays until a user
 * removes the finalizers. Here an unreachable member is waited for up to a deadline; then its works are released, and
 * its workloads stay unchanged.
 */
import { CLEANUP_PRIORITY_ANNOTATION, MANIFEST_WORK_FINALIZER } from "@flotilla/ocm";
import type { ManifestWork } from "@flotilla/ocm";
import type { DeepReadonly } from "@flotilla/base";
import { findCondition, type NextCondition } from "@flotilla/apimachinery";
import { AVAILABLE, DELETING, type Read } from "../cluster-conditions.ts";

type Work = DeepReadonly<ManifestWork>;

/**
 * What happens to the works' objects on the member: they are deleted as each work specifies; they keep running and are
 * released; or they are left alone and the member is not waited for.
 */
export type RemovalMode = "delete" | "release" | "abandon";

export interface CleanUp {
  /** To be deleted now. */
  deletes: readonly Work[];
  /** Works no longer waited for: the finalizer that represents the member is removed. */
  orphaned: readonly Work[];
  /** The works orphan their objects. */
  isOrphaning: boolean;
  condition: NextCondition;
  /** When to check again without an event; undefined if no works are left. */
  recheckMs: number | undefined;
}

/** The same deadline as Open Cluster Management's operator has for an unreachable member. */
const UNREACHABLE_DEADLINE_MS = 5 * 60_000;
/** Releasing is quick on a member that answers, and the user who unjoins it is waiting. */
const RELEASE_DEADLINE_MS = 30_000;
const RECHECK_MS = 5_000;
const MAX_PRIORITY = 100;

export function planCleanUp(cluster: Read, works: readonly Work[], leaveMode: RemovalMode, nowMs: number): CleanUp {
  if (works.length === 0)
    return {
      deletes: [],
      orphaned: [],
      isOrphaning: false,
      recheckMs: undefined,
      condition: {
        type: DELETING,
        status: "True",
        reason: "NoResource",
        message: "No cleaned resource in cluster ns.",
      },
    };
  const held = works.filter(({ metadata }) => metadata.finalizers?.length);
  const isOrphaned = isGivenUp(cluster, leaveMode, nowMs);
  const first = Math.min(...works.map(priorityOf));
  // Works that are not waited for are deleted at once, in any order.
  const due = isOrphaned ? works : works.filter((work) => priorityOf(work) === first);
  const message = `The resource manifestworks is remaning, the remaining count is ${works.length}, the finalizer pending count is ${held.length}`;
  return {
    deletes: due.filter(({ metadata }) => metadata.deletionTimestamp === undefined),
    orphaned: isOrphaned ? held.filter(({ metadata }) => metadata.finalizers?.includes(MANIFEST_WORK_FINALIZER)) : [],
    isOrphaning: leaveMode === "release",
    condition: { type: DELETING, status: "False", reason: "ResourceRemaining", message },
    recheckMs: RECHECK_MS,
  };
}

function isGivenUp({ metadata, status }: Read, leaveMode: RemovalMode, nowMs: number): boolean {
  if (leaveMode === "abandon") return true;
  const waitedMs = nowMs - Date.parse(metadata.deletionTimestamp ?? "");
  if (leaveMode === "release") return waitedMs >= RELEASE_DEADLINE_MS;
  return findCondition(status?.conditions, AVAILABLE)?.status !== "True" && waitedMs >= UNREACHABLE_DEADLINE_MS;
}

/** From 0, which is deleted first, to 100; any other value counts as 0. */
function priorityOf({ metadata }: Work): number {
  const text = metadata.annotations?.[CLEANUP_PRIORITY_ANNOTATION] ?? "";
  const priority = /^[+-]?\d{1,10}$/.test(text) ? Number(text) : 0;
  return priority >= 0 && priority <= MAX_PRIORITY ? priority : 0;
}
