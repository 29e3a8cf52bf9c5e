/** Reads a server's response: the whole body within a limit, and failures as `ApiError`. */
import type { Readable } from "node:stream";
import { CollectedBytes, countJsonValues, isObject } from "@flotilla/base";
import { ApiError } from "@flotilla/apimachinery";
import type { Status } from "@flotilla/apimachinery";
import { ResponseLimitError, UnreachableError } from "./errors.ts";
import type { HttpResponse } from "./http-requests.ts";
import type { BufferMeter } from "./response-limits.ts";

/** Only the beginning of a body that is not a Status helps a reader. */
const MAX_QUOTED_CHARACTERS = 512;

/** A Status with a hundred causes has some 50 KB. */
export const MAX_STATUS_BYTES = 1024 * 1024;
const MAX_STATUS_VALUES = 20_000;

/** Reads the whole body. The caller releases its bytes from the meter when they are parsed. */
export function readBody(
  body: Readable,
  stop: AbortSignal,
  { maxBytes, meter }: { maxBytes: number; meter: BufferMeter },
): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const received = new CollectedBytes();
    let complete = false;
    const release = (): void => meter.add(-received.length);
    const take = (chunk: Uint8Array): void => {
      meter.add(chunk.length);
      received.add(chunk);
      if (received.length > maxBytes)
        throw new ResponseLimitError(`the response is longer than ${maxBytes} bytes`, { mayHaveArrived: true });
      if (received.isInTinyChunks)
        throw new ResponseLimitError("the response arrives in too many small chunks", { mayHaveArrived: true });
    };
    body.on("data", (chunk: Uint8Array) => {
      try {
        if (!body.destroyed) take(chunk);
      } catch (error) {
        body.destroy(error as Error);
      }
    });
    body.on("end", () => {
      complete = true;
      resolve(received.join());
    });
    body.on("error", reject);
    body.on("close", () => {
      if (complete) return;
      release();
      reject(
        stop.aborted
          ? (stop.reason as Error)
          : new UnreachableError("the connection was lost before the response was complete; try again"),
      );
    });
  });
}

/**
 * Yields the chunks of a body as they arrive; leaving the loop early discards the rest. The stream's own iterator is
 * not used: it treats an HTTP/2 stream that the peer has ended as truncated, even while data is left to read.
 */
export async function* chunksOf(body: Readable): AsyncGenerator<Uint8Array> {
  let isComplete = false;
  let failure: Error | undefined;
  let wake = (): void => {};
  body.on("readable", () => wake());
  body.on("end", () => {
    isComplete = true;
    wake();
  });
  body.on("error", (error) => {
    failure = error;
    wake();
  });
  body.on("close", () => {
    if (!isComplete)
      failure ??= new UnreachableError("the connection was lost before the response was complete; try again");
    wake();
  });
  try {
    for (;;) {
      const chunk = body.destroyed ? null : (body.read() as Uint8Array | null);
      if (chunk !== null) yield chunk;
      else if (isComplete) return;
      else if (failure) throw failure;
      else if (body.destroyed)
        throw (
          body.errored ?? new UnreachableError("the connection was lost before the response was complete; try again")
        );
      else
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
    }
  } finally {
    body.destroy();
  }
}

/** The text response of an intermediate proxy becomes a Status with the same code. */
export function readFailure(
  { status: code, headers }: Pick<HttpResponse, "status" | "headers">,
  body: Buffer,
): ApiError {
  const text = body.toString("utf8");
  const status = countJsonValues(body, MAX_STATUS_VALUES) > MAX_STATUS_VALUES ? undefined : parseStatus(text);
  if (status) return new ApiError(status);
  const message =
    `the server responded with ${code}` +
    (headers["content-type"]?.startsWith("text/plain") && text
      ? `: ${text.slice(0, MAX_QUOTED_CHARACTERS).trim()}`
      : "");
  return new ApiError({
    kind: "Status",
    apiVersion: "v1",
    metadata: {},
    status: "Failure",
    message,
    reason: REASONS[code] ?? "Unknown",
    code,
  });
}

const REASONS: Readonly<Record<number, string>> = {
  400: "BadRequest",
  401: "Unauthorized",
  403: "Forbidden",
  404: "NotFound",
  405: "MethodNotAllowed",
  406: "NotAcceptable",
  409: "Conflict",
  410: "Gone",
  413: "RequestEntityTooLarge",
  415: "UnsupportedMediaType",
  422: "Invalid",
  429: "TooManyRequests",
  500: "InternalError",
  501: "NotImplemented",
  503: "ServiceUnavailable",
  504: "Timeout",
  507: "InsufficientStorage",
};

function parseStatus(text: string): Status | undefined {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    // Not JSON, so not a Status: the caller reports the response text instead.
    return undefined;
  }
  return isObject(value) && value["kind"] === "Status" && typeof value["code"] === "number"
    ? (value as unknown as Status)
    : undefined;
}
