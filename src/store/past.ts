/**
 * Events from before a cache began, made from what the engine remembers. The engine tells backwards what each change
 * replaced; what a change made is what the next change of its key replaced, or is there still. So the past is joined to
 * the present: to the events that the cache has seen since, and to its current entries.
 */
import { invariant } from "../base/index.ts";
import type { CachedEntry, CacheEvent } from "./cache.ts";
import type { Engine, PastChange } from "./engine.ts";
import { keyOf, sizeOf } from "./history.ts";

export interface PastRange {
  /** Changes after this revision are wanted; more may come, because they are read in pages. */
  after: number;
  upTo: number;
  /** What a history holds. */
  limit: number;
  maxBytes: number;
}

/** The changes of a range, newest first, until they would not fit into a history. */
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
 * The events of these changes, in order. `since` are all events after the newest of them, in order; `current` finds
 * what is there after those.
 */
export function eventsOf(
  past: readonly PastChange[],
  since: readonly CacheEvent[],
  current: (key: string) => CachedEntry | undefined,
): CacheEvent[] {
  /** What was at a key before the oldest event that is known by now. */
  const before = new Map<string, CachedEntry | undefined>();
  for (const event of since) {
    const key = keyOf(event);
    if (!before.has(key)) before.set(key, event.previous);
  }
  const events = past.map(({ key, revision, previous: replaced }): CacheEvent => {
    const entry = before.has(key) ? before.get(key) : current(key);
    invariant(
      entry === undefined || entry.revision === revision,
      `the entry of ${key} after revision ${revision} is what that change made`,
    );
    // The text of the key is shared with what came after.
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
