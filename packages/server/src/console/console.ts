/**
 * The server of the web UI: the page, sessions, one stream, and requests to the hub on behalf of the signed-in user.
 *
 * It is a client of the hub like any other. It is served on loopback by `flotilla up` and `flotilla ui`, and below `/ui`
 * on the port of a hub; the transport is the caller's. Nothing here has rights of its own.
 *
 * What serves a signed-in user is loaded when the first one asks: `flotilla up` starts it, and most fleets have no viewer.
 */
import { createHash } from "node:crypto";
import { ApiError } from "@flotilla/apimachinery";
import { createSemaphore, FlotillaError, invariant, isObject, UsageError } from "@flotilla/base";
import type { Clock, Json, Log, Random } from "@flotilla/base";
import type { ApiRequest, ApiResponse } from "@flotilla/apiserver";
import type { HubConnection } from "@flotilla/cli";
import { acceptKey } from "@flotilla/client";
import { createAssets } from "./assets.ts";
import type { ConsoleApi } from "./console-api.ts";
import { COMMON_HEADERS, DATA_POLICY, isOfConsole, PREFIX } from "./page-headers.ts";
import { pageResponse } from "./page-response.ts";
import { cookieName, isNavigation, isOurHost, isSameOrigin, readCookie, setCookie } from "./request-checks.ts";
import { createOpenStreams } from "./open-streams.ts";
import { createSessions, MAX_SESSIONS } from "./sessions.ts";
import type { Session } from "./sessions.ts";
import { createViewerPool } from "./viewer-pool.ts";

export type ConsoleRequest = Pick<
  ApiRequest,
  "method" | "path" | "query" | "headers" | "body" | "canUpgrade" | "address" | "signal"
>;

export interface Console {
  /** Whether a path belongs to the console. */
  owns(path: string): boolean;
  handle(request: ConsoleRequest): Promise<ApiResponse>;
  /** How many bytes of the body of a request may be read: who is not signed in sends a code at most. */
  bodyLimit(request: Omit<ConsoleRequest, "body">): number;
  /** A code that signs in once, as the user of the connection; throws if there is none. */
  issueCode(): string;
  close(): Promise<void>;
}

interface ConsoleOptions {
  /**
   * `connection`: everyone who has a code signs in as the user of this connection. `connect`: everyone signs in with a
   * token of the hub.
   */
  signIn: { connection: HubConnection } | { connect(token: string, from: string): Promise<HubConnection> };
  scheme: "http" | "https";
  /** Host names besides loopback. */
  hosts: Pick<ReadonlySet<string>, "has">;
  /** The data directory of the hub, if it is on this machine and its users may know about it. */
  data: string | undefined;
  clock: Clock;
  random: Random;
  log: Log;
}

const HOUR_MS = 3_600_000;
const MAX_SIGNING_IN = { together: 16, ofAddress: 4, waiting: 64 };
const MAX_SESSIONS_OF_USER = 50;
const MAX_BODY_BYTES = 4 * 1024 * 1024;
/** A code, or a token of the hub. */
const MAX_SIGN_IN_BYTES = 16 * 1024;

/** An answer to the page: a status and a sentence. */
class Refusal extends FlotillaError {
  readonly status: number;
  constructor(status: number, message: string, options?: ErrorOptions) {
    super("Refused", message, options);
    this.status = status;
  }
}

