/**
 * The entry point of the API server: routes, authorizes and handles each request. Every failure becomes a Status here.
 */
import {
  ApiError,
  badRequest,
  HUB,
  methodNotAllowed,
  notAcceptable,
  pathNotFound,
  tooManyRequests,
  unavailable,
} from "@flotilla/apimachinery";
import { randomUuid } from "@flotilla/base";
import type { Log, MetricsText } from "@flotilla/base";
import type { ProtobufCodec } from "@flotilla/apimachinery";
import { accessOf } from "../access/attributes.ts";
import { clientKeyOf } from "../access/client-key.ts";
import { actingUser } from "../access/impersonation.ts";
import type { LogicalCluster } from "../clusters/logical-cluster.ts";
import type { ConnectBackend, ContainerRuntime } from "../connect/backend.ts";
import { connectResponse } from "../connect/connect.ts";
import { proxiedHeaders } from "../connect/proxied-headers.ts";
import type { RequestContext } from "../request/context.ts";
import { LARGE_BODY_BYTES } from "../codec/body-limits.ts";
import { conversionMemo } from "../codec/conversion.ts";
import { PROTOBUF, tableFor } from "../codec/protobuf.ts";
import { longest } from "../request/deadline.ts";
import { after, isPromise } from "../admission/run-steps.ts";
import { failureResponse } from "./failure-response.ts";
import { beginInTurn } from "./fair-turns.ts";
import type { HealthState } from "./health.ts";
import type { ObservedRequest, ServerMetrics } from "./server-metrics.ts";
import { representationOf } from "../request/negotiate.ts";
import type { Representation } from "../request/negotiate.ts";
import {
  authorize,
  connectHandler,
  findCluster,
  findResource,
  findTarget,
  operate,
  roomToWrite,
  timeoutOf,
} from "./operations.ts";
import { PageNotFound } from "../request/page-not-found.ts";
import type { Replication } from "../replication/replication.ts";
import { TooBusyError } from "../flowcontrol/flow-control.ts";
import type { FlowControl } from "../flowcontrol/flow-control.ts";
import { inTurn } from "./in-turn.ts";
import { METRIC_VERBS, newObservation, observe } from "./observed-request.ts";
import { isConnect, readsTheNewest, verbOf } from "./request-verb.ts";
import type { OperationDependencies } from "./operations.ts";
import type { Answer } from "../actions/action.ts";
import { listQuery, timeoutMsOf } from "../request/options.ts";
import { checkDryRun, dryRunResponse } from "./dry-run.ts";
import { RequestInput } from "./request-input.ts";
import { LONG_LIST_ENTRIES } from "./request-turns.ts";
import type { RequestTurns } from "./request-turns.ts";
import { pageResponse } from "./pages.ts";
import type { WorkloadMetrics } from "./pages.ts";
import { proxied, remoteOfPage } from "./aggregated.ts";
import type { ApiRequest, ApiResponse } from "../request/request.ts";
import type { UserInfo } from "../request/user-info.ts";
import { answerResponse } from "./answer.ts";
import { streamOf } from "../request/byte-streams.ts";
import { routeOf, splitCluster } from "../request/router.ts";
import type { ResourceRoute } from "../request/router.ts";
import { selectionOf } from "../read/selection.ts";
import { includeObjectOf } from "../read/object-table.ts";
import type { VersionInfo } from "../discovery/version.ts";
import { warningHeaders } from "../request/warnings.ts";
import { auditedInput, auditedRequest, finishAudit, objectOf } from "./audited-request.ts";
import type { Auditor } from "../audit/auditor.ts";
import { createWatchStream } from "./watch-stream.ts";

