/**
 * The transport for controllers in the same process: the same operations without serialization. It returns the object
 * that all readers share. The objects that it receives are shared from then on, too: their parts become parts of the stored
 * object, so that a pod template is one object from the hub to every member.
 */
import { deepFreeze, isObject } from "@flotilla/base";
import type { Json, JsonObject } from "@flotilla/base";
import { createHttp2Transport, impersonationHeaders, queryText, INITIAL_EVENTS_END } from "@flotilla/client";
import type {
  RawRequest,
  RawResponse,
  ResourcePath,
  Transport,
  TransportRequest,
  TransportWatchEvent,
} from "@flotilla/client";
import { ApiError, badRequest, shareParts, HUB, withoutUndefined } from "@flotilla/apimachinery";
import type { Status } from "@flotilla/apimachinery";
import { nameSelected } from "../access/attributes.ts";
import type { RequestContext } from "../request/context.ts";
import { listQuery } from "../request/options.ts";
import { after, isPromise } from "../admission/run-steps.ts";
import { authorize, findCluster, findTarget, operate, roomToWrite, timeoutOf } from "./operations.ts";
import { auditedInput, objectOf } from "./audited-request.ts";
import type { Auditor, RunningAudit } from "../audit/auditor.ts";
import type { AuditRecord } from "../request/audit-record.ts";
import type { OperationDependencies, Verb } from "./operations.ts";
import type { RequestTurns } from "./request-turns.ts";
import type { Answer, Input } from "../actions/action.ts";
import { conversionMemo } from "../codec/conversion.ts";
import { needsConversion, objectAt, objectIn } from "../codec/render.ts";
import { createHandlerConnection, joinHeaders } from "./handler-connection.ts";
import type { Handle } from "./handler-connection.ts";
import { bodyOf } from "../request/byte-streams.ts";
import type { ApiRequest } from "../request/request.ts";
import type { UserInfo } from "../request/user-info.ts";
import { keyOf } from "../resources/resources.ts";
import { Feed } from "../watch/feed.ts";
import type { ListTurns } from "../watch/list-turns.ts";
import { startWatch } from "../watch/watch.ts";
import type { Notice } from "../watch/watch.ts";

export interface DirectTransportOptions {
  deps: OperationDependencies;
  user: UserInfo;
  /** Handles requests that are not operations on a resource of this server: discovery, proxies, aggregated kinds. */
  handle: Handle;
  /** For tests: freezes shared objects, sent and received, so that code that modifies one fails. */
  freeze: boolean;
  /** Called by each watch with the change of its number of undelivered events. */
  track: (change: number) => void;
  /** Shared by all transports of a server. */
  lists: ListTurns;
  /** Large requests of clients wait for the operations of controllers. */
  turns: Pick<RequestTurns, "countSmall">;
  /** The audit log; unset audits nothing. */
  auditor?: Auditor | undefined;
}

