/**
 * Reconstructs events from before a cache was opened, from the engine's past changes. The engine returns backwards the
 * value that each change replaced; a change's new value is the one that its key's next change replaced, or is still
 * current. So the past is joined to the present: to the events that the cache has received since, and to its current
 * entries.
 */
import { invariant } from "@flotilla/base";
import type { CachedEntry, CacheEvent } from "./cache.ts";
import type { Engine, PastChange } from "./engine.ts";
import { keyOf, sizeOf } from "./history.ts";

export interface PastRange {
  /** Changes after this revision are requested; more may be returned, because they are read in pages. */
  after: number;
  upTo: number;
  /** The limits of a history. */
  limit: number;
  maxBytes: number;
}

/** The changes of a range, newest first, up to the limits of a history. */
export async function readPast(engine: Engine, { after, upTo, limit, maxBytes }: PastRange): Promise<PastChange[]> {
  const past: PastChange[] = [];
  let bytes = 0;
  for await (const page of engine.past(upTo)) {
    for (const change of page) {
      bytes += sizeOf(change);
      if (past.length >= limit || bytes > maxBytes) return past;
      past.push(change);
    }
    if ((page.at(-1)?.revision ?? 0) <= after + 1) break;
  }
  return past;
}

/**
 * The events of these changes, in order. `since` contains all events after the newest of them, in order; `current`
 * returns the entries after those.
 */
export function eventsOf(
  past: readonly PastChange[],
  since: readonly CacheEvent[],
  current: (key: string) => CachedEntry | undefined,
): CacheEvent[] {
  /** The value of a key before its oldest known event. */
  const before = new Map<string, CachedEntry | undefined>();
  for (const event of since) {
    const key = keyOf(event);
    if (!before.has(key)) before.set(key, event.previous);
  }
  const events = past.map(({ key, revision, previous: replaced }): CacheEvent => {
    const entry = before.has(key) ? before.get(key) : current(key);
    invariant(
      entry === undefined || entry.revision === revision,
      `the entry of ${key} after revision ${revision} must be the result of that change`,
    );
    // The key string is shared with the later entry.
    const previous: CachedEntry | undefined = replaced && {
      key: entry?.key ?? key,
      revision: replaced.revision,
      value: replaced.value,
      memo: undefined,
    };
    before.set(key, previous);
    return { revision, entry, previous };
  });
  return events.reverse();
}
