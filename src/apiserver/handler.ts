/** The edge of the API server: a request comes in, is routed, authorised and answered. Whatever goes wrong becomes a Status here. */
import { randomUuid } from "../base/index.ts";
import type { Log } from "../base/index.ts";
import type { PatchType } from "../client/index.ts";
import { ApiError, internalError, methodNotAllowed, unavailable, notImplemented } from "../machinery/index.ts";
import type { RequestContext } from "./context.ts";
import { decodeObject, decodePatch, decodeValue, mediaTypeOf } from "./decode.ts";
import type { Body, ProtobufDecoder } from "./decode.ts";
import { discoveryResponse } from "./discovery.ts";
import { healthResponse } from "./health.ts";
import { representationOf } from "./negotiate.ts";
import type { Representation } from "./negotiate.ts";
import { openApiV2Response, openApiV3Response } from "./openapi.ts";
import { PageNotFound, authorize, connectHandler, findCluster, findResource, operate } from "./operations.ts";
import type { Input, OperationDependencies, Verb } from "./operations.ts";
import { asksForWatch, checkTimeout, listQuery } from "./options.ts";
import { patchTypeOf } from "./patch.ts";
import type { ApiRequest, ApiResponse } from "./request.ts";
import { answerResponse, jsonResponse, statusResponse, streamOf, textResponse } from "./respond.ts";
import { routeOf, splitCluster } from "./router.ts";
import type { ResourceRoute } from "./router.ts";
import { selectionOf } from "./selection.ts";
import { includeObjectOf } from "./table.ts";
import type { VersionInfo } from "./version.ts";
import { createWatchStream } from "./watch-stream.ts";

export interface HandlerOptions {
  deps: OperationDependencies;
  log: Log;
  version: VersionInfo;
  decodeProtobuf?: ProtobufDecoder;
  /** Aborted when the server stops: requests that come later are sent elsewhere. */
  stopping: AbortSignal;
}

export function createHandler(options: HandlerOptions): (request: ApiRequest) => Promise<ApiResponse> {
  const { deps, log } = options;
  // Audit ids need to be unique, not secret: one random part for the server and a counter are cheaper than chance per request.
  const auditPrefix = randomUuid(deps.random).slice(0, 24);
  let requests = 0;
  return async (request) => {
    const warnings = new Set<string>();
    let response: ApiResponse;
    try {
      response = await answer(options, request, (text) => warnings.add(text));
    } catch (error) {
      response = failureResponse(error, request, log);
    }
    const headers = response.headers;
    headers["audit-id"] = request.headers["audit-id"] || auditPrefix + (++requests).toString(16).padStart(12, "0");
    if (warnings.size > 0) headers["warning"] = [...warnings].map(warningHeader);
    return response;
  };
}

/** `299 - "text"`, with what a quoted string may not hold escaped or left out. */
function warningHeader(text: string): string {
  return `299 - "${text.replaceAll(/\p{Cc}/gu, " ").replaceAll(/["\\]/g, "\\$&")}"`;
}

function failureResponse(error: unknown, { headers, method, path }: ApiRequest, log: Log): ApiResponse {
  if (error instanceof PageNotFound) return textResponse(404, "404 page not found\n");
  if (error instanceof ApiError) return statusResponse(error, wantsYaml(headers.accept) ? "yaml" : "json");
  log.error("request failed", { method, path, error });
  // What went wrong inside is for the log, not for the peer.
  return statusResponse(internalError("the server could not handle the request; its log says why"));
}

const wantsYaml = (accept: string | undefined): boolean => accept === "application/yaml";

async function answer(options: HandlerOptions, request: ApiRequest, warn: (text: string) => void): Promise<ApiResponse> {
  const { deps, version, stopping } = options;
  if (stopping.aborted) throw unavailable("the server is stopping");
  const { cluster: clusterName, path } = splitCluster(request.path);
  const route = routeOf(path);
  if (route.type === "resource") return answerResource(options, request, clusterName, route, warn);

  authorize(deps, request.user, request.method.toLowerCase(), clusterName, { path });
  const cluster = findCluster(deps, clusterName);
  if (request.method !== "GET" && !(request.method === "HEAD" && route.type === "health")) throw route.type === "unknown" ? new PageNotFound() : methodNotAllowed();
  switch (route.type) {
    case "discovery":
      return discoveryResponse(cluster.table, route, request.headers);
    case "openapi-v3":
      return openApiV3Response(cluster.table, route.document, request);
    case "openapi-v2":
      return openApiV2Response(cluster.table, version, request.headers);
    case "version":
      return jsonResponse(200, version);
    case "health":
      return healthResponse(route, request.query);
    case "root":
      return jsonResponse(200, { paths: rootPaths(cluster.table.resources.flatMap(({ versions }) => versions.map(({ apiVersion }) => apiVersion))) });
    default:
      throw new PageNotFound();
  }
}

function rootPaths(apiVersions: readonly string[]): string[] {
  const paths = new Set(["/api", "/apis", "/healthz", "/livez", "/readyz", "/openapi/v2", "/openapi/v3", "/version"]);
  for (const apiVersion of apiVersions) {
    if (!apiVersion.includes("/")) paths.add(`/api/${apiVersion}`);
    else paths.add(`/apis/${apiVersion.split("/")[0] ?? ""}`).add(`/apis/${apiVersion}`);
  }
  return [...paths].sort();
}