export interface HandlerOptions {
  deps: OperationDependencies;
  log: Log;
  version: VersionInfo;
  /** Unset: protobuf is neither accepted nor returned. */
  protobuf?: ProtobufCodec;
  /** Aborted when the server stops: later requests are rejected so that clients reconnect elsewhere. */
  stopping: AbortSignal;
  health: HealthState;
  metrics: ServerMetrics;
  /** The audit log; unset audits nothing. */
  auditor?: Auditor | undefined;
  /** Writes the metrics of authorization webhooks and of configurations that changed. */
  writeIdentityMetrics?: ((text: MetricsText) => void) | undefined;
  /** Writes the metrics of the controllers in this process. */
  writeControllerMetrics?(text: MetricsText): void;
  /** Metrics of the workloads on members. */
  workloads?: WorkloadMetrics;
  /** Which requests wait when the server is busy; unset: none. */
  flow?: FlowControl;
  /** For standby hubs; unset: there can be none. */
  replication?: Replication | undefined;
  /** The container runtimes of the clusters, if any. */
  connect?: ConnectBackend;
  /** The kubelets of a cluster whose nodes are not simulated. */
  kubeletsOf?(cluster: LogicalCluster): ContainerRuntime;
  /** Shared with the transports of controllers. */
  turns: RequestTurns;
}

export function createHandler(options: HandlerOptions): (request: ApiRequest) => Promise<ApiResponse> {
  const { deps, log, metrics, auditor } = options;
  // Audit ids must be unique, not secret: one random prefix per server and a counter are cheaper than a random id per
  // request.
  const auditPrefix = randomUuid(deps.random).slice(0, 24);
  let requests = 0;
  return async (request) => {
    // Most requests have none.
    let warnings: Set<string> | undefined;
    const isMutating = request.method !== "GET" && request.method !== "HEAD";
    const startMs = performance.now();
    const seen = newObservation(request);
    const auditId = request.headers["audit-id"] || auditPrefix + (++requests).toString(16).padStart(12, "0");
    const audit = auditor?.begin(auditedRequest(request, auditId));
    if (audit) request.audit = audit;
    metrics.begin(isMutating);
    let response: ApiResponse;
    let failure: unknown;
    try {
      const turn = deps.isController(request.user) ? undefined : beginInTurn(options.turns.fair, request);
      if (turn) await turn;
      if (deps.cache.isShared && readsTheNewest(request)) await deps.cache.fresh(request.signal);
      const answering = answer(options, request, seen, (text) => (warnings ??= new Set()).add(text));
      response = isPromise(answering) ? await answering : answering;
    } catch (error) {
      failure = error;
      response = failureResponse(error, request, log);
    }
    if (audit) finishAudit(audit, response, failure instanceof ApiError ? failure.status : undefined);
    metrics.end(isMutating, seen, response.status, (performance.now() - startMs) / 1000);
    const headers = response.headers;
    if (seen.flow) {
      headers["x-kubernetes-pf-flowschema-uid"] = seen.flow.schemaUid;
      headers["x-kubernetes-pf-prioritylevel-uid"] = seen.flow.levelUid;
    }
    headers["audit-id"] = auditId;
    if (warnings) headers["warning"] = warningHeaders(warnings);
    return response;
  };
}

function answer(
  options: HandlerOptions,
  request: ApiRequest,
  seen: ObservedRequest,
  warn: (text: string) => void,
): ApiResponse | Promise<ApiResponse> {
  const { deps, stopping } = options;
  const { cluster: clusterName, path } = splitCluster(request.path);
  const route = routeOf(path);
  // Health endpoints respond until the end.
  if (stopping.aborted && route.type !== "health") throw unavailable("the server is stopping");
  if (route.type === "resource") return answerResource(options, request, clusterName, route, seen, warn);
  // Each of its requests is authorized separately.
  if (route.type === "dry-run")
    return dryRunResponse(deps, findCluster(deps, clusterName), request, options.turns, (preview, each, warnOfEach) =>
      answerDryRun({ ...options, deps: preview }, each, warnOfEach),
    );

  // The response is immediate, so the timeout only has to be valid.
  timeoutMsOf(request.query, longest(request.method));
  const access = { cluster: clusterName, verb: request.method.toLowerCase(), path };
  return after(userOf(deps, request, access), (user) => {
    const page = (): ApiResponse | Promise<ApiResponse> =>
      after(authorize(deps, { ...access, user }, request.audit), () => {
        const cluster = findCluster(deps, clusterName);
        seen.cluster = clusterName;
        const remote = remoteOfPage(deps, clusterName, route);
        if (remote) return proxied(deps, remote, request, seen, user);
        return pageResponse(options, cluster, route, request);
      });
    // Health is exempt in every configuration.
    if (!options.flow || route.type === "health") return page();
    const { verb } = access;
    const { query, signal } = request;
    return inTurn(options, clusterName, seen, { user, verb, path, query, isSingle: false, signal }, page);
  });
}

