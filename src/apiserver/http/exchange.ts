/**
 * One request from its headers to its answer: who sends it, its body, the core's answer.
 *
 * Credentials are looked at before the body is read, so that a stranger cannot make the server hold data for him.
 */
import type { Clock, Log } from "../../base/index.ts";
import { notImplemented, timedOut, unauthorized, unavailable } from "../../machinery/index.ts";
import { longest, requestTimedOut } from "../request/deadline.ts";
import type { ApiRequest, ApiResponse, Authenticator, UserInfo } from "../request/request.ts";
import { statusResponse } from "../request/respond.ts";
import { routeOf, splitCluster } from "../request/router.ts";
import { ANONYMOUS } from "./authenticator.ts";
import { digestFrom, expiredText } from "./peer.ts";
import type { Peer } from "./peer.ts";
import type { BodyReader } from "./request-body.ts";
import { failureResponse, sendResponse } from "./response.ts";
import type { Headers, Wire } from "./wire.ts";

export interface ExchangeDependencies {
  handle(request: ApiRequest): Promise<ApiResponse>;
  authenticator: Authenticator;
  bodies: BodyReader;
  clock: Clock;
  log: Log;
  /** The server stops: whoever comes now is sent elsewhere. */
  isStopping(): boolean;
}

/** How long a peer may take to send its body, and to take an answer that is not a stream. */
const TRANSFER_TIMEOUT_MS = 60_000;
const NOTHING = new Uint8Array(0);
/** Shared, because an error with its stack costs more than a small request. */
const PEER_GONE = timedOut("the peer went away, or the server stops");

/** A request in progress, as the server keeps it to end it. */
export interface Exchange {
  /** Closes it when the peer had its time. */
  checkDeadline(nowMs: number): void;
  /** The server stops: streams end now, whole answers are still sent. */
  endStream(): void;
  /** The peer went away, or the server's patience is over. */
  abort(): void;
}

export function startExchange(wire: Wire, peer: Peer, deps: ExchangeDependencies): Exchange {
  const exchange = new RunningExchange(wire);
  exchange.run(peer, deps).catch((error: unknown) => {
    // The answer itself could not be sent: the connection broke, or the core gave headers that HTTP does not allow.
    if (!wire.closed) deps.log.error("answer could not be sent", { path: pathOf(wire.url), error });
    wire.destroy();
  });
  return exchange;
}

class RunningExchange implements Exchange {
  readonly #wire: Wire;
  readonly #request: IncomingRequest;
  #deadlineMs = Number.POSITIVE_INFINITY;
  /** The core works on the answer. */
  #handling = false;
  /** It took too long, and the peer was told so. */
  #expired = false;
  #stopStream: (() => void) | undefined;

  constructor(wire: Wire) {
    this.#wire = wire;
    this.#request = new IncomingRequest(wire);
  }

