/**
 * One request from headers to response: authentication, body, the core's response.
 *
 * Credentials are checked before the body is read, so that unauthenticated clients cannot make the server buffer data.
 */
import type { Clock, Log } from "@flotilla/base";
import { ApiError, HUB, notImplemented, timedOut, unauthorized, unavailable } from "@flotilla/apimachinery";
import { clientKeyOf } from "../access/client-key.ts";
import { isPromise } from "../admission/run-steps.ts";
import { longest, requestTimedOut } from "../request/deadline.ts";
import type { AuditRecord } from "../request/audit-record.ts";
import type { ApiRequest, ApiResponse, Authenticator } from "../request/request.ts";
import type { UserInfo } from "../request/user-info.ts";
import { statusResponse } from "../request/respond.ts";
import { routeOf, splitCluster } from "../request/router.ts";
import { ANONYMOUS } from "./authenticator.ts";
import type { FrontProxies } from "./front-proxies.ts";
import { chunksOf, digestFrom, expiredText } from "./peer.ts";
import type { Peer } from "./peer.ts";
import type { BodyBudget } from "./body-budget.ts";
import { BodyChunks } from "./chunk-allowance.ts";
import { readBody } from "./request-body.ts";
import { httpFailureResponse, sendResponse } from "./response.ts";
import type { Headers, Wire } from "./wire.ts";

/** Serves paths that are not part of the API, and authenticates their clients itself. */
export interface OtherPaths {
  owns(path: string): boolean;
  /** How many bytes of the body of a request may be read. */
  bodyLimit(request: ApiRequest): number;
  handle(request: ApiRequest): Promise<ApiResponse>;
}

export interface ExchangeDependencies {
  handle(request: ApiRequest): Promise<ApiResponse>;
  /** Unset: everything is the API. */
  otherPaths?: OtherPaths | undefined;
  authenticator: Authenticator;
  /** Proxies that authenticate users; unset: none. */
  proxies(): FrontProxies | undefined;
  /** Called when the credentials of a request are rejected. */
  onRejected?: ((request: ApiRequest, error: ApiError) => void) | undefined;
  bodies: BodyBudget;
  /** For paths whose body is read from clients without credentials, too: the size of the largest body. */
  openBodyBytes?: ((path: string) => number | undefined) | undefined;
  clock: Clock;
  log: Log;
  /** The server is stopping; new requests are rejected. */
  isStopping(): boolean;
}

/** How long a client may take to send its body, and to read a response that is not a stream. */
const TRANSFER_TIMEOUT_MS = 60_000;
/** All CRDs of a large project, with the copies in their annotations. */
const MAX_DRY_RUN_BYTES = 32 * 1024 * 1024;
const NOTHING = new Uint8Array(0);
/** Shared, because an error with its stack costs more than a small request. */
const CLIENT_DISCONNECTED = timedOut("the client disconnected, or the server is stopping");

/** A request in progress, with the methods that end it. */
export interface Exchange {
  /** Closes the exchange when its deadline has passed. */
  checkDeadline(nowMs: number): void;
  /** The server is stopping: streams end now, complete responses are still sent. */
  endStream(): void;
  /** The client disconnected, or the server's drain timeout has passed. */
  abort(): void;
}

export function startExchange(wire: Wire, peer: Peer, deps: ExchangeDependencies): Exchange {
  const exchange = new RunningExchange(wire);
  exchange.run(peer, deps).catch((error: unknown) => {
    // The response could not be sent: the connection broke, or the core returned invalid headers.
    if (!wire.closed) deps.log.error("failed to send response", { path: pathOf(wire.url), error });
    wire.destroy();
  });
  return exchange;
}

