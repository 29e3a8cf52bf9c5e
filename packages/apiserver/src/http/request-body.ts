/** Reads request bodies within two limits: the size of one body, and the total size of all bodies being read. */
import { badRequest, tooLarge, tooManyRequests } from "@flotilla/apimachinery";
import type { ApiError } from "@flotilla/apimachinery";
import { MAX_BODY_BYTES } from "../codec/body-limits.ts";
import type { Wire } from "./wire.ts";

export interface BodyReader {
  /** Rejects with 413 for a body that is too large, with 429 when too many bodies are being read. */
  read(wire: Wire, maxBytes?: number): Promise<Uint8Array>;
}

export function createBodyReader({ maxTotalBytes }: { maxTotalBytes: number }): BodyReader {
  let total = 0;

  return {
    read: (wire, maxBytes = MAX_BODY_BYTES) =>
      new Promise((resolve, reject) => {
        const limit = (): ApiError => tooLarge(`Request entity too large: limit is ${maxBytes}`);
        // A client that announces too large a body is rejected before it sends it.
        if (Number(wire.headers["content-length"] ?? 0) > maxBytes) return reject(limit());
        const { input } = wire;
        const chunks: Buffer[] = [];
        let length = 0;
        const settle = (finish: () => void): void => {
          total -= length;
          length = 0;
          input.off("data", onData).off("end", onEnd).off("close", onClose);
          finish();
        };
        const onData = (chunk: Buffer): void => {
          chunks.push(chunk);
          length += chunk.length;
          total += chunk.length;
          if (length > maxBytes) settle(() => reject(limit()));
          else if (total > maxTotalBytes)
            settle(() => reject(tooManyRequests("too many large requests at the same time; try again")));
        };
        const onEnd = (): void => {
          // A stream that the client resets ends like a complete one, but it is closed before it was answered.
          if (wire.closed) return onClose();
          const body = chunks.length === 1 && chunks[0] ? chunks[0] : Buffer.concat(chunks, length);
          settle(() => resolve(body));
        };
        const onClose = (): void => settle(() => reject(badRequest("the request ended before its body was complete")));
        input.on("data", onData).on("end", onEnd).on("close", onClose);
      }),
  };
}