/** One request of several in a dry run. */
async function answerDryRun(
  options: HandlerOptions,
  request: ApiRequest,
  warn: (text: string) => void,
): Promise<ApiResponse> {
  const { auditor } = options;
  // Its own record: the request that carries it says nothing about what it reads.
  const audit = auditor?.begin(auditedRequest(request, auditor.newId()));
  const one = { ...request, audit };
  let response: ApiResponse;
  let failure: unknown;
  try {
    checkDryRun(options.deps, request);
    response = await answer(options, one, newObservation(request), warn);
  } catch (error) {
    failure = asStatus(error);
    response = failureResponse(failure, request, options.log);
  }
  if (audit) finishAudit(audit, response, failure instanceof ApiError ? failure.status : undefined);
  return response;
}

/** What a request alone is answered with as plain text. */
function asStatus(error: unknown): unknown {
  if (error instanceof PageNotFound) return pathNotFound();
  return error instanceof TooBusyError ? tooManyRequests(error.message) : error;
}

function answerResource(
  options: HandlerOptions,
  request: ApiRequest,
  clusterName: string,
  route: ResourceRoute,
  seen: ObservedRequest,
  warn: (text: string) => void,
): ApiResponse | Promise<ApiResponse> {
  const { query, signal } = request;
  const { verb, resource } = accessOf(request.method, route, query);
  const access = { cluster: clusterName, verb, resource };
  return after(userOf(options.deps, request, access), (user) => {
    const work = (): ApiResponse | Promise<ApiResponse> =>
      after(authorize(options.deps, { cluster: clusterName, verb, resource, user }, request.audit), () =>
        answerAs(options, request, { access, user }, route, seen, warn),
      );
    // Connections that stay open are not limited, as in Kubernetes. A watch is until it starts.
    if (!options.flow || (route.subresource !== undefined && isConnect(route.subresource))) return work();
    const isSingle = route.name === undefined && resource.name !== undefined;
    return inTurn(
      options,
      clusterName,
      seen,
      { user, verb, resource, path: request.path, query, isSingle, signal },
      work,
    );
  });
}

