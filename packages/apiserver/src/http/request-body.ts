/**
 * Reads request bodies within three limits: the size of one body, the bytes of all bodies that the server holds, and the
 * number of small chunks.
 */
import { badRequest, tooLarge } from "@flotilla/apimachinery";
import type { ApiError } from "@flotilla/apimachinery";
import { CollectedBytes } from "@flotilla/base";
import { MAX_BODY_BYTES } from "../codec/body-limits.ts";
import type { BodyBudget } from "./body-budget.ts";
import type { BodyChunks } from "./chunk-allowance.ts";
import type { Wire } from "./wire.ts";

export interface ReadBody {
  bytes: Uint8Array;
  /** The request is answered: its bytes no longer count. */
  release(): void;
}

export const tooManyChunks = (): ApiError => badRequest("the body arrives in too many small chunks; send larger ones");

export interface BodyLimits {
  budget: BodyBudget;
  chunks: BodyChunks;
  /** Names who the bytes count for. */
  client(): string;
  maxBytes?: number | undefined;
}

/**
 * Rejects with 413 for a body that is too large, with 429 when too many bodies are held, and closes the connection for
 * one in too many small chunks.
 */
export function readBody(
  wire: Wire,
  { budget, chunks, client, maxBytes = MAX_BODY_BYTES }: BodyLimits,
): Promise<ReadBody> {
  return new Promise((resolve, reject) => {
    const limit = (): ApiError => tooLarge(`Request entity too large: limit is ${maxBytes}`);
    // A client that announces too large a body is rejected before it sends it.
    if (Number(wire.headers["content-length"] ?? 0) > maxBytes) return reject(limit());
    const { input } = wire;
    const received = new CollectedBytes();
    /** Then the listeners go with the stream: removing them takes as long as reading a small body. */
    let isComplete = false;
    const stop = (): void => void input.off("data", onData).off("end", onEnd).off("close", onClose);
    const fail = (error: ApiError): void => {
      held.release();
      stop();
      received.clear();
      reject(error);
    };
    const held = budget.open(client, fail);
    const onData = (chunk: Buffer): void => {
      if (wire.closeConnection && !chunks.accept(chunk.length)) {
        wire.closeConnection();
        return fail(tooManyChunks());
      }
      if (received.length + chunk.length > maxBytes) return fail(limit());
      received.add(chunk);
      held.add(chunk.length);
    };
    const onEnd = (): void => {
      // A stream that the client resets ends like a complete one, but it is closed before it was answered.
      if (wire.closed) return onClose();
      isComplete = true;
      const bytes = received.join();
      held.complete();
      resolve({ bytes, release: () => held.release() });
    };
    const onClose = (): void => {
      if (!isComplete) fail(badRequest("the request ended before its body was complete"));
    };
    input.on("data", onData).on("end", onEnd).on("close", onClose);
  });
}
