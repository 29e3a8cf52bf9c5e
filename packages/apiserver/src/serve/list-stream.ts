/**
 * A long list as a stream: its items are copied in parts, at the pace at which the client reads them. A client that
 * does not read holds one part and references to the entries, not a copy of the list.
 */
import { setImmediate } from "node:timers/promises";
import { ByteWriter } from "../codec/byte-writer.ts";
import { writeObject } from "../codec/render.ts";
import type { ServedVersion } from "../resources/resources.ts";
import type { CachedEntry } from "../store/cache.ts";

/** Shorter lists are sent whole, and shared between clients that request the same one. */
const STREAM_FROM_BYTES = 2 * 1024 * 1024;
const PART_BYTES = 256 * 1024;

export function isLongList(entries: readonly CachedEntry[]): boolean {
  let bytes = 0;
  for (const entry of entries) if ((bytes += entry.value.byteLength) > STREAM_FROM_BYTES) return true;
  return false;
}

/** `head` is the beginning of the list, up to its items. */
export async function* listParts(
  head: Uint8Array,
  entries: readonly CachedEntry[],
  served: ServedVersion,
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
    await setImmediate();
  }
  output.text("]}");
  yield* output.finish();
}
