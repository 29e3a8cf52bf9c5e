/**
 * Lists in protobuf. A document begins with the length of its content, so the items are measured before the first byte
 * is sent. A long list is encoded in parts, in turn with other requests, and then sent at the pace at which the client
 * reads: what the garbage collector freed in between is encoded again, so a client that does not read holds one part.
 */
import { encodeMessage } from "@flotilla/apimachinery";
import type { JsonObject } from "@flotilla/base";
import { ByteWriter } from "../codec/byte-writer.ts";
import { protobufEnvelope } from "../codec/protobuf.ts";
import type { MessageRenderer } from "../codec/protobuf.ts";
import type { ApiResponse } from "../request/request.ts";
import { streamOf } from "../request/byte-streams.ts";
import type { CachedEntry } from "../store/cache.ts";

const PART_BYTES = 256 * 1024;
/** An object takes about 20 µs to parse and encode. */
const PART_ENTRIES = 100;
/** `metadata` is field 1 of every list, `items` field 2. */
const METADATA_TAG = 0x0a;
const ITEM_TAG = 0x12;

export function protobufListBody(
  renderer: MessageRenderer,
  metadata: JsonObject,
  entries: readonly CachedEntry[],
  pause: () => Promise<void>,
): Pick<ApiResponse, "body" | "isFinite"> {
  const listMeta = encodeMessage("meta-v1", "ListMeta", metadata);
  if (entries.length > PART_ENTRIES)
    return { body: streamOf(protobufListParts(renderer, listMeta, entries, pause)), isFinite: true };
  const messages = entries.map((entry) => renderer.message(entry));
  let itemBytes = 0;
  for (const { byteLength } of messages) itemBytes += sizeOfField(byteLength);
  const { head, tail } = frameOf(renderer, listMeta, itemBytes);
  const output = new ByteWriter(head.byteLength + itemBytes + tail.byteLength);
  output.bytes(head);
  for (const message of messages) writeItem(output, message);
  output.bytes(tail);
  return { body: output.finish() };
}

async function* protobufListParts(
  renderer: MessageRenderer,
  listMeta: Uint8Array,
  entries: readonly CachedEntry[],
  pause: () => Promise<void>,
): AsyncGenerator<Uint8Array> {
  let itemBytes = 0;
  let encoded = 0;
  for (const entry of entries) {
    if (!renderer.isKnown(entry) && ++encoded % PART_ENTRIES === 0) await pause();
    itemBytes += sizeOfField(renderer.message(entry).byteLength);
  }
  const { head, tail } = frameOf(renderer, listMeta, itemBytes);
  yield head;
  let output = new ByteWriter(PART_BYTES);
  let bytes = 0;
  let encodedAgain = 0;
  for (const entry of entries) {
    if (!renderer.isKnown(entry)) encodedAgain++;
    const message = renderer.message(entry);
    writeItem(output, message);
    bytes += message.byteLength;
    if (bytes < PART_BYTES && encodedAgain < PART_ENTRIES) continue;
    yield* output.finish();
    output = new ByteWriter(PART_BYTES);
    bytes = 0;
    encodedAgain = 0;
    await pause();
  }
  output.bytes(tail);
  yield* output.finish();
}

/** What comes before and after the items. */
function frameOf(
  { apiVersion, listKind }: MessageRenderer,
  listMeta: Uint8Array,
  itemBytes: number,
): { head: Uint8Array; tail: Uint8Array } {
  const { head, tail } = protobufEnvelope(apiVersion, listKind, sizeOfField(listMeta.byteLength) + itemBytes);
  const output = new ByteWriter(head.byteLength + sizeOfField(listMeta.byteLength));
  output.bytes(head);
  writeField(output, METADATA_TAG, listMeta);
  const [whole = head] = output.finish();
  return { head: whole, tail };
}

const writeItem = (output: ByteWriter, message: Uint8Array): void => writeField(output, ITEM_TAG, message);

function writeField(output: ByteWriter, tag: number, content: Uint8Array): void {
  const prefix = [tag];
  let rest = content.byteLength;
  for (; rest >= 0x80; rest >>>= 7) prefix.push((rest & 0x7f) | 0x80);
  prefix.push(rest);
  output.bytes(Uint8Array.from(prefix));
  output.bytes(content);
}

/** A field with a tag of one byte. */
function sizeOfField(bytes: number): number {
  let size = 2 + bytes;
  for (let rest = bytes; rest >= 0x80; rest >>>= 7) size++;
  return size;
}