export function createConsole(options: ConsoleOptions): Console {
  const { signIn, scheme, hosts, data, clock, random, log } = options;
  const isShared = "connection" in signIn;
  const sessions = createSessions({
    clock,
    random,
    idleMs: isShared ? 12 * HOUR_MS : HOUR_MS,
    maxOfUser: isShared ? MAX_SESSIONS : MAX_SESSIONS_OF_USER,
    onLeft: (viewer) => viewers.left(viewer),
  });
  const viewers = createViewerPool({
    data,
    isShared,
    hasSession: (viewer) => sessions.has(viewer),
    onRejected: (viewer) => sessions.endAll(viewer, "the hub no longer accepts the credentials; sign in again"),
    clock,
    log,
  });
  const assets = createAssets();
  let api: ConsoleApi | undefined;
  /** An attempt with a token of the hub opens a connection to it. */
  const attempts = createSemaphore(MAX_SIGNING_IN.together, {
    perOwner: MAX_SIGNING_IN.ofAddress,
    maxWaiting: MAX_SIGNING_IN.waiting,
    overflow: () => new Refusal(429, "many users are signing in at this moment; try again"),
  });
  const streams = createOpenStreams(isShared, log);

  async function handle(request: ConsoleRequest): Promise<ApiResponse> {
    try {
      if (!isOurHost(request, hosts))
        throw new Refusal(403, "this host name is not one of the console; open it by the address that was printed");
      return await route(request);
    } catch (error) {
      const refusal = refusalOf(error);
      if (refusal) return refusal;
      // The page was closed, or asks for something else: its client reads no answer.
      if (request.signal.aborted) return json(408, { message: "the client has gone" });
      log.error("a request of the web UI failed", { path: request.path, error });
      return json(500, { message: "this failed in the server of the web UI; its log has the reason" });
    }
  }

  async function route(request: ConsoleRequest): Promise<ApiResponse> {
    const path = request.path.slice(PREFIX.length);
    if (path === "") return redirect("ui/");
    if (path === "/session") return session(request);
    if (path === "/stream" || path === "/exec") return upgrade(request, path);
    if (path.startsWith("/api/")) return callApi(request, path.slice("/api/".length));
    if (request.method !== "GET" && request.method !== "HEAD") throw new Refusal(405, "only GET is allowed here");
    return page(request, path === "/" ? "index.html" : path.slice(1));
  }

  async function page({ headers }: ConsoleRequest, path: string): Promise<ApiResponse> {
    const asset = await assets.find(path);
    if (!asset) throw new Refusal(404, "there is no such page");
    return pageResponse(asset, headers["accept-encoding"] ?? "");
  }

  async function session(request: ConsoleRequest): Promise<ApiResponse> {
    const cookie = cookieName(request, scheme);
    if (request.method === "POST") {
      requireOwnPage(request);
      const given = bodyOf(request);
      const opened = await signedIn(given, request);
      return json(201, describe(opened), { "set-cookie": setCookie(cookie, opened.id) });
    }
    const current = find(request);
    if (request.method === "GET")
      return current ? json(200, describe(current)) : json(401, { signIn: isShared ? "code" : "token" });
    if (request.method !== "DELETE") throw new Refusal(405, "use GET, POST or DELETE");
    requireProof(request, current);
    if (current) sessions.end(current.id, "you signed out");
    return json(200, {}, { "set-cookie": setCookie(cookie, "") });
  }

  async function signedIn(given: Json, { address = "", signal }: ConsoleRequest): Promise<Session> {
    if (isShared) {
      const code = isObject(given) && typeof given["code"] === "string" ? given["code"] : "";
      if (!sessions.redeemCode(code))
        throw new Refusal(401, "this link was used already, or is older than a minute; 'flotilla ui' prints a new one");
      const connect = async (): Promise<HubConnection> => signIn.connection;
      return viewers.signIn({ key: "connection", connect }, signal, sessions.open);
    }
    const token = isObject(given) && typeof given["token"] === "string" ? given["token"].trim() : "";
    if (token === "") throw new Refusal(401, "give a token: 'kubectl create token NAME -n NAMESPACE' prints one");
    const release = await attempts.acquire(1, address, signal);
    try {
      const key = createHash("sha256").update(token).digest("hex");
      return await viewers.signIn({ key, connect: () => signIn.connect(token, address) }, signal, sessions.open);
    } finally {
      release();
    }
  }

  const describe = ({ csrf, viewer }: Session): Json => ({
    csrf,
    user: viewer.user,
    groups: [...viewer.groups],
    server: viewer.hub.server,
    signIn: isShared ? "code" : "token",
  });

  /** The session of a request whose cookie counts. */
  function find(request: Omit<ConsoleRequest, "body">): Session | undefined {
    // A page of another origin must not learn anything, and a navigation shows nothing of a session.
    if (!isSameOrigin(request, scheme) || isNavigation(request)) return undefined;
    const id = readCookie(request, cookieName(request, scheme).name);
    return id === undefined ? undefined : sessions.find(id);
  }
  function requireOwnPage(request: ConsoleRequest): void {
    if (!isSameOrigin(request, scheme)) throw new Refusal(403, "only the page of the console may ask this");
  }
  function requireProof(request: ConsoleRequest, current: Session | undefined): void {
    requireOwnPage(request);
    if (!current) throw new Refusal(401, "sign in first");
    if (request.method !== "GET" && request.headers["x-flotilla-csrf"] !== current.csrf)
      throw new Refusal(403, "the header x-flotilla-csrf is missing or wrong; reload the page");
  }

  async function callApi(request: ConsoleRequest, path: string): Promise<ApiResponse> {
    const current = find(request);
    requireProof(request, current);
    if (!current) throw new Refusal(401, "sign in first");
    const signal = AbortSignal.any([request.signal, current.ended]);
    try {
      api ??= (await import("./console-api.ts")).createConsoleApi({ clock });
      signal.throwIfAborted();
      return await api.handle(current.viewer, { ...pick(request), path }, signal);
    } catch (error) {
      if (current.ended.aborted) throw new Refusal(401, String(current.ended.reason), { cause: error });
      throw error;
    }
  }

  async function upgrade(request: ConsoleRequest, path: "/stream" | "/exec"): Promise<ApiResponse> {
    // Browsers send the cookie with the handshake of any page, and a page may read what a socket receives.
    if (request.headers["origin"] === undefined || !isSameOrigin(request, scheme))
      throw new Refusal(403, "only the page of the console may open this");
    const current = find(request);
    if (!current) throw new Refusal(401, "sign in first");
    const key = request.headers["sec-websocket-key"] ?? "";
    if (!request.canUpgrade || !/^[A-Za-z0-9+/]{22}==$/.test(key)) throw new Refusal(426, "this is a WebSocket");
    if (!streams.hasRoomFor(current)) throw new Refusal(429, "there are too many open pages; close some and try again");
    const { query } = request;
    return {
      status: 101,
      headers: { upgrade: "websocket", connection: "Upgrade", "sec-websocket-accept": acceptKey(key) },
      body: new Uint8Array(),
      upgrade: (socket, head) =>
        streams.open(current, socket, (closed) =>
          path === "/stream"
            ? import("./stream.ts").then(({ openStream }) =>
                openStream(socket, head, { session: current, clock, log, closed }),
              )
            : import("./exec.ts").then(({ openExec }) =>
                openExec(socket, head, { viewer: current.viewer, query, ended: current.ended, clock, closed }),
              ),
        ),
    };
  }

  return {
    owns: isOfConsole,
    handle,
    bodyLimit: (request) => (isOurHost(request, hosts) && find(request) ? MAX_BODY_BYTES : MAX_SIGN_IN_BYTES),
    issueCode() {
      invariant(isShared, "codes sign in as the user of a connection");
      return sessions.issueCode();
    },
    async close() {
      streams.close();
      sessions.close();
      await viewers.close();
    },
  };
}