/** The response for a user who may have it. Most reads are answered at once. */
function answerAs(
  options: HandlerOptions,
  request: ApiRequest,
  { access, user }: { access: { cluster: string } & ReturnType<typeof accessOf>; user: UserInfo },
  route: ResourceRoute,
  seen: ObservedRequest,
  warn: (text: string) => void,
): ApiResponse | Promise<ApiResponse> {
  const { deps } = options;
  const { query, headers } = request;
  const { namespace, subresource } = route;
  const clusterName = access.cluster;
  if (clusterName === "*") return watchAllClusters(options, request, route, seen);
  const remote = deps.aggregation.find(clusterName, route.group, route.version);
  if (remote) return proxied(deps, remote, request, seen, user);
  const verb = verbOf(request.method, route, query) ?? rejectMethod(deps, clusterName, route);
  const byController = deps.isController(user);
  const { cluster, served } = findTarget(deps, clusterName, route, verb, byController);
  const isLarge = request.body.byteLength > LARGE_BODY_BYTES;
  const { turns } = options;
  const pause = (): Promise<void> => turns.pause(clientKeyOf(clusterName, user.name));
  const context: RequestContext = {
    cluster,
    served,
    namespace,
    name: route.name,
    subresource,
    query,
    user,
    userAgent: headers["user-agent"] ?? "",
    byController,
    audit: request.audit,
    conversions: conversionMemo(served),
    warn,
    signal: request.signal,
    pause: isLarge ? pause : undefined,
    resume: byController ? undefined : () => turns.fair.resume(clientKeyOf(clusterName, user.name), user.name),
  };
  observe(seen, context, verb, headers["content-type"]);
  if (verb !== "connect" && route.rest !== "") throw pathNotFound();
  if (verb === "connect") return connect(options, context, route, request);
  const representation = representationOf(headers, query, {
    table: hasTable(context),
    protobuf: tableFor(options.protobuf, served) !== undefined,
    protobufMetadata: options.protobuf !== undefined,
  });
  if (verb === "watch") {
    const begin = (): ApiResponse => watchResponse(options, context, route, representation, seen);
    // Many watches that are opened together each go through a long list.
    return access.resource.name === undefined && startsLong(deps, context) ? pause().then(begin) : begin();
  }
  const timeoutMs = timeoutOf(context, verb);
  const tableOptions = {
    includeObject: representation.as === "table" ? includeObjectOf(query) : ("None" as const),
    nowMs: deps.clock.now(),
    version: representation.version,
  };
  const sends = deps.actions.of(served, subresource)?.sends ?? served;
  const sent = new RequestInput(request, sends, subresource, options.protobuf);
  const input = request.audit ? auditedInput(sent, request.audit) : sent;
  const begin = (onEnd: () => void): Answer | Promise<Answer> =>
    operate(deps, context, { verb, input, timeoutMs, onEnd });
  const respond = (result: Answer): ApiResponse | Promise<ApiResponse> => {
    request.audit?.answered(() => objectOf(result));
    const response = (): ApiResponse => answerResponse(result, representation, tableOptions, pause, options.protobuf);
    if (result.type !== "list" || result.result.entries.length <= LONG_LIST_ENTRIES) return response();
    // Waiting lists would keep the seats from others, for whom there is time between two of their turns.
    seen.flow?.leave();
    return turns.next(clientKeyOf(clusterName, user.name), request.signal).then(response);
  };
  // Only writes wait for a watcher that is lagging, and only large bodies for their turn.
  const room = roomToWrite(deps, context, verb);
  const beginning = isLarge
    ? after(room, () => turns.begin(clientKeyOf(clusterName, user.name), request.body.byteLength, request.signal))
    : after(room, () => turns.countSmall());
  return after(after(beginning, begin), respond);
}

/** Whether a watch begins with many objects, or selects from many. */
function startsLong({ store }: OperationDependencies, { cluster, served, namespace, query }: RequestContext): boolean {
  const startsNow = Number(query.get("resourceVersion") ?? 0) === 0 || query.get("sendInitialEvents") === "true";
  const limit = LONG_LIST_ENTRIES + 1;
  return startsNow && store.list(cluster, served.resource, namespace, { limit }).length === limit;
}

/** The user that the request acts as. */
function userOf(
  deps: OperationDependencies,
  request: ApiRequest,
  access: Parameters<typeof actingUser>[2],
): UserInfo | Promise<UserInfo> {
  return after(actingUser(deps, request, access), (user) => {
    if (request.audit && user !== request.user) request.audit.impersonated(user);
    return user;
  });
}

/** Reviews and actions return the sent object, which has no columns. */
function hasTable({ served: { resource }, subresource }: RequestContext): boolean {
  const { verbs, subresources } = resource.kind;
  if (subresource === undefined) return verbs === undefined || verbs.includes("get");
  return !subresources.actions || !Object.hasOwn(subresources.actions, subresource);
}

/** An unsupported method: 405, unless the path does not exist at all. */
function rejectMethod(deps: OperationDependencies, clusterName: string, route: ResourceRoute): never {
  findResource(findCluster(deps, clusterName), route, "get");
  throw methodNotAllowed();
}

