/**
 * How soon an application may be moved again: what failover asks, and eviction keeps on record. Pure.
 *
 * A fault that comes along, such as a broken release, makes the application unhealthy wherever it goes. So each move
 * that follows another waits twice as long as that one did, counted from the end of the last: a row of moves becomes
 * one every few hours instead of one every few minutes. Members that fail at the same time are left at the same time
 * and count once. A row is over when the application stayed where it was for twice the time that it had to.
 */
import type { GracefulEvictionTask, ResourceBinding } from "../api/index.ts";
import type { DeepReadonly } from "../base/index.ts";
import { movesOf } from "./moves.ts";

type Binding = DeepReadonly<ResourceBinding>;
type Task = DeepReadonly<GracefulEvictionTask>;

/** The cause that eviction tasks and moves of this kind name. */
export const APPLICATION_FAILURE = "ApplicationFailure";
/** Where a policy is stored without one. */
const TOLERATION_SECONDS = 300;
/** A policy that tolerates nothing still waits this long between moves. */
const SHORTEST_PAUSE_MS = 30_000;
/** A working day has a few of these: somebody who mends the fault elsewhere need not wait until tomorrow. */
const LONGEST_PAUSE_MS = 6 * 3_600_000;
/**
 * More than enough to reach the longest pause from the shortest; what somebody wrote into the record counts no further.
 */
const MAX_IN_ROW = 32;

interface Step {
  readonly beganMs: number;
  /** Unset while it is under way. */
  readonly endedMs?: number;
  /** As it was recorded; only the newest moves are, and a row may be longer. */
  readonly inRow?: number;
}

interface Row {
  readonly inRow: number;
  /** When the first of the moves that count as one began. */
  readonly waveMs: number;
  /** When the last move ended, or began if it is under way. */
  readonly lastMs: number;
}

export function tolerationMsOf({ spec }: Binding): number {
  return (spec.failover?.application?.decisionConditions.tolerationSeconds ?? TOLERATION_SECONDS) * 1000;
}

/** From when on the application may leave another member, and how many moves in a row there were. */
export function nextMoveAt(binding: Binding, nowMs: number): { atMs: number; inRow: number } {
  const tolerationMs = tolerationMsOf(binding);
  const row = rowOf(stepsOf(binding), tolerationMs);
  if (!row || nowMs < row.waveMs + tolerationMs) return { atMs: nowMs, inRow: row?.inRow ?? 0 };
  return { atMs: row.lastMs + pauseMs(tolerationMs, row.inRow), inRow: row.inRow };
}

/** Which move of its row the one is that this task orders. */
export function placeInRow(binding: Binding, task: Task): number {
  const beganMs = Date.parse(task.creationTimestamp ?? "");
  const steps = stepsOf(binding).filter((step) => step.beganMs <= beganMs);
  return rowOf(steps, tolerationMsOf(binding))?.inRow ?? 1;
}

function pauseMs(tolerationMs: number, inRow: number): number {
  const firstMs = Math.max(tolerationMs, SHORTEST_PAUSE_MS);
  return Math.min(Math.max(firstMs, LONGEST_PAUSE_MS), firstMs * 2 ** (inRow - 1));
}

/** The application's moves in the order in which they began: those on record, and those under way. */
function stepsOf(binding: Binding): Step[] {
  const recorded = movesOf(binding).flatMap((move): Step[] => {
    const { cause, began, ended, inRow } = move as Record<string, unknown>;
    const [beganMs, endedMs] = [Date.parse(String(began)), Date.parse(String(ended))];
    if (cause !== APPLICATION_FAILURE || !Number.isFinite(beganMs) || !Number.isFinite(endedMs)) return [];
    return [
      { beganMs, endedMs, inRow: typeof inRow === "number" && inRow >= 1 ? Math.min(inRow, MAX_IN_ROW) : undefined },
    ];
  });
  const underWay = (binding.spec.gracefulEvictionTasks ?? []).flatMap(({ reason, creationTimestamp }): Step[] => {
    const beganMs = Date.parse(creationTimestamp ?? "");
    return reason === APPLICATION_FAILURE && Number.isFinite(beganMs) ? [{ beganMs }] : [];
  });
  return [...recorded, ...underWay].sort((a, b) => a.beganMs - b.beganMs);
}

function rowOf(steps: readonly Step[], tolerationMs: number): Row | undefined {
  let row: Row | undefined;
  for (const { beganMs, endedMs = beganMs, inRow } of steps)
    row = { ...place(row, beganMs, tolerationMs, inRow), lastMs: Math.max(row?.lastMs ?? endedMs, endedMs) };
  return row;
}

function place(
  row: Row | undefined,
  beganMs: number,
  tolerationMs: number,
  recorded: number | undefined,
): Omit<Row, "lastMs"> {
  if (!row) return { inRow: recorded ?? 1, waveMs: beganMs };
  if (beganMs < row.waveMs + tolerationMs) return { inRow: recorded ?? row.inRow, waveMs: row.waveMs };
  const follows = beganMs < row.lastMs + 2 * pauseMs(tolerationMs, row.inRow);
  return { inRow: recorded ?? (follows ? Math.min(row.inRow + 1, MAX_IN_ROW) : 1), waveMs: beganMs };
}