class RunningExchange implements Exchange {
  readonly #wire: Wire;
  readonly #request: IncomingRequest;
  #deadlineMs = Number.POSITIVE_INFINITY;
  /** The core is handling the request. */
  #handling = false;
  /** The request timed out, and the client received a timeout error. */
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
    let release: (() => void) | undefined;
    try {
      rejectUnsupportedMethod(wire);
      if (deps.isStopping()) throw unavailable("the server is stopping");
      request.address = peer.address;
      const other = deps.otherPaths?.owns(request.path) ? deps.otherPaths : undefined;
      // Browsers may send a client certificate that is for something else.
      if (!other) {
        // Most are known at once, and then nothing is awaited.
        const user = this.#identify(peer, deps);
        request.user = (isPromise(user) ? await user : user) ?? ANONYMOUS;
      }
      const isAnonymous = request.user === ANONYMOUS;
      const openBytes = other ? other.bodyLimit(request) : deps.openBodyBytes?.(request.path);
      // An unauthenticated client may not write anything, so its body is not buffered: the core rejects the request
      // without it.
      if (wire.hasBody && (!isAnonymous || openBytes !== undefined)) {
        this.#deadlineMs = deps.clock.now() + TRANSFER_TIMEOUT_MS;
        const body = await readBody(wire, {
          budget: deps.bodies,
          chunks: new BodyChunks(chunksOf(peer), () => deps.clock.now()),
          // Clients without a name differ in their addresses.
          client: () =>
            clientKeyOf(
              splitCluster(request.path).cluster,
              isAnonymous ? `${request.user.name}@${peer.address}` : request.user.name,
            ),
          maxBytes: isDryRun(request.path) ? MAX_DRY_RUN_BYTES : openBytes,
        });
        request.body = body.bytes;
        release = body.release;
        read = true;
      }
      this.#handling = true;
      this.#deadlineMs = isProxied(request.path) ? Number.POSITIVE_INFINITY : deps.clock.now() + longest(wire.method);
      response = await (other ?? deps).handle(request);
    } catch (error) {
      if (wire.closed) return;
      response = httpFailureResponse(error, deps.log);
    } finally {
      release?.();
    }
    this.#handling = false;
    if (wire.closed || this.#expired) return;
    request.answered = true;
    if (!read || deps.isStopping()) wire.discardInput();
    this.#deadlineMs = deps.clock.now() + TRANSFER_TIMEOUT_MS;
    const sending = sendResponse(wire, response, (stop) => {
      this.#stopStream = stop;
      if (!response.isFinite) this.#deadlineMs = Number.POSITIVE_INFINITY;
      // The client may have disconnected while the stream was being opened.
      if (wire.closed) this.abort();
    });
    if (sending) await sending;
  }