export function createDirectTransport({
  deps,
  user,
  handle,
  freeze,
  track,
  lists,
  turns,
  auditor,
}: DirectTransportOptions): Transport {
  const byController = deps.isController(user);
  /** Requests to versions that other servers answer for take the path of HTTP clients, which proxies them. */
  const remote = createHttp2Transport({
    server: new URL("http://in-process"),
    cluster: { root: HUB },
    userAgent: IN_PROCESS,
    clock: deps.clock,
    random: deps.random,
    connection: createHandlerConnection(handle, user),
  });
  const isRemote = ({ cluster, group, version }: ResourcePath): boolean =>
    deps.aggregation.find(cluster, group, version) !== undefined;
  const carryOut = async (context: RequestContext, verb: TransportRequest["verb"], input: Input): Promise<Answer> => {
    const timeoutMs = timeoutOf(context, verb);
    const room = roomToWrite(deps, context, verb);
    if (room) await room;
    return operate(deps, context, { verb, input, timeoutMs, onEnd: turns.countSmall() });
  };
  const shared = <T>(value: T): T => (freeze ? (deepFreeze(value) as T) : value);
  const contextOf = (
    path: ResourcePath,
    verb: Verb,
    query: Readonly<Record<string, string>> | undefined,
    signal: AbortSignal,
    audit?: AuditRecord,
  ): RequestContext | Promise<RequestContext> => {
    const { group, resource, namespace, name, subresource } = path;
    const asked = name ?? (verb === "list" || verb === "watch" ? nameSelected(query?.["fieldSelector"]) : undefined);
    const asking = authorize(
      deps,
      {
        user,
        verb,
        cluster: path.cluster,
        resource: { group, resource, subresource: subresource || undefined, namespace, name: asked },
      },
      audit,
    );
    return after(asking, () => {
      const { cluster, served } = findTarget(deps, path.cluster, path, verb, byController);
      return {
        cluster,
        served,
        namespace,
        name,
        subresource,
        query: query ? parametersOf(query) : NO_QUERY,
        user,
        userAgent: "",
        byController,
        audit,
        conversions: conversionMemo(served),
        warn: () => {},
        signal,
      };
    });
  };

  return {
    async send(request: TransportRequest, signal = NEVER): Promise<JsonObject> {
      const { path, verb, query } = request;
      shared(request.body);
      if (isRemote(path)) return shared(await remote.send(request, signal));
      if (deps.cache.isShared && !(isRead(verb) && query?.["resourceVersion"])) await deps.cache.fresh(signal);
      const audit = beginAudit({ auditor, user }, path, verb, query);
      if (!audit) {
        const found = contextOf(path, verb, query, signal);
        const context = isPromise(found) ? await found : found;
        return shared(objectOf(await carryOut(context, verb, inputOf(deps, context, request))));
      }
      try {
        const context = await contextOf(path, verb, query, signal, audit);
        const answer = await carryOut(context, verb, auditedInput(inputOf(deps, context, request), audit));
        const object = objectOf(answer);
        audit.answered(() => object);
        audit.completed("code" in answer ? answer.code : 200);
        return shared(object);
      } catch (error) {
        audit.completed(...failureOf(error));
        throw error;
      }
    },

    async *watch({ path, query, where }, signal): AsyncGenerator<TransportWatchEvent[]> {
      if (isRemote(path)) {
        yield* remote.watch({ path, query, where }, signal);
        return;
      }
      const audit = beginAudit({ auditor, user }, path, "watch", query);
      try {
        if (path.cluster !== "*") await contextOf(path, "watch", query, signal, audit);
        else await authorize(deps, { user, verb: "watch", cluster: "*", resource: path }, audit);
      } catch (error) {
        audit?.completed(...failureOf(error));
        throw error;
      }
      audit?.started(200);
      const { group, version, resource, namespace } = path;
      const { labelSelector, fieldSelector, resourceVersion, sendInitialEvents, allowBookmarks } = listQuery(
        new URLSearchParams(query),
        true,
      );
      const all = path.cluster === "*";
      const feed = new Feed({ track, turns: lists, eventOf: (notice) => shared(eventOf(notice, all)) });
      const stop = startWatch(
        deps,
        {
          cluster: all ? "*" : findCluster(deps, path.cluster),
          where,
          byController,
          group,
          version,
          resource,
          namespace,
          labelSelector,
          fieldSelector,
          resourceVersion,
          sendInitialEvents,
        },
        {
          initial: (notices, revision) =>
            feed.list(
              notices,
              revision,
              sendInitialEvents || allowBookmarks ? (upTo) => initialEnd(path, upTo) : undefined,
            ),
          notify: (notices) => feed.notify(notices),
          end: (error) => feed.end(error),
        },
        signal,
      );
      const onAbort = (): void => feed.end();
      signal.addEventListener("abort", onAbort, { once: true });
      if (signal.aborted) onAbort();
      try {
        for (let batch = await feed.take(); batch; batch = await feed.take()) yield batch;
      } finally {
        stop();
        feed.close();
        audit?.completed(200);
        signal.removeEventListener("abort", onAbort);
      }
    },

    async raw(request: RawRequest, signal = NEVER): Promise<RawResponse> {
      const url = new URL(request.path, "http://direct");
      const response = await handle({
        method: request.method,
        path: `/clusters/${request.cluster}${url.pathname}`,
        query: url.searchParams,
        ...headersOf(request),
        body: request.body ?? new Uint8Array(),
        user,
        signal,
      });
      return {
        status: response.status,
        headers: joinHeaders(response.headers),
        body: bodyOf(response.body, signal),
      };
    },

    async close() {
      // Watches end with their own signals; there are no other resources to release.
    },
  };
}