const pick = ({
  method,
  query,
  headers,
  body,
}: ConsoleRequest): Pick<ConsoleRequest, "method" | "query" | "headers" | "body"> => ({
  method,
  query,
  headers,
  body,
});

function bodyOf({ body }: ConsoleRequest): Json {
  try {
    return JSON.parse(Buffer.from(body).toString("utf8")) as Json;
  } catch (cause) {
    throw new Refusal(400, "the body is not JSON", { cause });
  }
}

function redirect(location: string): ApiResponse {
  return { status: 308, headers: { ...COMMON_HEADERS, location }, body: new Uint8Array() };
}

function respond(status: number, text: string, headers: Record<string, string>): ApiResponse {
  return { status, headers: { ...COMMON_HEADERS, ...headers }, body: Buffer.from(text) };
}

function json(status: number, value: Json, headers: Record<string, string> = {}): ApiResponse {
  return respond(status, JSON.stringify(value), {
    "content-type": "application/json",
    "cache-control": "no-store",
    "content-security-policy": DATA_POLICY,
    ...headers,
  });
}

/** Errors become a sentence that the page shows. Undefined for one that is not expected, whose text is not for clients. */
function refusalOf(error: unknown): ApiResponse | undefined {
  if (error instanceof Refusal) return json(error.status, { message: error.message });
  if (error instanceof ApiError) return json(error.status.code ?? 500, { message: error.message });
  if (error instanceof UsageError) return json(400, { message: error.message });
  if (error instanceof FlotillaError)
    return json(error.code === "Unauthorized" ? 401 : error.code === "NotFound" ? 404 : 502, {
      message: error.message,
    });
  return undefined;
}
