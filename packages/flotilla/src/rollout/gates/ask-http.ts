/**
 * Sends one request of a gate and reads its answer, within limits: a slow, large or hostile answer must not block the hub.
 * Redirects are not followed: the gate names the server, and its writer was permitted to use that one.
 */
import https from "node:https";
import { CollectedBytes, FlotillaError, messageOf } from "@flotilla/base";
import type { Clock } from "@flotilla/base";

/**
 * An import would create a module namespace of `node:http`, for which Node also loads its fetch and WebSocket: 10 MB.
 */
const http = process.getBuiltinModule("node:http");

interface GateRequest {
  readonly method: "GET" | "POST";
  readonly url: string;
  readonly body?: string | undefined;
  readonly bearerToken?: string | undefined;
}

/** The body of a successful answer. */
export type AskGate = (request: GateRequest, signal: AbortSignal) => Promise<string>;

const TIMEOUT_MS = 10_000;
const MAX_ANSWER_BYTES = 256 * 1024;

export class GateError extends FlotillaError {
  constructor(message: string, options?: ErrorOptions) {
    super("Gate", message, options);
  }
}

export function createAskGate(clock: Clock): AskGate {
  return async ({ method, url, body, bearerToken }, signal) => {
    const target = new URL(url);
    const timeout = new AbortController();
    const timer = clock.after(TIMEOUT_MS, () =>
      timeout.abort(new GateError(`no answer within ${TIMEOUT_MS / 1000} s`)),
    );
    const causeOf = (error: Error): Error => (timeout.signal.aborted ? (timeout.signal.reason as Error) : error);
    try {
      return await new Promise<string>((resolve, reject) => {
        const headers: Record<string, string> = { accept: "application/json" };
        if (body !== undefined) headers["content-type"] = "application/json";
        if (bearerToken !== undefined) headers["authorization"] = `Bearer ${bearerToken}`;
        const request = (target.protocol === "https:" ? https : http).request(
          target,
          { method, headers, signal: AbortSignal.any([signal, timeout.signal]) },
          (answer) => {
            const received = new CollectedBytes();
            answer.on("data", (part: Buffer) => {
              received.add(part);
              if (received.length > MAX_ANSWER_BYTES)
                answer.destroy(new GateError(`the answer has more than ${MAX_ANSWER_BYTES} bytes`));
              else if (received.isInTinyChunks) answer.destroy(new GateError("the answer arrives in tiny pieces"));
            });
            answer.on("error", (error) => reject(causeOf(error)));
            answer.on("end", () => {
              const text = received.join().toString("utf8");
              const status = answer.statusCode ?? 0;
              if (status >= 200 && status < 300) resolve(text);
              else reject(new GateError(`the server answered ${status}`));
            });
          },
        );
        request.on("error", (error) => reject(causeOf(error)));
        request.end(body);
      });
    } catch (error) {
      if (signal.aborted || error instanceof GateError) throw error;
      throw new GateError(messageOf(error), { cause: error });
    } finally {
      timer.cancel();
    }
  };
}
