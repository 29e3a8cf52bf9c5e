/**
 * Decodes a watch: one JSON document per line, in chunks that may end anywhere, even inside a character.
 *
 * Lines are split as bytes, since a newline byte is never part of a longer UTF-8 character.
 */
import { isObject } from "@flotilla/base";
import type { JsonObject } from "@flotilla/base";
import { ApiError } from "@flotilla/apimachinery";
import type { Status } from "@flotilla/apimachinery";
import { UnreachableError } from "./errors.ts";
import type { TransportWatchEvent } from "./transport.ts";

/** An accepted object is at most 3 MiB; the fields that a server adds do not come near this limit. */
const MAX_LINE_BYTES = 16 * 1024 * 1024;
const NEWLINE = 0x0a;
const EVENT_TYPES: ReadonlySet<unknown> = new Set(["ADDED", "MODIFIED", "DELETED", "BOOKMARK"]);

export interface WatchDecoder {
  /**
   * The events that this chunk completes, and the failure that ends the watch, if it is in the chunk. Events before the
   * failure are still delivered, because they happened.
   */
  push(chunk: Uint8Array): { events: TransportWatchEvent[]; failure?: Error };
  /** True when the stream stopped in the middle of an event. */
  readonly incomplete: boolean;
}

export function createWatchDecoder(maxLineBytes = MAX_LINE_BYTES): WatchDecoder {
  let pending: Uint8Array[] = [];
  let pendingBytes = 0;

  const takeLine = (tail: Uint8Array): string => {
    if (pendingBytes === 0) return textOf(tail);
    const line = Buffer.concat([...pending, tail], pendingBytes + tail.length);
    pending = [];
    pendingBytes = 0;
    return textOf(line);
  };

  return {
    push(chunk) {
      const events: TransportWatchEvent[] = [];
      let start = 0;
      for (let end = chunk.indexOf(NEWLINE); end >= 0; end = chunk.indexOf(NEWLINE, start)) {
        const line = takeLine(chunk.subarray(start, end));
        start = end + 1;
        if (line.trim() === "") continue;
        const read = readLine(line);
        if (read instanceof Error) return { events, failure: read };
        events.push(read);
      }
      if (start < chunk.length) {
        pending.push(start === 0 ? chunk : chunk.subarray(start));
        pendingBytes += chunk.length - start;
        if (pendingBytes > maxLineBytes)
          return {
            events,
            failure: new UnreachableError(
              `a watch event is longer than ${maxLineBytes} bytes; this is not a Kubernetes API server`,
            ),
          };
      }
      return { events };
    },
    get incomplete() {
      return pendingBytes > 0;
    },
  };
}

function textOf(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("utf8");
}

function readLine(line: string): TransportWatchEvent | Error {
  let event: unknown;
  try {
    event = JSON.parse(line);
  } catch (cause) {
    return new UnreachableError(
      "a watch event is not JSON; this is not a Kubernetes API server, or a proxy changed the stream",
      { cause },
    );
  }
  if (!isObject(event) || !isObject(event["object"]))
    return new UnreachableError("a watch event has no object; this is not a Kubernetes API server");
  const object: JsonObject = event["object"];
  if (event["type"] === "ERROR") return new ApiError(object as unknown as Status);
  if (!EVENT_TYPES.has(event["type"]))
    return new UnreachableError(`a watch event has the unknown type ${JSON.stringify(event["type"])}`);
  const type = event["type"] as TransportWatchEvent["type"];
  return typeof event["cluster"] === "string" ? { type, cluster: event["cluster"], object } : { type, object };
}
