/**
 * How a cluster that is being deleted loses its ManifestWorks: a level of priority after the other, each waited for.
 * Pure.
 *
 * Upstream waits for the agent for good, so that the ManagedCluster of a member that is gone stays until somebody takes
 * the finalizers off by hand. Here a member that does not answer is waited for a while; then its works are let go, and
 * what it may still run stays as it is.
 */
import { CLEANUP_PRIORITY_ANNOTATION, MANIFEST_WORK_FINALIZER } from "../../api/index.ts";
import type { ManifestWork } from "../../api/index.ts";
import type { DeepReadonly } from "../../base/index.ts";
import { findCondition, type NextCondition } from "../../machinery/index.ts";
import { AVAILABLE, DELETING, type Read } from "./conditions.ts";

type Work = DeepReadonly<ManifestWork>;

/**
 * What becomes of what the works put on the member: it is deleted there as each work says; it keeps running and is
 * released; or nobody touches it and nobody waits for the member.
 */
export type Farewell = "delete" | "release" | "abandon";

export interface CleanUp {
  /** To be deleted now. */
  deletes: readonly Work[];
  /** Not to be waited for any more: the finalizer that stands for the member goes. */
  letGo: readonly Work[];
  /** The works leave what they made where it is. */
  isOrphaning: boolean;
  condition: NextCondition;
  /** When to look again although nothing changed; undefined when nothing is left. */
  lookAgainMs: number | undefined;
}

/** As long as Open Cluster Management's operator waits for a member that does not answer. */
const UNREACHABLE_DEADLINE_MS = 5 * 60_000;
/** Releasing is quick on a member that answers, and whoever unjoins one waits for it. */
const RELEASE_DEADLINE_MS = 30_000;
const LOOK_AGAIN_MS = 5_000;
const MAX_PRIORITY = 100;

export function planCleanUp(cluster: Read, works: readonly Work[], farewell: Farewell, nowMs: number): CleanUp {
  if (works.length === 0)
    return {
      deletes: [],
      letGo: [],
      isOrphaning: false,
      lookAgainMs: undefined,
      condition: {
        type: DELETING,
        status: "True",
        reason: "NoResource",
        message: "No cleaned resource in cluster ns.",
      },
    };
  const held = works.filter(({ metadata }) => metadata.finalizers?.length);
  const isLetGo = isGivenUp(cluster, farewell, nowMs);
  const first = Math.min(...works.map(priorityOf));
  // What nobody waits for goes at once, in any order.
  const due = isLetGo ? works : works.filter((work) => priorityOf(work) === first);
  const message = `The resource manifestworks is remaning, the remaining count is ${works.length}, the finalizer pending count is ${held.length}`;
  return {
    deletes: due.filter(({ metadata }) => metadata.deletionTimestamp === undefined),
    letGo: isLetGo ? held.filter(({ metadata }) => metadata.finalizers?.includes(MANIFEST_WORK_FINALIZER)) : [],
    isOrphaning: farewell === "release",
    condition: { type: DELETING, status: "False", reason: "ResourceRemaining", message },
    lookAgainMs: LOOK_AGAIN_MS,
  };
}

function isGivenUp({ metadata, status }: Read, farewell: Farewell, nowMs: number): boolean {
  if (farewell === "abandon") return true;
  const waitedMs = nowMs - Date.parse(metadata.deletionTimestamp ?? "");
  if (farewell === "release") return waitedMs >= RELEASE_DEADLINE_MS;
  return findCondition(status?.conditions, AVAILABLE)?.status !== "True" && waitedMs >= UNREACHABLE_DEADLINE_MS;
}

/** From 0, which goes first, to 100; anything else counts as 0. */
function priorityOf({ metadata }: Work): number {
  const text = metadata.annotations?.[CLEANUP_PRIORITY_ANNOTATION] ?? "";
  const priority = /^[+-]?\d{1,10}$/.test(text) ? Number(text) : 0;
  return priority >= 0 && priority <= MAX_PRIORITY ? priority : 0;
}
