/**
 * Sends one POST to a webhook and reads its response, within limits: a slow, large or hostile response must not block
 * the hub.
 *
 * A server that offers HTTP/2 is called with it, others with HTTP/1.1 and kept connections. Redirects are not followed: the
 * configuration defines the server and its CA.
 */
import { splitCertificates } from "@flotilla/apimachinery";
import { X509Certificate } from "node:crypto";
import type { IncomingMessage } from "node:http";
import http2 from "node:http2";
import type { ClientHttp2Session, IncomingHttpHeaders } from "node:http2";
import https from "node:https";
import { CollectedBytes, messageOf } from "@flotilla/base";
import { BlockedAddressError } from "../blocked-addresses.ts";
import type { BlockedSet } from "../blocked-addresses.ts";
import { shown } from "./webhook-answer.ts";
import type { Endpoint } from "./webhook-endpoint.ts";
import { WebhookError } from "./webhook-error.ts";
import { createWebhookSessions } from "./webhook-sessions.ts";

/** Concurrent calls per webhook; over HTTP/1.1 each has its own kept connection. */
export const MAX_CALLS_IN_FLIGHT = 32;
/** Several webhooks may share a connection: one that is slow leaves sockets to the others. */
const MAX_HTTP1_SOCKETS = 8 * MAX_CALLS_IN_FLIGHT;
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
 * certificate. Calls to `blocked` addresses fail.
 */
export function createWebhookConnection(caBundle: string | undefined, blocked?: BlockedSet): WebhookConnection {
  const ca = caBundle ? certificatesIn(caBundle) : undefined;
  const sessions = createWebhookSessions({
    ca,
    blocked,
    maxSockets: MAX_HTTP1_SOCKETS,
    maxHeaderBytes: MAX_HEADER_BYTES,
    idleMs: IDLE_MS,
  });

  async function post(call: Call, stop: AbortSignal, isRepeated = false): Promise<Buffer> {
    let session: ClientHttp2Session | undefined;
    try {
      session = await sessions.find(call.endpoint, stop);
    } catch (error) {
      throw stop.aborted ? (stop.reason as Error) : connectionError(error as Error);
    }
    if (stop.aborted) throw stop.reason as Error;
    try {
      return await (session ? postHttp2(session, call, stop) : postHttp1(sessions.agent, call, stop));
    } catch (error) {
      // The server did not look at the call: it was closing the connection.
      if (error instanceof RefusedError && !isRepeated) return post(call, stop, true);
      if (error instanceof WebhookError && isLostConnection(error, session)) sessions.forget(call.endpoint, session);
      throw error;
    }
  }

  return {
    post(endpoint, query, body, stop) {
      if (stop.aborted) return Promise.reject(stop.reason as Error);
      return post({ endpoint, query, body }, stop);
    },
    close: () => sessions.close(),
  };
}

/** Whether the next call must not rely on what is known of the connection. */
function isLostConnection({ reason }: WebhookError, session: ClientHttp2Session | undefined): boolean {
  // Another server may answer at the address, which speaks something else.
  if (!session) return reason === "connection";
  // The network may drop its packets, which the system notices after minutes. Other calls on it are not ended.
  return reason === "timeout";
}

interface Call {
  endpoint: Endpoint;
  query: string;
  body: Buffer;
}

/** The server refused the call before it looked at it. */
class RefusedError extends WebhookError {}

const headersOf = (body: Buffer): Record<string, string | number> => ({
  "user-agent": "flotilla",
  accept: "application/json",
  "content-type": "application/json",
  "content-length": body.length,
});

