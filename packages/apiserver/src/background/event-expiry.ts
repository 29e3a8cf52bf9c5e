/**
 * Deletes Events an hour after their last write in every logical cluster, independently of its controllers: in
 * kube-apiserver, etcd expires them. Watchers see them deleted.
 *
 * Every Event has the same lifetime, so Events expire in the order in which they were written: one queue and one timer
 * are enough, and a write only moves its key to the end of the queue.
 */
import type { Clock, Timer } from "@flotilla/base";
import type { Cache, CachedEntry, CacheEvent } from "../store/cache.ts";
import { concurrently } from "../write/concurrently.ts";
import type { Housekeeping } from "./housekeeping.ts";

/** The default of kube-apiserver's `--event-ttl`. */
export const EVENT_LIFETIME_MS = 3_600_000;
/** Events of the core group and of `events.k8s.io` are the same stored objects. */
const EVENTS = "/core/events/";
/**
 * Events that expire shortly after each other are deleted together. kube-apiserver is no more exact: it attaches them
 * to leases of a minute.
 */
const PAUSE_MS = 1_000;
/**
 * How many Events are deleted at once. A burst an hour ago expires over several seconds instead of blocking current
 * writers.
 */
const MAX_AT_ONCE = 1_000;

export interface EventExpiry {
  /** Loads the entries stored when the server starts. */
  load(entries: Iterable<CachedEntry>): void;
  observe(event: CacheEvent): void;
  close(): void;
}

export function createEventExpiry({
  housekeeping,
  cache,
  clock,
}: {
  housekeeping: Pick<Housekeeping, "enqueue" | "signal">;
  cache: Pick<Cache, "get" | "write">;
  clock: Clock;
}): EventExpiry {
  /** Expiry times by key. A map keeps the order in which its keys were set, which here is the order of expiry. */
  const ends = new Map<string, number>();
  let timer: Timer | undefined;

  const arm = (): void => {
    if (timer || housekeeping.signal.aborted) return;
    const { value: firstMs } = ends.values().next();
    if (firstMs === undefined) return;
    // The first Event may be deleted or moved before the timer fires; then the timer is set for the new first one.
    timer = clock.after(Math.max(PAUSE_MS, firstMs - clock.now()), () => {
      timer = undefined;
      housekeeping.enqueue("expired events", expire);
    });
  };

  const expire = async (): Promise<void> => {
    const nowMs = clock.now();
    const ended: string[] = [];
    for (const [key, endMs] of ends) {
      if (endMs > nowMs || ended.length === MAX_AT_ONCE) break;
      ended.push(key);
    }
    try {
      await concurrently(ended, housekeeping.signal, async (key) => {
        const entry = cache.get(key);
        // An Event that was written again in the meantime has moved, or its deletion fails at this revision.
        if (entry && (ends.get(key) ?? Number.POSITIVE_INFINITY) <= nowMs)
          await cache.write({ key, expect: entry.revision, value: null });
      });
    } finally {
      arm();
    }
  };

  return {
    load(entries) {
      const nowMs = clock.now();
      const found: { key: string; endMs: number }[] = [];
      for (const entry of entries)
        if (entry.key.startsWith(EVENTS))
          found.push({ key: entry.key, endMs: lastWriteMs(entry, nowMs) + EVENT_LIFETIME_MS });
      for (const { key, endMs } of found.sort((a, b) => a.endMs - b.endMs)) ends.set(key, endMs);
      arm();
    },
    observe({ entry, previous }) {
      const key = (entry ?? previous)?.key;
      if (!key?.startsWith(EVENTS)) return;
      ends.delete(key);
      if (!entry) return;
      ends.set(key, clock.now() + EVENT_LIFETIME_MS);
      arm();
    },
    close() {
      timer?.cancel();
      timer = undefined;
    },
  };
}

/**
 * The timestamps that an Event carries about itself and its writes. Quotes inside a message are escaped, so a message
 * cannot match.
 */
const TIMES = /"(?:creationTimestamp|time|firstTimestamp|lastTimestamp|eventTime|lastObservedTime)":"([^"]{1,40})"/g;

/** When a stored Event was last written: the newest of its timestamps. Clocks of writers may be ahead of ours. */
function lastWriteMs({ value }: CachedEntry, nowMs: number): number {
  const text = Buffer.from(value.buffer, value.byteOffset, value.byteLength).toString("latin1");
  let newestMs = Number.NEGATIVE_INFINITY;
  for (const [, time = ""] of text.matchAll(TIMES)) {
    const ms = Date.parse(time);
    if (ms > newestMs) newestMs = ms;
  }
  return Number.isFinite(newestMs) ? Math.min(newestMs, nowMs) : nowMs;
}