async function answerResource(options: HandlerOptions, request: ApiRequest, clusterName: string, route: ResourceRoute, warn: (text: string) => void): Promise<ApiResponse> {
  const { deps } = options;
  const { query, user, headers } = request;
  const { group, resource, namespace, subresource } = route;
  const verb = verbOf(request.method, route, query) ?? refuseMethod(deps, request, clusterName, route);
  // A field selector on the name makes a collection request one about that object.
  const name = route.name ?? nameSelected(query);
  authorize(deps, user, verb, clusterName, { resource: { group, resource, ...(subresource && { subresource }), ...(namespace !== undefined && { namespace }), ...(name !== undefined && { name }) } });
  const cluster = findCluster(deps, clusterName);
  const served = findResource(cluster, route, verb);
  const context: RequestContext = {
    cluster,
    served,
    ...(namespace !== undefined && { namespace }),
    ...(route.name !== undefined && { name: route.name }),
    ...(subresource !== undefined && { subresource }),
    query,
    user,
    userAgent: headers["user-agent"] ?? "",
    inProcess: false,
    warn,
    signal: request.signal,
  };
  if (verb === "connect") return connect(context, route, request);
  const representation = representationOf(headers.accept, verb === "list");
  if (verb === "watch") return watchResponse(options, context, route, representation);
  checkTimeout(query);
  const tableOptions = { includeObject: representation.as === "table" ? includeObjectOf(query) : ("None" as const), nowMs: deps.clock.now() };
  return answerResponse(await operate(deps, context, verb, inputOf(request, context, options.decodeProtobuf)), representation, tableOptions);
}

/** A method that the path does not take: 405, unless there is nothing there at all. */
function refuseMethod(deps: OperationDependencies, { user }: ApiRequest, clusterName: string, route: ResourceRoute): never {
  const { group, resource } = route;
  authorize(deps, user, "get", clusterName, { resource: { group, resource } });
  findResource(findCluster(deps, clusterName), route, "get");
  throw methodNotAllowed();
}

function verbOf(method: string, { name, watch, subresource }: ResourceRoute, query: URLSearchParams): Verb | undefined {
  switch (method) {
    case "GET":
      if (watch) return "watch";
      if (name !== undefined) return subresource !== undefined && isConnect(subresource) ? "connect" : "get";
      return asksForWatch(query) ? "watch" : "list";
    case "POST":
      if (name === undefined) return "create";
      if (subresource !== undefined) return isConnect(subresource) ? "connect" : "create";
      break;
    case "PUT":
      if (name !== undefined) return "update";
      break;
    case "PATCH":
      if (name !== undefined) return "patch";
      break;
    case "DELETE":
      return name === undefined ? "deletecollection" : "delete";
    default:
  }
  return undefined;
}

const CONNECTS = new Set(["proxy", "log", "exec", "attach", "portforward"]);
const isConnect = (subresource: string): boolean => CONNECTS.has(subresource);

function nameSelected(query: URLSearchParams): string | undefined {
  return /(?:^|,)metadata\.name==?([^,=]+)/.exec(query.get("fieldSelector") ?? "")?.[1];
}

async function connect({ cluster, served, namespace, name = "", subresource = "", signal }: RequestContext, { rest }: ResourceRoute, { method, query, body }: ApiRequest): Promise<ApiResponse> {
  const handler = connectHandler(served, subresource);
  if (!handler) throw served.resource.kind.kind === "Pod" ? notImplemented(`${subresource} of pods`) : new PageNotFound();
  const response = await handler({ cluster: cluster.name, ...(namespace !== undefined && { namespace }), name, method, path: rest, query, body }, signal);
  return { status: response.status, headers: response.headers, body: response.body instanceof Uint8Array ? response.body : streamOf(response.body) };
}

function watchResponse({ deps }: HandlerOptions, context: RequestContext, route: ResourceRoute, representation: Representation): ApiResponse {
  const { cluster, served, namespace, signal } = context;
  const query = listQuery(context.query, true);
  // The old prefix names one object in the path.
  const fieldSelector = route.name === undefined ? query.fieldSelector : [query.fieldSelector, `metadata.name=${route.name}`].filter(Boolean).join(",");
  selectionOf(served.resource, query.labelSelector, fieldSelector);
  const includeObject = representation.as === "table" ? includeObjectOf(context.query) : "None";
  if (served.deprecationWarning !== undefined) context.warn(served.deprecationWarning);
  return {
    status: 200,
    headers: { "content-type": "application/json", "cache-control": "no-cache, private" },
    body: createWatchStream(deps, { cluster, served, ...(namespace !== undefined && { namespace }), query: { ...query, fieldSelector }, representation, includeObject, signal }),
  };
}

function inputOf({ body: bytes, headers }: ApiRequest, { served }: RequestContext, decodeProtobuf: ProtobufDecoder | undefined): Input {
  const body: Body = { bytes, contentType: headers["content-type"] };
  return {
    object: () => decodeObject(body, served, decodeProtobuf),
    value: () => (bytes.byteLength === 0 ? undefined : decodeValue(body, served.resource.kind.kind, decodeProtobuf)),
    patch: () => decodePatch(body),
    patchType: (): PatchType => patchTypeOf(mediaTypeOf(headers["content-type"]), served.resource.kind.builtIn),
  };
}
