/**
 * The items of a list response as bytes. Many clients request the same list at the same time, above all informers after
 * a restart. A list that was requested twice is retained and sent again until it changes, which saves the copy that a
 * list otherwise needs. Entries are replaced and never modified, so the same entries have the same bytes.
 */
import type { CachedEntry } from "../store/cache.ts";
import type { ServedVersion } from "../resources/resources.ts";
import { writeObject } from "../codec/render.ts";
import { ByteWriter } from "../codec/byte-writer.ts";

/** In order, to be sent after the beginning of the list. */
export interface ListItems {
  readonly chunks: readonly Uint8Array[];
  /** Called after the items were sent; unset when they are retained. */
  readonly release?: () => void;
}

/**
 * A requested list. Its bytes are retained from the second request on: most lists change before they are requested
 * again.
 */
interface RequestedList {
  readonly served: ServedVersion;
  readonly entries: readonly CachedEntry[];
  chunks?: readonly Uint8Array[];
}

/** For shorter lists a copy costs less than the lookup. */
const MIN_ENTRIES = 64;
/** The usual minimum size of a list item; an estimate for the first chunk. */
const ITEM_BYTES = 1024;
const MAX_ASKED = 8;
/** Longer lists are streamed. */
const MAX_KEPT_BYTES = 4 * 1024 * 1024;

/**
 * Newest first. Weak references, so that a full garbage collection frees them together with the entries that only they
 * reference.
 */
const requested: WeakRef<RequestedList>[] = [];

export function listItems(entries: readonly CachedEntry[], served: ServedVersion): ListItems {
  if (entries.length < MIN_ENTRIES) return write(entries, served);
  const known = takeRequested(entries, served);
  requested.unshift(new WeakRef(known ?? { served, entries }));
  requested.splice(MAX_ASKED);
  if (known?.chunks) return { chunks: known.chunks };
  const written = write(entries, served);
  if (!known || sizeOf(written.chunks) > MAX_KEPT_BYTES) return written;
  known.chunks = written.chunks;
  return { chunks: written.chunks };
}

/** Removes and returns the same list from the requested ones. */
function takeRequested(entries: readonly CachedEntry[], served: ServedVersion): RequestedList | undefined {
  for (const [index, reference] of requested.entries()) {
    const list = reference.deref();
    if (!list || list.served !== served || !areSame(list.entries, entries)) continue;
    requested.splice(index, 1);
    return list;
  }
  return undefined;
}

function areSame(a: readonly CachedEntry[], b: readonly CachedEntry[]): boolean {
  if (a.length !== b.length) return false;
  // A change is as likely near the end, where new objects are, as anywhere else.
  for (let index = a.length - 1; index >= 0; index--) if (a[index] !== b[index]) return false;
  return true;
}

function write(entries: readonly CachedEntry[], served: ServedVersion): ListItems {
  const output = new ByteWriter((entries.length + 1) * ITEM_BYTES);
  let isFirst = true;
  for (const entry of entries) {
    if (!isFirst) output.text(",");
    isFirst = false;
    writeObject(entry, served, output);
  }
  output.text("]}");
  return { chunks: output.finish(), release: () => output.release() };
}

function sizeOf(chunks: readonly Uint8Array[]): number {
  let size = 0;
  for (const chunk of chunks) size += chunk.byteLength;
  return size;
}
