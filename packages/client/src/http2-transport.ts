/**
 * The transport to a remote API server: Flotilla's hub with all its logical clusters, or one real cluster.
 *
 * Every request has a deadline. A watch has one until it is answered, and then runs for some minutes: the server is
 * asked to end it, and the client aborts a silent one. A watch with a slow reader is not read ahead: HTTP/2 flow
 * control makes the server wait. 429 and 503 are retried after the server's Retry-After, within limits; 401 is retried
 * when there are new credentials.
 */
import { systemClock, systemRandom } from "@flotilla/base";
import type { Clock, Random } from "@flotilla/base";
import { ApiError, badRequest } from "@flotilla/apimachinery";
import { chunksOf, MAX_STATUS_BYTES, readBody, readFailure } from "./response-body.ts";
import type { CredentialSource } from "./credentials.ts";
import { UnreachableError } from "./errors.ts";
import { explainFailure } from "./explain-failure.ts";
import { createHttpConnection } from "./http-connection.ts";
import type { HttpConnection } from "./http-connection.ts";
import type { ConnectionTimeouts } from "./http2-session.ts";
import type { HttpRequest, HttpResponse } from "./http-requests.ts";
import type { TlsOptions } from "./http-sockets.ts";
import { impersonationHeaders } from "./impersonation.ts";
import type { Impersonation } from "./impersonation.ts";
import { parseResponse } from "./parse-response.ts";
import { withDeadline } from "./request-deadline.ts";
import type { Deadline } from "./request-deadline.ts";
import { METHODS, PATCH_MEDIA_TYPES, queryText, resourcePath, segment } from "./request-path.ts";
import { createBufferMeter, TRUSTED_LIMITS } from "./response-limits.ts";
import type { BufferMeter, ResponseLimits } from "./response-limits.ts";
import { createRetryingConnection } from "./retrying-connection.ts";
import type {
  RawRequest,
  RawResponse,
  ResourcePath,
  Transport,
  TransportRequest,
  TransportWatchEvent,
} from "./transport.ts";
import { createWatchDecoder } from "./watch-decoder.ts";
import { createWatchPace } from "./watch-pace.ts";
import type { WatchPace } from "./watch-pace.ts";

/**
 * The clusters that the server serves: exactly one, for a real cluster, or many logical ones, of which `root` is at the
 * server's root and every other under `/clusters/<name>`.
 */
type ClusterMapping = { only: string } | { root: string };

export interface Http2TransportOptions extends TlsOptions {
  /** May have a path, which is prepended to every request's path. */
  server: URL;
  /** More addresses of the same server, with the same path; each is tried when another one cannot be reached. */
  others?: readonly URL[] | undefined;
  cluster: ClusterMapping;
  /** A bearer token, or a function that returns the current one. */
  token?: string | (() => Promise<string>);
  /** Token and certificate that change at run time; replaces `token`, `cert` and `key`. */
  credentials?: CredentialSource;
  /** The user to impersonate. */
  impersonate?: Impersonation;
  /** An HTTP, HTTPS or SOCKS5 proxy for all connections. */
  proxy?: URL;
  /** Additional headers for the proxy's CONNECT request. */
  proxyHeaders?: Readonly<Record<string, string | readonly string[]>>;
  userAgent?: string;
  /** How soon a server that does not answer is noticed; unset is as client-go. */
  timeouts?: ConnectionTimeouts | undefined;
  /** The deadline of one request including its retries. */
  requestTimeoutMs?: number;
  /** How much the server may send; unset trusts it. */
  limits?: ResponseLimits;
  /** Called with the text of every Warning header. */
  onWarning?: (message: string) => void;
  clock?: Clock;
  random?: Random;
  /** Replaces the network, for a server in this process. */
  connection?: HttpConnection;
}

/** API servers time out a request after a minute. */
const REQUEST_TIMEOUT_MS = 60_000;
/**
 * Watches end after this long, or up to twice as long at random, so that many watches do not restart together; as in
 * client-go.
 */
export const WATCH_SECONDS = 300;
/** A server that has not ended a watch after this long is considered dead. */
export const WATCH_GRACE_SECONDS = 30;