async function connect(
  { deps, connect: backend, kubeletsOf }: HandlerOptions,
  context: RequestContext,
  route: ResourceRoute,
  request: ApiRequest,
): Promise<ApiResponse> {
  const { cluster, served, namespace, name = "", subresource = "", user, signal } = context;
  const { rest } = route;
  const handler = connectHandler(served, subresource);
  if (!handler)
    return connectResponse(
      {
        store: deps.store,
        clock: deps.clock,
        authorizer: deps.authorizer,
        configured: deps.configured,
        backend,
        kubeletsOf,
      },
      context,
      request,
      { path: rest, rawPath: rawRestOf(request.path, route) },
    );
  const { method, query, headers, body, canUpgrade = false } = request;
  const response = await handler(
    {
      cluster: cluster.name,
      namespace,
      name,
      method,
      path: rest,
      rawPath: rawRestOf(request.path, route),
      query,
      headers: proxiedHeaders(headers),
      user,
      upgrade: canUpgrade ? (headers.upgrade ?? "") : undefined,
      body,
    },
    signal,
  );
  return {
    status: response.status,
    headers: response.headers,
    body: response.body instanceof Uint8Array ? response.body : streamOf(response.body),
    upgrade: response.upgrade,
  };
}

/**
 * The unmodified path after the subresource: `/apis/<group>/<version>/<resource>/<name>/<subresource>/…`, with a
 * namespace before the resource.
 */
function rawRestOf(path: string, { group, namespace }: ResourceRoute): string {
  const before = (group === "" ? 6 : 7) + (namespace === undefined ? 0 : 2);
  return splitCluster(path).path.split("/").slice(before).join("/");
}

function watchResponse(
  { deps, metrics, protobuf }: HandlerOptions,
  context: RequestContext,
  route: ResourceRoute,
  representation: Representation,
  seen: ObservedRequest,
): ApiResponse {
  const { cluster, served, signal } = context;
  const query = listQuery(context.query, true);
  // The legacy watch prefix names one object in the path.
  const fieldSelector =
    route.name === undefined
      ? query.fieldSelector
      : [query.fieldSelector, `metadata.name=${route.name}`].filter(Boolean).join(",");
  selectionOf(served.resource, query.labelSelector, fieldSelector);
  const includeObject = representation.as === "table" ? includeObjectOf(context.query) : "None";
  if (served.deprecationWarning !== undefined) context.warn(served.deprecationWarning);
  return {
    status: 200,
    headers: {
      "content-type": representation.format === "protobuf" ? `${PROTOBUF};stream=watch` : "application/json",
      "cache-control": "no-cache, private",
    },
    body: createWatchStream(deps, {
      cluster,
      protobuf,
      path: route,
      served,
      query: { ...query, fieldSelector },
      representation,
      includeObject,
      signal,
      client: clientKeyOf(cluster.name, context.user.name),
      meter: () => metrics.watch(seen),
    }),
  };
}

const ONLY_TEXT = { table: true, protobuf: false, protobufMetadata: false };

/** `/clusters/*` covers every logical cluster and can only be watched; events then carry the name of their cluster. */
function watchAllClusters(
  { deps, metrics }: HandlerOptions,
  request: ApiRequest,
  route: ResourceRoute,
  seen: ObservedRequest,
): ApiResponse {
  const { group, version, resource, name, subresource } = route;
  if (name !== undefined || subresource !== undefined || verbOf(request.method, route, request.query) !== "watch")
    throw badRequest("all logical clusters together can only be watched");
  const representation = representationOf(request.headers, request.query, ONLY_TEXT);
  if (representation.as !== "object" || representation.format !== "json") throw notAcceptable("application/json");
  Object.assign(seen, { cluster: HUB, verb: METRIC_VERBS.watch, group, version, resource, scope: "cluster" });
  return {
    status: 200,
    headers: { "content-type": "application/json", "cache-control": "no-cache, private" },
    body: createWatchStream(deps, {
      cluster: "*",
      path: route,
      query: listQuery(request.query, true),
      representation,
      includeObject: "None",
      signal: request.signal,
      meter: () => metrics.watch(seen),
    }),
  };
}