  #identify(peer: Peer, deps: ExchangeDependencies): Identified {
    const request = this.#request;
    const atHome = (error: unknown): Promise<UserInfo | undefined> => this.#identifyAtHome(error, peer, deps);
    try {
      const user = identify(request, splitCluster(request.path), peer, deps);
      return isPromise(user) ? user.catch(atHome) : user;
    } catch (error) {
      return atHome(error);
    }
  }

  async #identifyAtHome(problem: unknown, peer: Peer, deps: ExchangeDependencies): Promise<UserInfo | undefined> {
    try {
      return await identifyAtHome(this.#request, problem, peer, deps);
    } catch (error) {
      if (deps.onRejected && error instanceof ApiError && error.status.code === 401)
        deps.onRejected(this.#request, error);
      throw error;
    }
  }

  checkDeadline(nowMs: number): void {
    // A finished stream is like any other response: the client must read its end in time.
    if (this.#stopStream && this.#deadlineMs === Number.POSITIVE_INFINITY && this.#wire.output.writableEnded)
      this.#deadlineMs = nowMs + TRANSFER_TIMEOUT_MS;
    if (nowMs <= this.#deadlineMs || this.#wire.closed) return;
    if (!this.#handling) return this.#wire.destroy();
    this.#expired = true;
    this.#deadlineMs = nowMs + TRANSFER_TIMEOUT_MS;
    this.#request.abort();
    // A complete response, so it is in flight when this returns.
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
    // A stream continues after its response headers; any other request ends with its response.
    if (stop || !this.#request.answered) this.#request.abort();
  }
}

/** Most requests never use their signal and many have no query, so both are created lazily. */
class IncomingRequest implements ApiRequest {
  readonly method: string;
  path: string;
  readonly headers: Headers;
  readonly rawHeaders: readonly string[];
  readonly canUpgrade: boolean;
  body: Uint8Array = NOTHING;
  user: UserInfo = ANONYMOUS;
  address: string | undefined;
  audit: AuditRecord | undefined;
  /** The request has been answered, so its signal needs no abort. */
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
      if (this.#aborted) this.#controller.abort(CLIENT_DISCONNECTED);
    }
    return this.#controller.signal;
  }

  abort(): void {
    this.#aborted = true;
    this.#controller?.abort(CLIENT_DISCONNECTED);
  }
}

type Identified = ReturnType<Authenticator["authenticate"]>;

/**
 * Identifies the user of a request whose credentials were rejected. One at the root whose credentials are not valid on
 * the hub, but belong to one logical cluster, is for that cluster: many clients accept only a host and a port
 * (docs/adr/0041). Its path is completed.
 */
async function identifyAtHome(
  request: IncomingRequest,
  problem: unknown,
  peer: Peer,
  deps: ExchangeDependencies,
): Promise<UserInfo | undefined> {
  const isOfRoot = !request.path.startsWith("/clusters/") && problem instanceof ApiError && problem.status.code === 401;
  const home = isOfRoot ? await deps.authenticator.homeOf?.(credentialsOf(request.headers, peer, deps)) : undefined;
  if (home === undefined || home === HUB) throw problem;
  const path = `/clusters/${encodeURIComponent(home)}${request.path}`;
  const user = await identify(request, splitCluster(path), peer, deps);
  request.path = path;
  return user;
}

function credentialsOf(headers: Headers, peer: Peer, { clock }: ExchangeDependencies) {
  const bearerToken = bearerOf(headers["authorization"]);
  return {
    certificate: peer.subject && clock.now() < peer.validToMs ? peer.subject : undefined,
    bearerToken,
    bearerDigest: bearerToken !== undefined ? digestFrom(peer, bearerToken) : undefined,
  };
}

function identify(
  { headers, rawHeaders }: IncomingRequest,
  { cluster, path }: ReturnType<typeof splitCluster>,
  peer: Peer,
  deps: ExchangeDependencies,
): Identified {
  // A proxy speaks for its user, whatever other credentials it passes on.
  const proxied =
    peer.proxy !== undefined && deps.clock.now() < peer.validToMs
      ? deps.proxies()?.userOf(peer.proxy, rawHeaders)
      : undefined;
  if (proxied) return proxied;
  const credentials = credentialsOf(headers, peer, deps);
  const { certificate, bearerToken } = credentials;
  // An invalid certificate is rejected, unless a token identifies the user.
  if (!certificate && bearerToken === undefined && (peer.untrusted || peer.subject || peer.proxy !== undefined))
    throw unauthorized(peer.problem ?? (peer.subject && expiredText(peer.validToMs)));
  return deps.authenticator.authenticate({ ...credentials, cluster, path, address: peer.address });
}

function bearerOf(authorization: string | undefined): string | undefined {
  if (authorization === undefined) return undefined;
  const space = authorization.indexOf(" ");
  const scheme = space < 0 ? authorization : authorization.slice(0, space);
  // Basic credentials would otherwise count as no credentials.
  if (scheme.toLowerCase() !== "bearer") throw unauthorized();
  const token = space < 0 ? "" : authorization.slice(space + 1).trim();
  return token === "" ? undefined : token;
}

/** A proxied request has no timeout. Few paths contain the word at all, so few are parsed twice. */
function isProxied(path: string): boolean {
  if (!path.includes("/proxy")) return false;
  const route = routeOf(splitCluster(path).path);
  return route.type === "resource" && route.subresource === "proxy";
}

/** Several requests in one body, each of which has the usual limit. */
const isDryRun = (path: string): boolean =>
  path.endsWith("/dry-run") && routeOf(splitCluster(path).path).type === "dry-run";

function rejectUnsupportedMethod({ method }: Wire): void {
  if (method === "CONNECT") throw notImplemented("CONNECT requests");
}

function pathOf(url: string): string {
  return url.split("?", 1)[0] ?? "";
}
