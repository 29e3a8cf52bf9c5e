/**
 * Backoff between moves of an application: used by failover, recorded by eviction. Pure.
 *
 * A fault that moves along, such as a broken release, makes the application unhealthy everywhere. So each consecutive
 * move waits twice as long as the previous one, counted from the end of the last: a row of moves becomes one every few
 * hours instead of one every few minutes. Members that fail at the same time are left together and count once. A row
 * ends when the application stayed in place for twice the required time.
 */
import type { GracefulEvictionTask } from "@flotilla/apimachinery/facts/work-karmada-v1alpha2.ts";
import type { ResourceBinding } from "@flotilla/karmada";
import type { DeepReadonly } from "@flotilla/base";
import { movesOf } from "./move-history.ts";

type Binding = DeepReadonly<ResourceBinding>;
type Task = DeepReadonly<GracefulEvictionTask>;

/** The reason of such eviction tasks and moves. */
export const APPLICATION_FAILURE = "ApplicationFailure";
/** For stored policies that lack a value. */
const TOLERATION_SECONDS = 300;
/** A policy without toleration still waits this long between moves. */
const SHORTEST_PAUSE_MS = 30_000;
/** A working day has a few of these: a user who fixes the fault elsewhere need not wait until the next day. */
const LONGEST_PAUSE_MS = 6 * 3_600_000;
/** More than enough to reach the longest pause from the shortest; a larger value in the record is capped. */
const MAX_IN_ROW = 32;

interface Step {
  readonly beganMs: number;
  /** Unset while it is in progress. */
  readonly endedMs?: number;
  /** From the record; only the latest moves are recorded, and a row may be longer. */
  readonly inRow?: number;
}

interface Row {
  readonly inRow: number;
  /** When the first of the moves that count as one started. */
  readonly waveMs: number;
  /** When the last move ended, or started if it is in progress. */
  readonly lastMs: number;
}

export function tolerationMsOf({ spec }: Binding): number {
  return (spec.failover?.application?.decisionConditions.tolerationSeconds ?? TOLERATION_SECONDS) * 1000;
}

/** When the application may next leave a member, and how many moves in a row there were. */
export function nextMoveAt(binding: Binding, nowMs: number): { atMs: number; inRow: number } {
  const tolerationMs = tolerationMsOf(binding);
  const row = rowOf(stepsOf(binding), tolerationMs);
  if (!row || nowMs < row.waveMs + tolerationMs) return { atMs: nowMs, inRow: row?.inRow ?? 0 };
  return { atMs: row.lastMs + pauseMs(tolerationMs, row.inRow), inRow: row.inRow };
}

/** The position of this task's move in its row. */
export function placeInRow(binding: Binding, task: Task): number {
  const beganMs = Date.parse(task.creationTimestamp ?? "");
  const steps = stepsOf(binding).filter((step) => step.beganMs <= beganMs);
  return rowOf(steps, tolerationMsOf(binding))?.inRow ?? 1;
}

function pauseMs(tolerationMs: number, inRow: number): number {
  const firstMs = Math.max(tolerationMs, SHORTEST_PAUSE_MS);
  return Math.min(Math.max(firstMs, LONGEST_PAUSE_MS), firstMs * 2 ** (inRow - 1));
}

/** The application's moves in order of their start: recorded ones, and those in progress. */
function stepsOf(binding: Binding): Step[] {
  const recorded = movesOf(binding).flatMap((move): Step[] => {
    const { cause, began, ended, inRow } = move as Record<string, unknown>;
    const [beganMs, endedMs] = [Date.parse(String(began)), Date.parse(String(ended))];
    if (cause !== APPLICATION_FAILURE || !Number.isFinite(beganMs) || !Number.isFinite(endedMs)) return [];
    return [
      { beganMs, endedMs, inRow: typeof inRow === "number" && inRow >= 1 ? Math.min(inRow, MAX_IN_ROW) : undefined },
    ];
  });
  const inProgress = (binding.spec.gracefulEvictionTasks ?? []).flatMap(({ reason, creationTimestamp }): Step[] => {
    const beganMs = Date.parse(creationTimestamp ?? "");
    return reason === APPLICATION_FAILURE && Number.isFinite(beganMs) ? [{ beganMs }] : [];
  });
  return [...recorded, ...inProgress].sort((a, b) => a.beganMs - b.beganMs);
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