  async run(peer: Peer, deps: ExchangeDependencies): Promise<void> {
    const wire = this.#wire;
    const request = this.#request;
    let response: ApiResponse;
    let read = !wire.hasBody;
    try {
      refuseUnsupported(wire);
      if (deps.isStopping()) throw unavailable("the server is stopping");
      request.user = (await identify(wire.headers, splitCluster(request.path), peer, deps)) ?? ANONYMOUS;
      // A stranger may write nothing, so what it sends is not worth keeping: the core refuses the request without it.
      if (wire.hasBody && request.user !== ANONYMOUS) {
        this.#deadlineMs = deps.clock.now() + TRANSFER_TIMEOUT_MS;
        request.body = await deps.bodies.read(wire);
        read = true;
      }
      this.#handling = true;
      this.#deadlineMs = isProxied(request.path) ? Number.POSITIVE_INFINITY : deps.clock.now() + longest(wire.method);
      response = await deps.handle(request);
    } catch (error) {
      if (wire.closed) return;
      response = failureResponse(error, deps.log);
    }
    this.#handling = false;
    if (wire.closed || this.#expired) return;
    request.answered = true;
    if (!read || deps.isStopping()) wire.discardInput();
    this.#deadlineMs = deps.clock.now() + TRANSFER_TIMEOUT_MS;
    const sending = sendResponse(wire, response, (stop) => {
      this.#stopStream = stop;
      this.#deadlineMs = Number.POSITIVE_INFINITY;
      // The peer may have left while the stream was being opened.
      if (wire.closed) this.abort();
    });
    if (sending) await sending;
  }

  checkDeadline(nowMs: number): void {
    // A stream that is over is an answer like any other: its end has to be taken in time.
    if (this.#stopStream && this.#deadlineMs === Number.POSITIVE_INFINITY && this.#wire.output.writableEnded)
      this.#deadlineMs = nowMs + TRANSFER_TIMEOUT_MS;
    if (nowMs <= this.#deadlineMs || this.#wire.closed) return;
    if (!this.#handling) return this.#wire.destroy();
    this.#expired = true;
    this.#deadlineMs = nowMs + TRANSFER_TIMEOUT_MS;
    this.#request.abort();
    // A whole answer, so it is on its way when this returns.
    void sendResponse(this.#wire, statusResponse(requestTimedOut()), () => {});
  }

  endStream(): void {
    if (!this.#stopStream) return;
    this.abort();
    if (!this.#wire.output.writableEnded) this.#wire.output.end();
  }

  abort(): void {
    const stop = this.#stopStream;
    this.#stopStream = undefined;
    stop?.();
    // A stream goes on after the answer; anything else is over with it.
    if (stop || !this.#request.answered) this.#request.abort();
  }
}

/** Most requests never look at their signal and many have no query, so both are made when asked for. */
class IncomingRequest implements ApiRequest {
  readonly method: string;
  readonly path: string;
  readonly headers: Headers;
  readonly rawHeaders: readonly string[];
  readonly canUpgrade: boolean;
  body: Uint8Array = NOTHING;
  user: UserInfo = ANONYMOUS;
  /** Nobody is working on it any more, so its signal needs no abort. */
  answered = false;
  readonly #search: string;
  #query: URLSearchParams | undefined;
  #controller: AbortController | undefined;
  #aborted = false;

  constructor({ method, url, headers, rawHeaders, upgrade }: Wire) {
    const mark = url.indexOf("?");
    this.method = method;
    this.path = mark < 0 ? url : url.slice(0, mark);
    this.#search = mark < 0 ? "" : url.slice(mark + 1);
    this.headers = headers;
    this.rawHeaders = rawHeaders;
    this.canUpgrade = upgrade !== undefined;
  }

  get query(): URLSearchParams {
    return (this.#query ??= new URLSearchParams(this.#search));
  }

  get signal(): AbortSignal {
    if (!this.#controller) {
      this.#controller = new AbortController();
      if (this.#aborted) this.#controller.abort(PEER_GONE);
    }
    return this.#controller.signal;
  }

  abort(): void {
    this.#aborted = true;
    this.#controller?.abort(PEER_GONE);
  }
}

function identify(
  headers: Headers,
  { cluster, path }: ReturnType<typeof splitCluster>,
  peer: Peer,
  deps: ExchangeDependencies,
): Promise<UserInfo | undefined> {
  const bearerToken = bearerOf(headers["authorization"]);
  const certificate = peer.subject && deps.clock.now() < peer.validToMs ? peer.subject : undefined;
  // A bad certificate is bad credentials, unless a token says who it is.
  if (!certificate && bearerToken === undefined && (peer.untrusted || peer.subject))
    throw unauthorized(peer.problem ?? (peer.subject && expiredText(peer.validToMs)));
  return deps.authenticator.authenticate({
    certificate,
    bearerToken,
    bearerDigest: bearerToken !== undefined ? digestFrom(peer, bearerToken) : undefined,
    cluster,
    path,
  });
}

function bearerOf(authorization: string | undefined): string | undefined {
  if (authorization === undefined) return undefined;
  const space = authorization.indexOf(" ");
  const scheme = space < 0 ? authorization : authorization.slice(0, space);
  // A password would otherwise look like no credentials at all.
  if (scheme.toLowerCase() !== "bearer") throw unauthorized();
  const token = space < 0 ? "" : authorization.slice(space + 1).trim();
  return token === "" ? undefined : token;
}

/** What is behind a proxy takes as long as it takes. Few paths have the word at all, so that few are read twice. */
function isProxied(path: string): boolean {
  if (!path.includes("/proxy")) return false;
  const route = routeOf(splitCluster(path).path);
  return route.type === "resource" && route.subresource === "proxy";
}

function refuseUnsupported({ method }: Wire): void {
  if (method === "CONNECT") throw notImplemented("CONNECT requests");
}

function pathOf(url: string): string {
  return url.split("?", 1)[0] ?? "";
}
