/**
 * Works that their members reject: each is retried with a long backoff, and at once when the cause may be resolved,
 * that is when the Work, its object on the member, or the kinds that the member serves change.
 */
import type { Random } from "@flotilla/base";
import type { ObjectKey } from "@flotilla/client";
import { idOfKey } from "@flotilla/controller-runtime";

const FIRST_RETRY_MS = 2_000;
/** A raised quota or a repaired webhook is noticed within this time. */
const LAST_RETRY_MS = 5 * 60_000;

interface Refused {
  key: ObjectKey;
  cluster: string;
  /** The rejected manifest and the object that existed then: a change of one of them makes a new question. */
  question: string;
  failures: number;
  untilMs: number;
  waitsForKind: boolean;
}

export interface Refusals {
  /** How long this question still backs off; 0 when it may be retried. */
  restMs(key: ObjectKey, question: () => string, nowMs: number): number;
  /** Records a rejection and starts its backoff. Returns the duration. */
  note(key: ObjectKey, refused: { cluster: string; question: string; waitsForKind: boolean }, nowMs: number): number;
  forget(key: ObjectKey): void;
  /** Returns the Works that wait for a kind on the member, whose served kinds changed; they may be retried at once. */
  takeWaitingForKinds(cluster: string): ObjectKey[];
}

export function createRefusals(random: Random): Refusals {
  const refused = new Map<string, Refused>();
  return {
    restMs(key, question, nowMs) {
      const present = refused.get(idOfKey(key));
      return present && present.question === question() ? Math.max(0, present.untilMs - nowMs) : 0;
    },
    note(key, { cluster, question, waitsForKind }, nowMs) {
      const present = refused.get(idOfKey(key));
      const failures = present && present.question === question ? present.failures + 1 : 1;
      const restMs = Math.min(LAST_RETRY_MS, FIRST_RETRY_MS * 2 ** (failures - 1)) * (0.75 + random.next() / 2);
      refused.set(idOfKey(key), { key, cluster, question, failures, untilMs: nowMs + restMs, waitsForKind });
      return restMs;
    },
    forget: (key) => void refused.delete(idOfKey(key)),
    takeWaitingForKinds(cluster) {
      const keys: ObjectKey[] = [];
      for (const [id, entry] of refused) {
        if (!entry.waitsForKind || entry.cluster !== cluster) continue;
        refused.delete(id);
        keys.push(entry.key);
      }
      return keys;
    },
  };
}
