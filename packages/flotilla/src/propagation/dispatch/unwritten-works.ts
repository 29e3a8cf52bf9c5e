/**
 * Works that the hub's own API server does not store: an admission policy or webhook of the hub rejects them, or the
 * write keeps failing. Kept in memory per binding, so that a conflict or a namespace that is still created is not
 * reported.
 */
import { OwnedSetError } from "@flotilla/controller-runtime";
import type { FailedWrite } from "@flotilla/controller-runtime";
import { isRefusal } from "../bindings/refusal.ts";
import { unwrittenFailure } from "./plan-dispatched.ts";
import type { DispatchFailure } from "./plan-dispatched.ts";

/** A failure of another cause is reported when it lasts this long. */
const LASTING_MS = 10_000;
/** How soon a rejected write is tried again: soon after its cause is removed, of which there is no event. */
const FIRST_RETRY_MS = 10_000;
const LAST_RETRY_MS = 60_000;
/** What all rejected bindings together may cost: ten attempts per second, until each has the longest delay. */
const RETRY_MS_PER_BINDING = 100;

interface Unwritten {
  /** The failure has just started. */
  isFirst: boolean;
  failure: DispatchFailure;
  retryAfterMs: number;
}

export interface UnwrittenWorks {
  /** What to report, and when to try again; undefined while the failure may be transient. */
  failed(id: string, error: unknown, planned: DispatchFailure | undefined, nowMs: number): Unwritten | undefined;
  forget(id: string): void;
}

export function createUnwrittenWorks(): UnwrittenWorks {
  /** Since when the Works of a binding are not written, and whether it was reported; only bindings that fail. */
  const failing = new Map<string, { sinceMs: number; isReported: boolean }>();
  return {
    failed(id, error, planned, nowMs) {
      const { sinceMs, isReported } = failing.get(id) ?? { sinceMs: nowMs, isReported: false };
      const writes = writesOf(error);
      const failed = nowMs - sinceMs >= LASTING_MS ? writes : writes.filter((write) => isRefusal(write.error));
      failing.set(id, { sinceMs, isReported: isReported || failed.length > 0 });
      if (failed.length === 0) return undefined;
      return {
        isFirst: !isReported,
        failure: unwrittenFailure(failed, planned),
        retryAfterMs: Math.min(LAST_RETRY_MS, Math.max(FIRST_RETRY_MS, failing.size * RETRY_MS_PER_BINDING)),
      };
    },
    forget: (id) => void failing.delete(id),
  };
}

const writesOf = (error: unknown): readonly FailedWrite[] => (error instanceof OwnedSetError ? error.failed : []);
