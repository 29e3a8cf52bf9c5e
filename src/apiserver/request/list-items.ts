/**
 * The items of a list answer as bytes. Many clients ask for the same list at the same time, informers after a restart
 * above all: what was asked for twice is kept and sent again while nothing in it changes, which saves the one copy that
 * a list otherwise takes. Entries are replaced and never changed, so that the same entries are the same bytes.
 */
import type { CachedEntry } from "../../store/index.ts";
import type { ServedVersion } from "../clusters/resources.ts";
import { writeObject } from "../read/render.ts";
import { ByteWriter } from "./byte-writer.ts";

/** In order and to be sent behind the head of the list. */
export interface ListItems {
  readonly chunks: readonly Uint8Array[];
  /** To be called when they are sent; unset when they are kept. */
  readonly release?: () => void;
}

/** A list that was asked for. The bytes come with the second time: most lists change before anybody asks again. */
interface AskedList {
  readonly served: ServedVersion;
  readonly entries: readonly CachedEntry[];
  chunks?: readonly Uint8Array[];
}

/** Below this a copy costs less than looking for one. */
const MIN_ENTRIES = 64;
/** What an item of a list usually takes at least; only a guess, for the first chunk. */
const ITEM_BYTES = 1024;
const MAX_ASKED = 8;
const MAX_KEPT_BYTES = 4 * 1024 * 1024;

/**
 * The newest first. Weak, so that a full collection takes them, with the entries that only they still name: nothing is
 * held for nobody.
 */
const asked: WeakRef<AskedList>[] = [];

export function listItems(entries: readonly CachedEntry[], served: ServedVersion): ListItems {
  if (entries.length < MIN_ENTRIES) return write(entries, served);
  const known = takeAsked(entries, served);
  asked.unshift(new WeakRef(known ?? { served, entries }));
  asked.splice(MAX_ASKED);
  if (known?.chunks) return { chunks: known.chunks };
  const written = write(entries, served);
  if (!known || sizeOf(written.chunks) > MAX_KEPT_BYTES) return written;
  known.chunks = written.chunks;
  return { chunks: written.chunks };
}

/** The same list, taken out of those that were asked for. */
function takeAsked(entries: readonly CachedEntry[], served: ServedVersion): AskedList | undefined {
  for (const [index, reference] of asked.entries()) {
    const list = reference.deref();
    if (!list || list.served !== served || !areSame(list.entries, entries)) continue;
    asked.splice(index, 1);
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
