/**
 * Decodes a watch: one JSON document per line, in chunks that may end anywhere, even inside a character.
 *
 * Lines are split as bytes, since a newline byte is never part of a longer UTF-8 character.
 */
import { isObject } from "@flotilla/base";
import type { JsonObject } from "@flotilla/base";
import { ApiError } from "@flotilla/apimachinery";
import type { Status } from "@flotilla/apimachinery";
import { ResponseLimitError, UnreachableError } from "./errors.ts";
import { checkValues, TRUSTED_LIMITS } from "./response-limits.ts";
import type { BufferMeter, ResponseLimits } from "./response-limits.ts";
import type { TransportWatchEvent } from "./transport.ts";

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
  /** Releases what is buffered; `incomplete` stays as it is. */
  close(): void;
}

export interface WatchDecoderOptions {
  limits?: Pick<ResponseLimits, "objectBytes" | "objectValues">;
  meter?: BufferMeter;
}

export function createWatchDecoder({ limits = TRUSTED_LIMITS, meter }: WatchDecoderOptions = {}): WatchDecoder {
  let pending: Uint8Array[] = [];
  let pendingBytes = 0;

  const takeLine = (tail: Uint8Array): Uint8Array => {
    if (pendingBytes === 0) return tail;
    const line = Buffer.concat([...pending, tail], pendingBytes + tail.length);
    meter?.add(-pendingBytes);
    pending = [];
    pendingBytes = 0;
    return line;
  };

  const keep = (rest: Uint8Array): void => {
    meter?.add(rest.length);
    pending.push(rest);
    pendingBytes += rest.length;
    checkBytes(pendingBytes);
  };

  const checkBytes = (length: number): void => {
    if (length > limits.objectBytes)
      throw new ResponseLimitError(`a watch event is longer than ${limits.objectBytes} bytes`);
  };

  const readAll = (chunk: Uint8Array, events: TransportWatchEvent[]): Error | undefined => {
    let start = 0;
    for (let end = chunk.indexOf(NEWLINE); end >= 0; end = chunk.indexOf(NEWLINE, start)) {
      const line = takeLine(chunk.subarray(start, end));
      start = end + 1;
      checkBytes(line.length);
      checkValues(line, limits.objectValues, "a watch event");
      const text = textOf(line);
      if (text.trim() === "") continue;
      const read = readLine(text);
      if (read instanceof Error) return read;
      events.push(read);
    }
    if (start < chunk.length) keep(start === 0 ? chunk : chunk.subarray(start));
    return undefined;
  };

  return {
    push(chunk) {
      const events: TransportWatchEvent[] = [];
      try {
        return { events, failure: readAll(chunk, events) };
      } catch (error) {
        if (error instanceof ResponseLimitError) return { events, failure: error };
        throw error;
      }
    },
    get incomplete() {
      return pendingBytes > 0;
    },
    close() {
      meter?.add(-pendingBytes);
      pending = [];
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
