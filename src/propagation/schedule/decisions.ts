/**
 * What each binding was last decided on, so that it is decided again only when that can change the decision.
 *
 * A change of what fits (labels, taints, served kinds, clusters that come and go) concerns every binding. More room on
 * some member concerns only the few that wait for it, and those at growing intervals: members report their load all the
 * time. They are tried together, so that who has the higher priority comes first, however long each has waited; and at
 * the latest after five minutes.
 */
import type { DeepReadonly } from "../../base/index.ts";
import { RETURN_AFTER_SECONDS } from "../well-known.ts";
import type { SchedulePlan } from "./plan-schedule.ts";

/**
 * Pauses between rounds in which everything that waits for room is tried; a round that places something makes the next
 * pause short again.
 */
const SHORTEST_PAUSE_MS = 1000;
const LONGEST_PAUSE_MS = 10_000;
/**
 * When a binding is tried again although nobody told of more room: what is free is known as well as members report it.
 */
const LONGEST_WAIT_MS = 5 * 60_000;

export interface DecidedBinding {
  readonly metadata: DeepReadonly<{ uid?: string; generation?: number; annotations?: Record<string, string> }>;
}

interface Decision<K> {
  readonly uid: string | undefined;
  readonly generation: number | undefined;
  readonly returnAfter: string | undefined;
  readonly era: number;
  /** Unset for a binding that waits for nothing. */
  readonly waiting?: Waiting<K>;
}

interface Waiting<K> {
  readonly key: K;
  /** When it returns to an earlier affinity at the earliest, or is tried again at the latest. */
  readonly nextMs: number;
  /** There is more room since, and the binding was told: the round in which it is tried. */
  roundMs?: number;
}

/** Whether to decide, or when to look again. */
export type Turn = { readonly decide: true } | { readonly decide: false; readonly requeueAfterMs?: number };

export interface Decisions<K> {
  /** What fits has changed. */
  startEra(): void;
  /** The keys of bindings that wait for room and were not told yet that there is more. */
  nudge(nowMs: number): K[];
  /**
   * Something else that this binding depends on has changed. False when nothing was decided about it, so that it has
   * its turn anyway.
   */
  reconsider(id: string, nowMs: number): boolean;
  turn(id: string, binding: DecidedBinding, nowMs: number): Turn;
  /** `began`: the era in which the decision was made. */
  keep(
    id: string,
    key: K,
    binding: DecidedBinding,
    plan: SchedulePlan,
    began: number,
    nowMs: number,
  ): { requeueAfterMs?: number };
  readonly era: number;
  forget(id: string): void;
}

export function createDecisions<K>(): Decisions<K> {
  const decided = new Map<string, Decision<K>>();
  const waiting = new Map<string, Waiting<K>>();
  let era = 0;
  /** Decisions that are under way, and whether what they depend on has changed since they began. */
  const underWay = new Map<string, { isStale: boolean }>();
  let lastRoundMs = 0;
  /** The round that is to come; unset while nobody waits for one. */
  let nextRoundMs: number | undefined;
  let pauseMs = SHORTEST_PAUSE_MS;

  const isSame = ({ metadata }: DecidedBinding, last: Decision<K>): boolean =>
    last.uid === metadata.uid &&
    last.generation === metadata.generation &&
    last.returnAfter === metadata.annotations?.[RETURN_AFTER_SECONDS];

  /** It is tried in the next round, which is called if there is none. */
  function join(wait: Waiting<K>, nowMs: number): void {
    if (nextRoundMs === undefined) {
      nextRoundMs = Math.max(nowMs, lastRoundMs + pauseMs);
      pauseMs = Math.min(LONGEST_PAUSE_MS, pauseMs * 2);
    }
    wait.roundMs = nextRoundMs;
  }

  function begin(id: string): Turn {
    underWay.set(id, { isStale: false });
    return { decide: true };
  }

  return {
    get era() {
      return era;
    },

    startEra() {
      era++;
    },

    nudge(nowMs) {
      const keys: K[] = [];
      for (const wait of waiting.values()) {
        if (wait.roundMs !== undefined) continue;
        join(wait, nowMs);
        keys.push(wait.key);
      }
      return keys;
    },

    reconsider(id, nowMs) {
      const running = underWay.get(id);
      if (running) running.isStale = true;
      const wait = waiting.get(id);
      if (!wait) return decided.delete(id) || running !== undefined;
      if (wait.roundMs === undefined) join(wait, nowMs);
      return true;
    },

    turn(id, binding, nowMs) {
      const last = decided.get(id);
      if (!last || last.era !== era || !isSame(binding, last)) return begin(id);
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
      const isStale = underWay.get(id)?.isStale === true;
      underWay.delete(id);
      const decision = { uid, generation, returnAfter: annotations?.[RETURN_AFTER_SECONDS], era: began };
      const wasWaiting = waiting.delete(id);
      const nextMs = plan.outcome === "unschedulable" ? nowMs + LONGEST_WAIT_MS : plan.returnsAtMs;
      if (nextMs === undefined) {
        if (wasWaiting) pauseMs = SHORTEST_PAUSE_MS;
        // Its key is back in the queue, and it is decided anew.
        if (isStale) decided.delete(id);
        else decided.set(id, decision);
        return {};
      }
      // The first that waits starts the count of rounds.
      if (waiting.size === 0 && !wasWaiting)
        [lastRoundMs, nextRoundMs, pauseMs] = [nowMs, undefined, SHORTEST_PAUSE_MS];
      const wait: Waiting<K> = { key, nextMs };
      if (isStale) join(wait, nowMs);
      waiting.set(id, wait);
      decided.set(id, { ...decision, waiting: wait });
      return Number.isFinite(nextMs) ? { requeueAfterMs: Math.max(0, nextMs - nowMs) } : {};
    },

    forget(id) {
      underWay.delete(id);
      decided.delete(id);
      waiting.delete(id);
    },
  };
}
