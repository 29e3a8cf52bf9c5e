/**
 * Works that their members refuse: each is tried again slowly, and at once when what it waits for may have come, which
 * is a change of the Work, of its object on the member, or of the kinds that the member serves.
 */
import type { Random } from "../base/index.ts";
import type { ObjectKey } from "../client/index.ts";
import { idOfKey } from "../runtime/index.ts";

const FIRST_RETRY_MS = 2_000;
/** A quota that was raised or a webhook that was mended is noticed within this time. */
const LAST_RETRY_MS = 5 * 60_000;

interface Refused {
  key: ObjectKey;
  cluster: string;
  /** What was refused, and what was there: another of either is another question. */
  question: string;
  failures: number;
  untilMs: number;
  waitsForKind: boolean;
}

export interface Refusals {
  /** How long this question still rests; 0 when it may be asked. */
  restMs(key: ObjectKey, question: () => string, nowMs: number): number;
  /** It was refused, and rests from now on. Returns for how long. */
  note(key: ObjectKey, refused: { cluster: string; question: string; waitsForKind: boolean }, nowMs: number): number;
  forget(key: ObjectKey): void;
  /** The member serves other kinds than before: the Works that wait for one, which may be tried at once. */
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
