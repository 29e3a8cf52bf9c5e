/**
 * The polling interval for objects that are being deleted: objects of a work are watched, but objects of its earlier
 * versions are not.
 */
import type { ManifestWork } from "@flotilla/ocm";
import type { DeepReadonly } from "@flotilla/base";
import type { ObjectKey } from "@flotilla/client";
import { idOfKey, keyOf } from "@flotilla/controller-runtime";

const FIRST_MS = 1_000;
const LAST_MS = 60_000;

export interface Waits {
  /** Grows with each call. */
  nextMs(work: DeepReadonly<ManifestWork>): number;
  forget(key: ObjectKey): void;
}

export function createWaits(hub: string): Waits {
  const attempts = new Map<string, number>();
  return {
    nextMs(work) {
      const id = idOfKey(keyOf(hub, work));
      const count = attempts.get(id) ?? 0;
      attempts.set(id, count + 1);
      return Math.min(LAST_MS, FIRST_MS * 2 ** count);
    },
    forget: (key) => void attempts.delete(idOfKey(key)),
  };
}
