/**
 * History of a binding's automatic moves: cause, actor, before and after. While a move is in progress its eviction task
 * has the same data. The latest few are stored on the binding; Events cover the rest for a while.
 */
import type { GracefulEvictionTask } from "@flotilla/apimachinery/facts/work-karmada-v1alpha2.ts";
import type { ResourceBinding } from "@flotilla/karmada";
import { formatTime, isObject, type DeepReadonly } from "@flotilla/base";
import { MOVES } from "../../flotilla-names.ts";
/** How many moves are stored on a binding. */
const MAX_MOVES = 5;
/** How many clusters a move names before and after; a binding may have thousands. */
const MAX_NAMED = 8;

/**
 * How an eviction task ended: the replacement is healthy, the timeout expired, a user confirmed the deletion of the
 * copy, or the copy stays because no other cluster fits any more.
 */
export type Ending = "Replaced" | "TimedOut" | "Confirmed" | "Withdrawn";

export interface Move {
  from: string;
  /** Replicas of the evicted copy; unset for kinds without replicas. */
  replicas?: number;
  cause: string;
  message?: string;
  actor: string;
  /** The clusters before, and after with their replicas; the first few. */
  before: string[];
  after: string[];
  began: string;
  ended: string;
  ending: Ending;
  /** The position of this move in a row, for moves of a failed application (`move-pauses.ts`). */
  inRow?: number;
}

export function movesOf({ metadata }: DeepReadonly<ResourceBinding>): unknown[] {
  const text = metadata.annotations?.[MOVES];
  if (text === undefined) return [];
  try {
    const moves: unknown = JSON.parse(text);
    return Array.isArray(moves) ? moves.filter(isObject) : [];
  } catch (error) {
    if (error instanceof SyntaxError) return []; // Overwritten by a user; the next move starts a new list.
    throw error;
  }
}

export function moveOf(
  { spec }: DeepReadonly<ResourceBinding>,
  task: DeepReadonly<GracefulEvictionTask>,
  ending: Ending,
  nowMs: number,
  inRow?: number,
): Move {
  const after = (spec.clusters ?? []).map(({ name, replicas }) =>
    replicas === undefined ? name : `${name}=${replicas}`,
  );
  return {
    from: task.fromCluster,
    replicas: task.replicas,
    cause: task.reason,
    message: task.message || undefined,
    actor: task.producer,
    before: named(task.clustersBeforeFailover ?? [task.fromCluster]),
    after: named(after),
    began: task.creationTimestamp ?? formatTime(nowMs),
    ended: formatTime(nowMs),
    ending,
    inRow,
  };
}

/** The list as an annotation, the latest move last. */
export function withMoves(binding: DeepReadonly<ResourceBinding>, moves: readonly Move[]): string {
  return JSON.stringify([...movesOf(binding), ...moves].slice(-MAX_MOVES));
}

function named(names: readonly string[]): string[] {
  return names.length <= MAX_NAMED
    ? [...names]
    : [...names.slice(0, MAX_NAMED), `and ${names.length - MAX_NAMED} more`];
}
