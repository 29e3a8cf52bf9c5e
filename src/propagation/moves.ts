/**
 * What became of the automatic moves of a binding, for whoever asks later: cause, actor, before and after. While a move
 * is under way its eviction task says the same. The newest few are kept on the binding; Events tell the rest for a
 * while.
 */
import type { GracefulEvictionTask, ResourceBinding } from "../api/index.ts";
import { formatTime, isObject, type DeepReadonly } from "../base/index.ts";
import { MOVES } from "./well-known.ts";

/** How many moves a binding remembers. */
const MAX_MOVES = 5;
/** How many clusters a move names on either side; a binding may have thousands. */
const MAX_NAMED = 8;

/**
 * How an order to leave a cluster ended: the replacement is healthy, the time was over, a user said that the copy may
 * go, or it stays because there is no other place for it any more.
 */
export type Ending = "Replaced" | "TimedOut" | "Confirmed" | "Withdrawn";

export interface Move {
  from: string;
  /** Replicas that were there; unset for what has none. */
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
  /** Which of a row of moves this is, for an application that was moved because it failed (`move-pauses.ts`). */
  inRow?: number;
}

export function movesOf({ metadata }: DeepReadonly<ResourceBinding>): unknown[] {
  const text = metadata.annotations?.[MOVES];
  if (text === undefined) return [];
  try {
    const moves: unknown = JSON.parse(text);
    return Array.isArray(moves) ? moves.filter(isObject) : [];
  } catch (error) {
    if (error instanceof SyntaxError) return []; // Somebody wrote over it; the next move starts a new list.
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

/** The list as an annotation, the newest move last. */
export function withMoves(binding: DeepReadonly<ResourceBinding>, moves: readonly Move[]): string {
  return JSON.stringify([...movesOf(binding), ...moves].slice(-MAX_MOVES));
}

function named(names: readonly string[]): string[] {
  return names.length <= MAX_NAMED
    ? [...names]
    : [...names.slice(0, MAX_NAMED), `and ${names.length - MAX_NAMED} more`];
}
