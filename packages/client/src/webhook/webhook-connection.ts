/**
 * Sends one POST to a webhook and reads its response, within limits: a slow, large or hostile response must not block
 * the hub.
 *
 * Uses HTTP/1.1 over TLS with keep-alive connections rather than the shared HTTP/2 sessions of `client`: a Service with
 * several pods balances connections, not requests, and Karmada calls webhooks the same way. Redirects are not followed:
 * the configuration defines the server and its CA.
 */
import { X509Certificate } from "node:crypto";
import type { IncomingMessage } from "node:http";
import https from "node:https";
import { messageOf } from "@flotilla/base";
import { shown } from "./webhook-answer.ts";
import type { Endpoint } from "./webhook-endpoint.ts";
import { WebhookError } from "./webhook-error.ts";

/** Concurrent calls per webhook, each on its own keep-alive connection. */
export const MAX_CALLS_IN_FLIGHT = 32;
/** Objects have at most 3 MB, and a patch that changes a whole object is not much longer. */
export const MAX_ANSWER_BYTES = 4 * 1024 * 1024;
const MAX_HEADER_BYTES = 16 * 1024;
/** Idle connections are closed after a minute. */
const IDLE_MS = 60_000;
/** The beginning of an error page is enough for a reader. */
const MAX_QUOTED_CHARACTERS = 256;
/** As in client-go: 207 and above do not count as success. */
const LAST_SUCCESS = 206;

/** Transient connection errors that may be retried; an untrusted connection is not retried. */
const TRANSIENT_ERRORS: ReadonlySet<unknown> = new Set([
  "ECONNREFUSED",
  "ECONNRESET",
  "EPIPE",
  "ETIMEDOUT",
  "EHOSTUNREACH",
  "ENETUNREACH",
  "ENOTFOUND",
  "EAI_AGAIN",
]);

export interface WebhookConnection {
  /**
   * The body of a successful response. `stop` aborts the call at any time, and its reason is thrown. Throws
   * `WebhookError` otherwise.
   */
  post(endpoint: Endpoint, query: string, body: Buffer, stop: AbortSignal): Promise<Buffer>;
  /** Closes the kept connections and aborts calls in flight. */
  close(): void;
}

/** Opens the connection of a webhook to its server. */
export type ConnectWebhook = typeof createWebhookConnection;

/**
 * `caBundle` is base64-encoded PEM; without it Node's default CAs are trusted. Throws `WebhookError` if it contains no
 * certificate.
 */
export function createWebhookConnection(caBundle: string | undefined): WebhookConnection {
  const ca = caBundle ? certificatesIn(caBundle) : undefined;
  const agent = new https.Agent({
    keepAlive: true,
    maxSockets: MAX_CALLS_IN_FLIGHT,
    maxFreeSockets: MAX_CALLS_IN_FLIGHT,
    timeout: IDLE_MS,
    minVersion: "TLSv1.2",
    ca,
  });

  return {
    post: ({ host, port, path, authority, serverName }, query, body, stop) =>
      new Promise((resolve, reject) => {
        if (stop.aborted) return reject(stop.reason as Error);
        const outgoing = https.request({
          agent,
          method: "POST",
          host,
          port,
          path: `${path}${query}`,
          headers: {
            host: authority,
            "user-agent": "flotilla",
            accept: "application/json",
            "content-type": "application/json",
            "content-length": body.length,
          },
          maxHeaderSize: MAX_HEADER_BYTES,
          servername: serverName,
        });
        const settle = (finish: () => void): void => {
          stop.removeEventListener("abort", cancel);
          finish();
        };
        const fail = (error: Error): void => {
          settle(() => reject(error));
          outgoing.destroy();
        };
        const cancel = (): void => fail(stop.reason as Error);
        stop.addEventListener("abort", cancel, { once: true });
        outgoing.once("response", (incoming) => readAnswer(incoming, (bytes) => settle(() => resolve(bytes)), fail));
        outgoing.once("upgrade", (_incoming, socket) => {
          socket.destroy();
          fail(new WebhookError("status", "the webhook switched protocols, which was not requested"));
        });
        outgoing.on("error", (error) => fail(connectionError(error)));
        outgoing.end(body);
      }),
    close: () => agent.destroy(),
  };
}

function readAnswer(incoming: IncomingMessage, done: (bytes: Buffer) => void, fail: (error: Error) => void): void {
  const chunks: Buffer[] = [];
  let length = 0;
  incoming.on("error", (error) => fail(connectionError(error)));
  const tooLong = (): void => fail(new WebhookError("answer", `the response is longer than ${MAX_ANSWER_BYTES} bytes`));
  // A response whose Content-Length is too large is rejected before it is read.
  if (Number(incoming.headers["content-length"] ?? 0) > MAX_ANSWER_BYTES) return tooLong();
  incoming.on("data", (chunk: Buffer) => {
    chunks.push(chunk);
    length += chunk.length;
    if (length > MAX_ANSWER_BYTES) tooLong();
  });
  incoming.on("end", () => {
    const bytes = Buffer.concat(chunks, length);
    const status = incoming.statusCode ?? 0;
    if (status >= 200 && status <= LAST_SUCCESS) return done(bytes);
    fail(
      statusError(
        status,
        incoming.headers["content-type"]?.startsWith("text/plain")
          ? bytes.subarray(0, MAX_QUOTED_CHARACTERS).toString().trim()
          : "",
      ),
    );
  });
}

function statusError(status: number, said: string): WebhookError {
  const hint = status >= 300 && status <= 399 ? ", and redirects are not followed" : "";
  return new WebhookError("status", `the webhook returned HTTP status ${status}${hint}${said && `: ${shown(said)}`}`, {
    isPassing: status === 429 || status >= 500,
  });
}

function connectionError(error: Error & { code?: unknown }): WebhookError {
  const { code } = error;
  if (typeof code === "string" && code.startsWith("HPE_"))
    return new WebhookError(
      "answer",
      `the response is not HTTP, or its header has more than ${MAX_HEADER_BYTES} bytes`,
      {
        cause: error,
      },
    );
  // If a name has several addresses, each attempt failed separately, and the aggregate error has no details.
  const cause: unknown = error instanceof AggregateError ? (error.errors[0] ?? error) : error;
  if (TRANSIENT_ERRORS.has(code))
    return new WebhookError("connection", `the webhook is unreachable (${messageOf(cause)})`, {
      cause,
      isPassing: true,
    });
  return new WebhookError(
    "connection",
    `the webhook's certificate is not trusted (${messageOf(cause)}); check the address, clientConfig.caBundle and the names in its certificate`,
    { cause },
  );
}

const CERTIFICATE = /-----BEGIN CERTIFICATE-----[^-]*-----END CERTIFICATE-----/g;

/** For an invalid bundle Node trusts no CA; this is reported here once instead of by every call. */
function certificatesIn(caBundle: string): string[] {
  const found = Buffer.from(caBundle, "base64").toString("latin1").match(CERTIFICATE) ?? [];
  if (found.length === 0) throw new WebhookError("configuration", "clientConfig.caBundle contains no PEM certificate");
  try {
    return found.map((certificate) => new X509Certificate(certificate).toString());
  } catch (error) {
    throw new WebhookError("configuration", "clientConfig.caBundle contains an invalid certificate", {
      cause: error,
    });
  }
}