export function createHttp2Transport(options: Http2TransportOptions): Transport {
  const {
    server,
    cluster: mapping,
    token,
    credentials,
    onWarning,
    clock = systemClock,
    random = systemRandom,
    requestTimeoutMs = REQUEST_TIMEOUT_MS,
    limits = TRUSTED_LIMITS,
  } = options;
  const meter = createBufferMeter(limits.bufferedBytes);
  const pace = createWatchPace(limits.watchBytesPerSecond, clock);
  const connection =
    options.connection ??
    createHttpConnection({
      servers: [server, ...(options.others ?? [])],
      tls: options,
      clock,
      timeouts: options.timeouts,
      proxy: options.proxy ? { url: options.proxy, headers: options.proxyHeaders } : undefined,
    });
  const retrying = createRetryingConnection({ connection, token, credentials, clock });
  const deadline: Deadline = { timeoutMs: requestTimeoutMs, clock };
  const impersonation = impersonationHeaders(options.impersonate);
  const basePath = server.pathname.replace(/\/+$/, "");
  const authority = server.host;
  const userAgent = options.userAgent ?? "flotilla";

  const prefixOf = (cluster: string): string => {
    if ("root" in mapping) return cluster === mapping.root ? basePath : `${basePath}/clusters/${segment(cluster)}`;
    if (cluster === mapping.only) return basePath;
    throw badRequest(`${authority} is the API server of cluster ${mapping.only}, not of ${cluster}`);
  };

  const headersFor = (extra: Record<string, string>): HttpRequest["headers"] => ({
    host: authority,
    "user-agent": userAgent,
    accept: "application/json",
    ...extra,
    ...impersonation,
  });

  const warn = (response: HttpResponse): void => {
    const header = response.headers["warning"];
    if (!header || !onWarning) return;
    for (const [, text] of header.matchAll(/299 \S+ "((?:[^"\\]|\\.)*)"/g))
      onWarning((text ?? "").replace(/\\(.)/g, "$1"));
  };

  return {
    async send(request, signal) {
      const { verb, path, patchType, body } = request;
      const doing = describe(verb, path, authority);
      const url = prefixOf(path.cluster) + resourcePath(path) + queryText(request.query);
      const headers = headersFor(
        body === undefined ? {} : { "content-type": patchType ? PATCH_MEDIA_TYPES[patchType] : "application/json" },
      );
      const bytes = body === undefined ? undefined : Buffer.from(JSON.stringify(body));

      const identity = await retrying.identityNow(signal);

      return withDeadline(doing, deadline, signal, async (stop) => {
        const response = await retrying.send(
          doing,
          { method: METHODS[verb], path: url, headers, body: bytes },
          identity,
          stop,
        );
        warn(response);
        const isFailure = response.status < 200 || response.status > 299;
        const isList = verb === "list" || verb === "deletecollection";
        const maxBytes = isFailure ? MAX_STATUS_BYTES : isList ? limits.listBytes : limits.objectBytes;
        const read = await readBody(response.body, stop, { maxBytes, meter }).catch((error: unknown) => {
          throw stop.aborted ? stop.reason : explainFailure(doing, error);
        });
        try {
          if (isFailure) throw readFailure(response, read);
          return await parseResponse(doing, read, isList, limits);
        } finally {
          meter.add(-read.length);
        }
      });
    },

    async *watch({ path, query, where }, signal): AsyncGenerator<TransportWatchEvent[]> {
      if (signal.aborted) return;
      const doing = describe("watch", path, authority);
      const seconds = Number(query?.["timeoutSeconds"] ?? Math.floor(WATCH_SECONDS * (1 + random.next())));
      const url =
        prefixOf(path.cluster) +
        resourcePath(path) +
        queryText({ ...query, timeoutSeconds: String(seconds), watch: "true" });
      const headers = headersFor({});
      const answered = retrying.identityNow(signal).then((identity) =>
        withDeadline(doing, deadline, signal, async (stop, stream) => {
          const head = await retrying.send(doing, { method: "GET", path: url, headers }, identity, stop);
          if (head.status !== 200) {
            const read = await readBody(head.body, stop, { maxBytes: MAX_STATUS_BYTES, meter });
            meter.add(-read.length);
            throw readFailure(head, read);
          }
          stream(head);
          return head;
        }),
      );
      const response = await answered.catch((error: unknown) => {
        if (signal.aborted) return undefined;
        throw error;
      });
      if (!response) return;
      warn(response);
      const silence = clock.after((seconds + WATCH_GRACE_SECONDS) * 1000, () =>
        response.body.destroy(
          new UnreachableError("the server sent nothing and did not end the watch in time; watch again"),
        ),
      );
      try {
        for await (const events of readWatch(doing, response, signal, { limits, meter, pace }))
          yield where ? eventsOf(events, where) : events;
      } finally {
        silence.cancel();
      }
    },

    async raw(request: RawRequest, signal): Promise<RawResponse> {
      const doing = `${request.method} ${request.path.split("?", 1)[0]} at ${authority}`;
      if (!request.path.startsWith("/"))
        throw badRequest(`a raw request needs a path that starts with a slash, not ${JSON.stringify(request.path)}`);
      const headers = {
        ...headersFor({ ...request.headers }),
        ...impersonationHeaders(request.impersonate),
      };
      const url = prefixOf(request.cluster) + request.path;
      const identity = await retrying.identityNow(signal);

      return withDeadline(doing, deadline, signal, async (stop, stream) => {
        const response = await retrying.send(
          doing,
          { method: request.method, path: url, headers, body: request.body },
          identity,
          stop,
        );
        stream(response);
        return { status: response.status, headers: response.headers, body: chunksOf(response.body) };
      });
    },

    close: () => connection.close(),
  };
}

/** The server sends events of every cluster; a filter that is a function cannot be sent to it. */
function eventsOf(events: TransportWatchEvent[], where: (cluster: string) => boolean): TransportWatchEvent[] {
  return events.filter(({ cluster }) => cluster === undefined || where(cluster));
}

async function* readWatch(
  doing: string,
  response: HttpResponse,
  signal: AbortSignal,
  bounds: { limits: ResponseLimits; meter: BufferMeter; pace: WatchPace },
): AsyncGenerator<TransportWatchEvent[]> {
  const decoder = createWatchDecoder(bounds);
  try {
    for await (const chunk of chunksOf(response.body)) {
      const { events, failure } = decoder.push(chunk);
      if (events.length > 0) yield events;
      if (failure) throw failure;
      const wait = bounds.pace.read(chunk.length, events.length, signal);
      if (wait) await wait;
    }
  } catch (error) {
    if (signal.aborted) return;
    throw error instanceof ApiError ? error : explainFailure(doing, error);
  } finally {
    decoder.close();
  }
  if (decoder.incomplete && !signal.aborted)
    throw new UnreachableError(`${doing}: the stream ended inside an event; watch again`);
}

/** `get deployments shop/web of cluster paris at 10.0.0.1:6443` */
function describe(verb: TransportRequest["verb"] | "watch", path: ResourcePath, authority: string): string {
  const name = [path.namespace, path.name].filter(Boolean).join("/");
  const what = `${path.resource}${path.subresource ? `/${path.subresource}` : ""}${name ? ` ${name}` : ""}`;
  return `${verb} ${what} of cluster ${path.cluster} at ${authority}`;
}
