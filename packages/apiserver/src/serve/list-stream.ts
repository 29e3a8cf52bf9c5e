/**
 * A long list as a stream: its items are copied or rendered in parts, at the pace at which the client reads them. A
 * client that does not read holds one part and references to the entries, not a copy of the list. Lists take turns for
 * their parts, so that many lists at once delay other requests by one part.
 */
import type { JsonObject } from "@flotilla/base";
import { ByteWriter } from "../codec/byte-writer.ts";
import { objectIn, writeObject } from "../codec/render.ts";
import { encode } from "../request/respond.ts";
import type { ServedVersion } from "../resources/resources.ts";
import type { CachedEntry } from "../store/cache.ts";

/** Shorter lists are sent whole, and shared between clients that request the same one. */
const STREAM_FROM_BYTES = 2 * 1024 * 1024;
const PART_BYTES = 256 * 1024;
/** Rendering takes longer than copying: YAML a tenth of a millisecond for each object. */
const RENDERED_ENTRIES = 100;

/** Resolves when the next part may be made. */
type Pause = () => Promise<void>;

export function isLongList(entries: readonly CachedEntry[]): boolean {
  let bytes = 0;
  for (const entry of entries) if ((bytes += entry.value.byteLength) > STREAM_FROM_BYTES) return true;
  return false;
}

/** Whether a list that is rendered from objects, such as a table or YAML, is rendered in parts. */
export const isLongToRender = (entries: readonly CachedEntry[]): boolean =>
  entries.length > RENDERED_ENTRIES || isLongList(entries);

/** `head` is the beginning of the list, up to its items. */
export async function* listParts(
  head: Uint8Array,
  entries: readonly CachedEntry[],
  served: ServedVersion,
  pause: Pause,
): AsyncGenerator<Uint8Array> {
  yield head;
  let output = new ByteWriter(PART_BYTES);
  let bytes = 0;
  for (const [index, entry] of entries.entries()) {
    if (index > 0) output.text(",");
    writeObject(entry, served, output);
    bytes += entry.value.byteLength;
    if (bytes < PART_BYTES) continue;
    yield* output.finish();
    output = new ByteWriter(PART_BYTES);
    bytes = 0;
    // A fast client would otherwise receive the whole list before any other request is answered.
    await pause();
  }
  output.text("]}");
  yield* output.finish();
}

export interface ListFrame {
  /** The text before the items, and after them. */
  head: string;
  tail: string;
  separator: string;
  /** The text of some items. */
  render(objects: readonly JsonObject[]): string;
}

export async function* renderedParts(
  { head, tail, separator, render }: ListFrame,
  entries: readonly CachedEntry[],
  served: ServedVersion,
  pause: Pause,
): AsyncGenerator<Uint8Array> {
  yield encode(head);
  for (let from = 0; from < entries.length;) {
    const to = endOfPart(entries, from);
    if (from > 0) await pause();
    const objects = entries.slice(from, to).map((entry) => objectIn(entry, served));
    yield encode((from > 0 ? separator : "") + render(objects));
    from = to;
  }
  yield encode(tail);
}

/** At least one entry. */
function endOfPart(entries: readonly CachedEntry[], from: number): number {
  let bytes = 0;
  let to = from;
  while (to < entries.length && to - from < RENDERED_ENTRIES && bytes < PART_BYTES)
    bytes += entries[to++]?.value.byteLength ?? 0;
  return to;
}