function postHttp1(agent: https.Agent, { endpoint, query, body }: Call, stop: AbortSignal): Promise<Buffer> {
  const { host, port, path, authority, serverName } = endpoint;
  return new Promise((resolve, reject) => {
    const outgoing = https.request({
      agent,
      method: "POST",
      host,
      port,
      path: `${path}${query}`,
      headers: { host: authority, ...headersOf(body) },
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
  });
}

function postHttp2(
  session: ClientHttp2Session,
  { endpoint: { path, authority }, query, body }: Call,
  stop: AbortSignal,
): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    // It was closed since it was found: then no stream can be opened, and the call is repeated on another.
    if (session.closed || session.destroyed)
      return reject(new RefusedError("connection", "the connection to the webhook was closed", { isPassing: true }));
    const stream = session.request({
      ":method": "POST",
      ":path": `${path}${query}`,
      ":authority": authority,
      ...headersOf(body),
    });
    const settle = (finish: () => void): void => {
      stop.removeEventListener("abort", cancel);
      finish();
    };
    const fail = (error: Error): void => {
      settle(() => reject(error));
      stream.close(http2.constants.NGHTTP2_CANCEL);
    };
    const cancel = (): void => fail(stop.reason as Error);
    stop.addEventListener("abort", cancel, { once: true });
    let headers: IncomingHttpHeaders | undefined;
    const answer = createAnswer((bytes) => settle(() => resolve(bytes)), fail);
    stream.once("response", (received) => {
      headers = received;
      answer.begin(received["content-length"]);
    });
    stream.on("data", (chunk: Buffer) => answer.add(chunk));
    stream.once("end", () => headers && answer.end(Number(headers[":status"]), headers["content-type"]));
    stream.once("error", (error) => fail(brokenCall(error, stream.rstCode)));
    // After an answer this changes nothing.
    stream.once("close", () => fail(brokenCall(new Error("the stream was closed"), stream.rstCode)));
    stream.end(body);
  });
}

function brokenCall(error: Error, code: number | undefined): WebhookError {
  const isRefused = code === http2.constants.NGHTTP2_REFUSED_STREAM;
  return new (isRefused ? RefusedError : WebhookError)(
    "connection",
    `the connection to the webhook broke (${messageOf(error)})`,
    { cause: error, isPassing: true },
  );
}

function readAnswer(incoming: IncomingMessage, done: (bytes: Buffer) => void, fail: (error: Error) => void): void {
  const answer = createAnswer(done, fail);
  incoming.on("error", (error) => fail(connectionError(error)));
  if (!answer.begin(incoming.headers["content-length"])) return;
  incoming.on("data", (chunk: Buffer) => answer.add(chunk));
  incoming.on("end", () => answer.end(incoming.statusCode ?? 0, incoming.headers["content-type"]));
}

/** Collects an answer within the limits. */
function createAnswer(done: (bytes: Buffer) => void, fail: (error: Error) => void) {
  const received = new CollectedBytes();
  let hasFailed = false;
  const reject = (problem: string): void => {
    hasFailed = true;
    fail(new WebhookError("answer", problem));
  };
  const tooLong = (): void => reject(`the response is longer than ${MAX_ANSWER_BYTES} bytes`);
  return {
    /** A response whose Content-Length is too large is rejected before it is read: then returns false. */
    begin(contentLength: string | undefined): boolean {
      if (Number(contentLength ?? 0) > MAX_ANSWER_BYTES) tooLong();
      return !hasFailed;
    },
    add(chunk: Buffer): void {
      if (hasFailed) return;
      received.add(chunk);
      if (received.length > MAX_ANSWER_BYTES) tooLong();
      else if (received.isInTinyChunks) reject("the response arrives in too many small chunks");
    },
    end(status: number, contentType: string | undefined): void {
      if (hasFailed) return;
      const bytes = received.join();
      if (status >= 200 && status <= LAST_SUCCESS) return done(bytes);
      const isText = contentType?.startsWith("text/plain") ?? false;
      fail(statusError(status, isText ? bytes.subarray(0, MAX_QUOTED_CHARACTERS).toString().trim() : ""));
    },
  };
}

function statusError(status: number, said: string): WebhookError {
  const hint = status >= 300 && status <= 399 ? ", and redirects are not followed" : "";
  return new WebhookError("status", `the webhook returned HTTP status ${status}${hint}${said && `: ${shown(said)}`}`, {
    isPassing: status === 429 || status >= 500,
    httpStatus: status,
  });
}

function connectionError(error: Error & { code?: unknown }): WebhookError {
  const { code } = error;
  if (error instanceof BlockedAddressError) return new WebhookError("configuration", error.message, { cause: error });
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

/** For an invalid bundle Node trusts no CA; this is reported here once instead of by every call. */
function certificatesIn(caBundle: string): string[] {
  const found = splitCertificates(Buffer.from(caBundle, "base64").toString("latin1"));
  if (found.length === 0) throw new WebhookError("configuration", "clientConfig.caBundle contains no PEM certificate");
  try {
    return found.map((certificate) => new X509Certificate(certificate).toString());
  } catch (error) {
    throw new WebhookError("configuration", "clientConfig.caBundle contains an invalid certificate", {
      cause: error,
    });
  }
}
