/**
 * What each binding was last decided on, so that it is decided again only when that can change the decision.
 *
 * A change of what fits (labels, taints, served kinds, clusters that come and go) concerns every binding. More room on some
 * member concerns only the few that wait for it, and those at growing intervals: members report their load all the time.
 */
import type { DeepReadonly } from "../../base/index.ts";
import { RETURN_AFTER_SECONDS } from "../well-known.ts";
import type { SchedulePlan } from "./plan-schedule.ts";

/** Pauses between tries of a binding that waits for room. */
const SHORTEST_PAUSE_MS = 1000;
const LONGEST_PAUSE_MS = 10_000;

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
  readonly pauseMs: number;
  readonly notBeforeMs: number;
  /** When it returns to an earlier affinity at the earliest. */
  readonly returnsAtMs: number;
  /** There is more room since, and the binding was told. */
  nudged: boolean;
}

/** Whether to decide, or when to look again. */
export type Turn = { readonly decide: true } | { readonly decide: false; readonly requeueAfterMs?: number };

export interface Decisions<K> {
  /** What fits has changed. */
  startEra(): void;
  /** The keys of bindings that wait for room and were not told yet that there is more. */
  nudge(): K[];
  turn(id: string, binding: DecidedBinding, nowMs: number): Turn;
  /** `began`: the era in which the decision was made. */
  keep(id: string, key: K, binding: DecidedBinding, plan: SchedulePlan, began: number, nowMs: number): { requeueAfterMs?: number };
  readonly era: number;
  forget(id: string): void;
}

export function createDecisions<K>(): Decisions<K> {
  const decided = new Map<string, Decision<K>>();
  const waiting = new Map<string, Waiting<K>>();
  let era = 0;

  const isSame = ({ metadata }: DecidedBinding, last: Decision<K>): boolean =>
    last.uid === metadata.uid && last.generation === metadata.generation && last.returnAfter === metadata.annotations?.[RETURN_AFTER_SECONDS];

  return {
    get era() {
      return era;
    },

    startEra() {
      era++;
    },

    nudge() {
      const keys: K[] = [];
      for (const wait of waiting.values()) {
        if (wait.nudged) continue;
        wait.nudged = true;
        keys.push(wait.key);
      }
      return keys;
    },

    turn(id, binding, nowMs) {
      const last = decided.get(id);
      if (!last || last.era !== era || !isSame(binding, last)) return { decide: true };
      const wait = last.waiting;
      if (!wait) return { decide: false };
      const nextMs = Math.min(wait.returnsAtMs, wait.nudged ? wait.notBeforeMs : Infinity);
      if (nextMs <= nowMs) return { decide: true };
      return { decide: false, ...(Number.isFinite(nextMs) && { requeueAfterMs: nextMs - nowMs }) };
    },

    keep(id, key, binding, plan, began, nowMs) {
      const last = decided.get(id);
      const { uid, generation, annotations } = binding.metadata;
      const decision = { uid, generation, returnAfter: annotations?.[RETURN_AFTER_SECONDS], era: began };
      waiting.delete(id);
      const returnsAtMs = plan.outcome === "unschedulable" ? Infinity : plan.returnsAtMs;
      if (returnsAtMs === undefined) {
        decided.set(id, decision);
        return {};
      }
      const isAgain = last?.waiting && last.era === began && isSame(binding, last);
      const pauseMs = isAgain ? Math.min(LONGEST_PAUSE_MS, last.waiting.pauseMs * 2) : SHORTEST_PAUSE_MS;
      const wait: Waiting<K> = { key, pauseMs, notBeforeMs: nowMs + pauseMs, returnsAtMs, nudged: false };
      waiting.set(id, wait);
      decided.set(id, { ...decision, waiting: wait });
      return Number.isFinite(returnsAtMs) ? { requeueAfterMs: Math.max(0, returnsAtMs - nowMs) } : {};
    },

    forget(id) {
      decided.delete(id);
      waiting.delete(id);
    },
  };
}
