/**
 * Records the inputs of each binding's last decision, so that it is decided again only when they change.
 *
 * A change of the fitting clusters (labels, taints, served kinds, added or removed clusters) affects every binding.
 * More room on a member affects only the few that wait for it, at growing intervals, because members report their load
 * constantly. They are retried together, so that the higher priority comes first regardless of waiting time; and after
 * five minutes at the latest.
 */
import type { DeepReadonly } from "@flotilla/base";
import type { SchedulePlan } from "./plan-schedule.ts";
import { RETURN_AFTER_SECONDS } from "../../flotilla-names.ts";

/**
 * Pauses between rounds in which all bindings that wait for room are retried; a round that places one makes the next
 * pause short again.
 */
const SHORTEST_PAUSE_MS = 1000;
const LONGEST_PAUSE_MS = 10_000;
/** When a binding is retried even without more room: free capacity is only as accurate as the members' reports. */
const LONGEST_WAIT_MS = 5 * 60_000;

interface DecidedBinding {
  readonly metadata: DeepReadonly<{ uid?: string; generation?: number; annotations?: Record<string, string> }>;
}

interface Decision<K> {
  readonly uid: string | undefined;
  readonly generation: number | undefined;
  readonly returnAfter: string | undefined;
  readonly fleetGeneration: number;
  /** Unset for a binding that waits for nothing. */
  readonly waiting?: Waiting<K>;
}

interface Waiting<K> {
  readonly key: K;
  /** The earliest return to an earlier affinity, or the latest retry. */
  readonly nextMs: number;
  /** There is more room, and the binding was woken: the round in which it is retried. */
  roundMs?: number;
}

/** Whether to decide now, or when to reconcile again. */
type Turn = { readonly decide: true } | { readonly decide: false; readonly requeueAfterMs?: number };

export interface Decisions<K> {
  /** The fitting clusters have changed: starts a new generation. */
  startFleetGeneration(): void;
  /** The keys of bindings that wait for room and were not woken yet. */
  wakeWaiting(nowMs: number): K[];
  /**
   * Another dependency of this binding has changed. False when no decision is recorded for it, so that it is decided
   * anyway.
   */
  reconsider(id: string, nowMs: number): boolean;
  turn(id: string, binding: DecidedBinding, nowMs: number): Turn;
  /** `began`: the generation in which the decision was made. */
  keep(
    id: string,
    key: K,
    binding: DecidedBinding,
    plan: SchedulePlan,
    began: number,
    nowMs: number,
  ): { requeueAfterMs?: number };
  readonly fleetGeneration: number;
  forget(id: string): void;
}

export function createDecisions<K>(): Decisions<K> {
  const decided = new Map<string, Decision<K>>();
  const waiting = new Map<string, Waiting<K>>();
  let fleetGeneration = 0;
  /** Decisions in progress, and whether their inputs have changed since they began. */
  const inProgress = new Map<string, { isStale: boolean }>();
  let lastRoundMs = 0;
  /** The next round; unset while no binding waits for one. */
  let nextRoundMs: number | undefined;
  let pauseMs = SHORTEST_PAUSE_MS;

  const isSame = ({ metadata }: DecidedBinding, last: Decision<K>): boolean =>
    last.uid === metadata.uid &&
    last.generation === metadata.generation &&
    last.returnAfter === metadata.annotations?.[RETURN_AFTER_SECONDS];

  /** Adds it to the next round, which is scheduled if there is none. */
  function join(wait: Waiting<K>, nowMs: number): void {
    if (nextRoundMs === undefined) {
      nextRoundMs = Math.max(nowMs, lastRoundMs + pauseMs);
      pauseMs = Math.min(LONGEST_PAUSE_MS, pauseMs * 2);
    }
    wait.roundMs = nextRoundMs;
  }

  function begin(id: string): Turn {
    inProgress.set(id, { isStale: false });
    return { decide: true };
  }

  return {
    get fleetGeneration() {
      return fleetGeneration;
    },

    startFleetGeneration() {
      fleetGeneration++;
    },

    wakeWaiting(nowMs) {
      const keys: K[] = [];
      for (const wait of waiting.values()) {
        if (wait.roundMs !== undefined) continue;
        join(wait, nowMs);
        keys.push(wait.key);
      }
      return keys;
    },

    reconsider(id, nowMs) {
      const running = inProgress.get(id);
      if (running) running.isStale = true;
      const wait = waiting.get(id);
      if (!wait) return decided.delete(id) || running !== undefined;
      if (wait.roundMs === undefined) join(wait, nowMs);
      return true;
    },

    turn(id, binding, nowMs) {
      const last = decided.get(id);
      if (!last || last.fleetGeneration !== fleetGeneration || !isSame(binding, last)) return begin(id);
      const wait = last.waiting;
      if (!wait) return { decide: false };
      const nextMs = Math.min(wait.nextMs, wait.roundMs ?? Infinity);
      if (nextMs <= nowMs) {
        if (wait.roundMs !== undefined && wait.roundMs === nextRoundMs) [lastRoundMs, nextRoundMs] = [nowMs, undefined];
        return begin(id);
      }
      return { decide: false, requeueAfterMs: Number.isFinite(nextMs) ? nextMs - nowMs : undefined };
    },

    keep(id, key, binding, plan, began, nowMs) {
      const { uid, generation, annotations } = binding.metadata;
      const isStale = inProgress.get(id)?.isStale === true;
      inProgress.delete(id);
      const decision = { uid, generation, returnAfter: annotations?.[RETURN_AFTER_SECONDS], fleetGeneration: began };
      const wasWaiting = waiting.delete(id);
      const nextMs = plan.outcome === "unschedulable" ? nowMs + LONGEST_WAIT_MS : plan.returnsAtMs;
      if (nextMs === undefined) {
        if (wasWaiting) pauseMs = SHORTEST_PAUSE_MS;
        // Its key is back in the queue, and it is decided again.
        if (isStale) decided.delete(id);
        else decided.set(id, decision);
        return {};
      }
      // The first waiting binding starts the count of rounds.
      if (waiting.size === 0 && !wasWaiting)
        [lastRoundMs, nextRoundMs, pauseMs] = [nowMs, undefined, SHORTEST_PAUSE_MS];
      const wait: Waiting<K> = { key, nextMs };
      if (isStale) join(wait, nowMs);
      waiting.set(id, wait);
      decided.set(id, { ...decision, waiting: wait });
      return Number.isFinite(nextMs) ? { requeueAfterMs: Math.max(0, nextMs - nowMs) } : {};
    },

    forget(id) {
      inProgress.delete(id);
      decided.delete(id);
      waiting.delete(id);
    },
  };
}