function beginAudit(
  { auditor, user }: Pick<DirectTransportOptions, "auditor" | "user">,
  path: ResourcePath,
  verb: Verb,
  query: Readonly<Record<string, string>> | undefined,
): RunningAudit | undefined {
  if (!auditor) return undefined;
  const { cluster, group, version, resource, namespace, name, subresource } = path;
  return auditor.begin({
    id: auditor.newId(),
    cluster,
    verb,
    user,
    uri: uriOf(path) + queryText(query),
    path: "",
    version,
    resource: { group, resource, subresource: subresource || undefined, namespace, name },
    sourceIps: [],
    userAgent: IN_PROCESS,
  });
}

/** The headers of a raw request; those for impersonation may repeat, so they are also passed line by line. */
function headersOf({ headers = {}, impersonate }: RawRequest): Pick<ApiRequest, "headers" | "rawHeaders"> {
  if (!impersonate) return { headers };
  const lines = Object.entries({ ...headers, ...impersonationHeaders(impersonate) }).flatMap(([name, value]) =>
    (Array.isArray(value) ? value : [value]).map((each) => [name, each] as const),
  );
  return { headers: Object.fromEntries(lines), rawHeaders: lines.flat() };
}

/** The user agent of requests in this process, in the audit log. */
const IN_PROCESS = "flotilla (in process)";

/** The path that an HTTP client would send. Names are not checked here: that is part of the request. */
function uriOf({ cluster, group, version, resource, namespace, name, subresource }: ResourcePath): string {
  const parts = [
    ...(cluster === HUB ? [] : ["clusters", cluster]),
    ...(group === "" ? ["api"] : ["apis", group]),
    version,
    ...(namespace === undefined ? [] : ["namespaces", namespace]),
    resource,
    ...(name === undefined ? [] : [name]),
    ...(subresource ? [subresource] : []),
  ];
  return `/${parts.map(encodeURIComponent).join("/")}`;
}

const isRead = (verb: Verb): boolean => verb === "get" || verb === "list";

function failureOf(error: unknown): [code: number, status?: Status] {
  return error instanceof ApiError ? [error.status.code ?? 500, error.status] : [500];
}

const NO_QUERY = new URLSearchParams();
const NEVER = new AbortController().signal;

/**
 * A client sends the same query with all of its writes; building the parameters each time took as long as finding the
 * object.
 */
const parameters = new WeakMap<Readonly<Record<string, string>>, URLSearchParams>();

function parametersOf(query: Readonly<Record<string, string>>): URLSearchParams {
  let known = parameters.get(query);
  if (!known) parameters.set(query, (known = new URLSearchParams(query)));
  return known;
}

function inputOf(
  deps: OperationDependencies,
  context: RequestContext,
  { verb, body, patchType }: TransportRequest,
): Input {
  return {
    object() {
      if (!isObject(body)) throw badRequest("the request body must be an object");
      const stored = verb === "update" ? storedObject(deps, context) : undefined;
      return { object: shareParts(body, stored) as JsonObject, duplicates: [], sharesWith: stored };
    },
    value: () => (body === undefined ? undefined : withoutUndefined(body as Json)),
    patch: () => ({ value: withoutUndefined(body as Json), duplicates: [] }),
    patchType: () => patchType ?? "merge",
  };
}

/** The object that an update is about to replace, if it exists. */
function storedObject(
  { store }: OperationDependencies,
  { cluster, served, namespace, name = "" }: RequestContext,
): JsonObject | undefined {
  const { entry } = store.find(cluster, served.resource, keyOf(served.resource, cluster.name, namespace, name));
  return entry && !needsConversion(entry, served) ? objectIn(entry, served) : undefined;
}

function eventOf({ type, cluster, served, entry, revision }: Notice, all: boolean): TransportWatchEvent {
  return { type, cluster: all ? cluster.name : undefined, object: objectAt(entry, served, revision) };
}

function initialEnd({ group, version }: ResourcePath, revision: number): TransportWatchEvent {
  return {
    type: "BOOKMARK",
    object: {
      apiVersion: group ? `${group}/${version}` : version,
      metadata: { resourceVersion: String(revision), annotations: { [INITIAL_EVENTS_END]: "true" } },
    },
  };
}
