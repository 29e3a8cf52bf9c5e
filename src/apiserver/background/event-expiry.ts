/**
 * Events end by themselves an hour after they were last written, in every logical cluster, whoever runs its
 * controllers: on a real server it is the store that forgets them. Watchers see them deleted.
 *
 * Every event lives equally long, so the order in which they were written is the order in which they end: one queue and
 * one timer are enough, and a write costs moving its key to the end of the queue.
 */
import type { Clock, Timer } from "../../base/index.ts";
import type { Cache, CachedEntry, CacheEvent } from "../../store/index.ts";
import { concurrently } from "./concurrently.ts";
import type { Housekeeping } from "./housekeeping.ts";

/** What kube-apiserver's `--event-ttl` is unless somebody sets it. */
export const EVENT_LIFETIME_MS = 3_600_000;
/** The core group's and those of `events.k8s.io` are the same stored objects. */
const EVENTS = "/core/events/";
/**
 * Events that end soon after each other go together. A real server is no more exact: it files them under leases of a
 * minute.
 */
const PAUSE_MS = 1_000;
/** How many go at once; a burst of an hour ago ends over some seconds instead of holding up whoever writes now. */
const MAX_AT_ONCE = 1_000;

export interface EventExpiry {
  /** What is stored when the server starts. */
  load(entries: Iterable<CachedEntry>): void;
  observe(event: CacheEvent): void;
  close(): void;
}

export function createEventExpiry({
  house,
  cache,
  clock,
}: {
  house: Pick<Housekeeping, "enqueue" | "signal">;
  cache: Pick<Cache, "get" | "write">;
  clock: Clock;
}): EventExpiry {
  /** When each event ends. A map keeps the order in which its keys were set, which here is that of the ends. */
  const ends = new Map<string, number>();
  let timer: Timer | undefined;

  const arm = (): void => {
    if (timer || house.signal.aborted) return;
    const { value: firstMs } = ends.values().next();
    if (firstMs === undefined) return;
    // The first may have gone or moved by then; whoever wakes up for nothing only looks at the new first.
    timer = clock.after(Math.max(PAUSE_MS, firstMs - clock.now()), () => {
      timer = undefined;
      house.enqueue("expired events", expire);
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
      await concurrently(ended, house.signal, async (key) => {
        const entry = cache.get(key);
        // One that was written again meanwhile has moved, or refuses to go at this revision.
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
 * The times that an event carries about itself and about its writes. Quotes inside a message are escaped, so it cannot
 * name one.
 */
const TIMES = /"(?:creationTimestamp|time|firstTimestamp|lastTimestamp|eventTime|lastObservedTime)":"([^"]{1,40})"/g;

/**
 * When a stored event was last written, as far as it tells: the newest of its times. Those of writers' clocks may be
 * ahead of ours.
 */
function lastWriteMs({ value }: CachedEntry, nowMs: number): number {
  const text = Buffer.from(value.buffer, value.byteOffset, value.byteLength).toString("latin1");
  let newestMs = Number.NEGATIVE_INFINITY;
  for (const [, time = ""] of text.matchAll(TIMES)) {
    const ms = Date.parse(time);
    if (ms > newestMs) newestMs = ms;
  }
  return Number.isFinite(newestMs) ? Math.min(newestMs, nowMs) : nowMs;
}
