/**
 * Requests that connect to the containers of a cluster: logs, commands, proxies. The server runs its own checks first,
 * in Kubernetes' order, and then calls the cluster's container runtime.
 */
import type { Clock, DeepReadonly, JsonObject } from "@flotilla/base";
import { acceptKey, loadWebSockets } from "@flotilla/client";
import {
  badRequest,
  forbidden,
  internalError,
  methodNotAllowed,
  notFound,
  notImplemented,
  unavailable,
} from "@flotilla/apimachinery";
import type { Authorizer } from "../request/authorize.ts";
import type { RequestContext } from "../request/context.ts";
import { plainError } from "../request/context.ts";
import type { LogicalCluster } from "../clusters/logical-cluster.ts";
import type { ObjectStore } from "../clusters/objects.ts";
import { flagOf } from "../request/options.ts";
import { objectIn } from "../codec/render.ts";
import type { ApiRequest, ApiResponse } from "../request/request.ts";
import { keyOf } from "../resources/resources.ts";
import { streamOf } from "../request/byte-streams.ts";
import type { ConnectBackend, ContainerRuntime, ContainerTarget, ProxyTarget } from "./backend.ts";
import type { ConfiguredAdmission } from "../configured-admission/configured-admission.ts";
import { admitConnection } from "./admit-connection.ts";
import { CHANNEL_PROTOCOLS, serveChannels } from "./channels.ts";
import { checkNode, containerOf, nodeNameOf } from "./container.ts";
import { logBytes, logOptions } from "./log.ts";
import {
  FORWARD_CHANNELS_PROTOCOL,
  PORT_FORWARD_PROTOCOL,
  serveForwardChannels,
  servePortForward,
  serveTunnel,
  TUNNEL_PROTOCOL,
} from "./port-forward.ts";
import type { Forward } from "./port-forward.ts";
import { COMMAND_PROTOCOLS, serveSpdyCommand } from "./spdy-command.ts";
import { proxiedHeaders } from "./proxied-headers.ts";
import { connectShape } from "../resources/connect-shapes.ts";
import { unreachable } from "./kubelet-runtime.ts";

export interface ConnectDependencies {
  store: ObjectStore;
  clock: Clock;
  authorizer: Pick<Authorizer, "decide">;
  configured: ConfiguredAdmission;
  backend?: ConnectBackend;
  /** What runs the containers of clusters whose nodes are not simulated. */
  kubeletsOf?(cluster: LogicalCluster): ContainerRuntime;
}

const VERBS: Readonly<Record<string, string>> = {
  GET: "get",
  HEAD: "get",
  OPTIONS: "get",
  POST: "create",
  PUT: "update",
  PATCH: "patch",
  DELETE: "delete",
};
const NO_CACHE = "no-cache, private";

export async function connectResponse(
  deps: ConnectDependencies,
  context: RequestContext,
  request: ApiRequest,
  { path, rawPath }: { path: string; rawPath: string },
): Promise<ApiResponse> {
  const { served, subresource = "" } = context;
  const shape = connectShape(served.resource, subresource);
  const verb = Object.hasOwn(VERBS, request.method) ? VERBS[request.method] : undefined;
  if (
    !shape ||
    verb === undefined ||
    !shape.verbs.includes(verb) ||
    (!shape.hasPath && request.method !== "GET" && request.method !== "POST")
  )
    throw methodNotAllowed();
  switch (subresource) {
    case "log":
      return logResponse(deps, context);
    case "proxy":
      await admitConnection(deps, context, path);
      return proxyResponse(deps, context, request, rawPath);
    default:
      if (verb !== "create") await checkMayCreate(deps, context, subresource);
      await admitConnection(deps, context, path);
      return streamResponse(deps, context, request, subresource);
  }
}

/**
 * WebSockets start with GET, which users with read access may send. Running a command is more than reading, so it needs
 * the verb create, however the connection starts. As in Kubernetes, the error contains only the authorizer's reason.
 */
async function checkMayCreate(
  { authorizer }: ConnectDependencies,
  { cluster, served, namespace, name = "", user }: RequestContext,
  subresource: string,
): Promise<void> {
  const about = served.resource.name;
  const { allowed, reason, error } = await authorizer.decide({
    user,
    verb: "create",
    cluster: cluster.name,
    resource: { ...about, subresource, namespace, name },
  });
  if (error !== undefined) throw internalError(error);
  if (!allowed) throw forbidden(about, name, reason);
}

function find(
  deps: ConnectDependencies,
  { cluster, served, namespace }: RequestContext,
  name: string,
): DeepReadonly<JsonObject> {
  const { entry } = deps.store.find(cluster, served.resource, keyOf(served.resource, cluster.name, namespace, name));
  if (!entry) throw notFound(served.resource.name, name);
  return objectIn(entry, served);
}

function runtimeOf(
  { backend, kubeletsOf }: ConnectDependencies,
  { cluster }: RequestContext,
): ContainerRuntime | undefined {
  return backend?.runtimeOf(cluster.name) ?? kubeletsOf?.(cluster);
}

function targetOf(
  { cluster, namespace = "" }: RequestContext,
  pod: DeepReadonly<JsonObject>,
  container: string,
): ContainerTarget {
  return { cluster: cluster.name, namespace, pod, container };
}

function nodeExists({ store }: ConnectDependencies, { cluster }: RequestContext): (name: string) => boolean {
  return (name) => {
    const nodes = cluster.table.resource("", "nodes");
    return (
      nodes !== undefined && store.find(cluster, nodes, keyOf(nodes, cluster.name, undefined, name)).entry !== undefined
    );
  };
}

async function logResponse(deps: ConnectDependencies, context: RequestContext): Promise<ApiResponse> {
  const { name = "", query, signal } = context;
  const options = logOptions(query, name, deps.clock.now());
  const pod = find(deps, context, name);
  const container = containerOf(pod, name, options.container);
  const node = nodeNameOf(pod);
  // An unscheduled pod has no log.
  if (node === "") return { status: 204, headers: { "cache-control": NO_CACHE }, body: new Uint8Array() };
  const runtime = runtimeOf(deps, context);
  if (runtime?.hasNodes !== false) checkNode(node, nodeExists(deps, context));
  if (runtime?.logResponse) {
    const { status, body } = await runtime.logResponse(targetOf(context, pod, container), options, signal);
    return { status, headers: LOG_HEADERS, body: body instanceof Uint8Array ? body : streamOf(body) };
  }
  const log = runtime?.logs?.(targetOf(context, pod, container), { previous: options.previous });
  if (!log) throw plainError(`cannot read the logs of container ${container}: ${unreachable(node)}`);
  return { status: 200, headers: LOG_HEADERS, body: streamOf(logBytes(log, options, signal)) };
}
const LOG_HEADERS = { "content-type": "text/plain", "cache-control": NO_CACHE };

async function streamResponse(
  deps: ConnectDependencies,
  context: RequestContext,
  request: ApiRequest,
  subresource: string,
): Promise<ApiResponse> {
  const { name = "", query } = context;
  const pod = find(deps, context, name);
  const container = subresource === "portforward" ? "" : containerOf(pod, name, query.get("container") ?? "");
  const node = nodeNameOf(pod);
  if (node === "") throw badRequest(`pod ${name} does not have a host assigned`);
  checkNode(node, nodeExists(deps, context));
  if (!request.canUpgrade) throw badRequest("Upgrade request required");
  if (subresource === "portforward") return portForwardResponse(deps, context, request, pod);
  const options = {
    command: query.getAll("command"),
    stdin: flagOf(query.get("stdin")),
    stdout: flagOf(query.get("stdout")),
    stderr: flagOf(query.get("stderr")),
    tty: flagOf(query.get("tty")),
  };
  const target = targetOf(context, pod, container);
  const runtime = runtimeOf(deps, context);
  const run =
    subresource === "exec"
      ? runtime?.exec?.bind(runtime, target, options)
      : runtime?.attach?.bind(runtime, target, options);
  if (!run) throw internalError(`error dialing backend: ${unreachable(node)}`);
  // A terminal has a single output stream.
  const session = { ...options, stderr: options.stderr && !options.tty, run };
  if (isSpdy(request))
    return upgradeToSpdy(request, COMMAND_PROTOCOLS, (socket, head) =>
      serveSpdyCommand(socket, head, deps.clock, session),
    );
  const createWebSocket = await loadWebSockets();
  return upgrade(request, CHANNEL_PROTOCOLS, (socket, head) =>
    serveChannels((handlers) => createWebSocket(socket, head, handlers), deps.clock, session),
  );
}

async function portForwardResponse(
  deps: ConnectDependencies,
  context: RequestContext,
  request: ApiRequest,
  pod: DeepReadonly<JsonObject>,
): Promise<ApiResponse> {
  const runtime = runtimeOf(deps, context);
  const { cluster, namespace = "" } = context;
  if (!runtime?.forward) throw internalError(`error dialing backend: ${unreachable(nodeNameOf(pod))}`);
  const forward: Forward = runtime.forward.bind(runtime, { cluster: cluster.name, namespace, pod });
  if (isSpdy(request))
    return upgradeToSpdy(request, [PORT_FORWARD_PROTOCOL], (socket, head) => servePortForward(socket, head, forward));
  const createWebSocket = await loadWebSockets();
  const response = upgrade(request, [TUNNEL_PROTOCOL, FORWARD_CHANNELS_PROTOCOL], (socket, head) =>
    isTunnel
      ? serveTunnel((options) => createWebSocket(socket, head, options), deps.clock, forward)
      : serveForwardChannels((options) => createWebSocket(socket, head, options), deps.clock, forward, ports),
  );
  const isTunnel = response.headers["sec-websocket-protocol"] === TUNNEL_PROTOCOL;
  const ports = isTunnel ? [] : portsOf(context.query);
  return response;
}

/** Without a tunnel the ports are in the query, separated by commas or repeated. */
function portsOf(query: URLSearchParams): number[] {
  const ports = query.getAll("ports").flatMap((text) => text.split(",").map(Number));
  if (ports.length === 0) throw badRequest("you must specify at least 1 port");
  if (ports.length > MAX_PORTS || ports.some((port) => !Number.isInteger(port) || port < 1 || port > 65_535))
    throw badRequest(`ports must be up to ${MAX_PORTS} numbers from 1 to 65535`);
  return ports;
}
const MAX_PORTS = 64;

const isSpdy = ({ headers }: ApiRequest): boolean => headers.upgrade?.toLowerCase() === "spdy/3.1";

/** The response to an upgrade to SPDY. The client names the protocols of its streams in a header. */
function upgradeToSpdy(
  { headers }: ApiRequest,
  protocols: readonly string[],
  take: NonNullable<ApiResponse["upgrade"]>,
): ApiResponse {
  const offered = (headers["x-stream-protocol-version"] ?? "").split(",").map((text) => text.trim());
  const protocol = protocols.find((known) => offered.includes(known));
  if (protocol === undefined) throw unknownProtocols(offered, protocols);
  return {
    status: 101,
    headers: { upgrade: "SPDY/3.1", connection: "Upgrade", "x-stream-protocol-version": protocol },
    body: new Uint8Array(),
    upgrade: take,
  };
}

const unknownProtocols = (offered: readonly string[], supported: readonly string[]): Error =>
  badRequest(
    `unable to upgrade: unknown protocols ${offered.join(", ").slice(0, 256)}; supported protocols are ${supported.join(", ")}`,
  );

/** The response to a WebSocket handshake. */
function upgrade(
  { headers }: ApiRequest,
  protocols: readonly string[],
  take: NonNullable<ApiResponse["upgrade"]>,
): ApiResponse {
  const asked = headers.upgrade?.toLowerCase() ?? "";
  if (asked !== "websocket") throw notImplemented(`streaming over ${asked.slice(0, 32)} (use WebSockets or SPDY/3.1)`);
  const key = headers["sec-websocket-key"] ?? "";
  if (headers["sec-websocket-version"] !== "13" || !/^[A-Za-z0-9+/]{22}==$/.test(key))
    throw badRequest("the WebSocket handshake does not use version 13");
  const offered = (headers["sec-websocket-protocol"] ?? "").split(",").map((text) => text.trim());
  const protocol = protocols.find((known) => offered.includes(known));
  if (protocol === undefined) throw unknownProtocols(offered, protocols);
  return {
    status: 101,
    headers: {
      upgrade: "websocket",
      connection: "Upgrade",
      "sec-websocket-accept": acceptKey(key),
      "sec-websocket-protocol": protocol,
    },
    body: new Uint8Array(),
    upgrade: take,
  };
}

async function proxyResponse(
  deps: ConnectDependencies,
  context: RequestContext,
  request: ApiRequest,
  rawPath: string,
): Promise<ApiResponse> {
  const { cluster, served, namespace, name: asked = "", query, signal } = context;
  const resource = served.resource.name.resource as ProxyTarget["resource"];
  const parts = asked.split(":");
  const [scheme, name, port] = parts.length === 3 ? parts : ["", parts[0], parts[1] ?? ""];
  if (parts.length > 3 || !name || (scheme !== "" && scheme !== "http" && scheme !== "https"))
    throw badRequest(`invalid ${resource.slice(0, -1)} request ${JSON.stringify(asked)}`);
  const object = find(deps, context, name);
  const target: ProxyTarget = {
    cluster: cluster.name,
    resource,
    namespace,
    name,
    scheme: scheme ?? "",
    port: port ?? "",
  };
  const { method, headers, body, canUpgrade = false } = request;
  const answer = await runtimeOf(deps, context)?.proxy?.(
    target,
    {
      method,
      path: `/${rawPath}`,
      query,
      headers: proxiedHeaders(headers),
      body,
      upgrade: canUpgrade ? headers.upgrade : undefined,
    },
    signal,
  );
  if (!answer) throw unreachableError(resource, name, object);
  return {
    status: answer.status,
    headers: answer.headers,
    body: answer.body instanceof Uint8Array ? answer.body : streamOf(answer.body),
    upgrade: answer.upgrade,
  };
}

/** The error that kube-apiserver returns when it cannot connect to the target. */
function unreachableError(resource: ProxyTarget["resource"], name: string, object: DeepReadonly<JsonObject>): Error {
  if (resource === "services") return unavailable(`no endpoints available for service ${JSON.stringify(name)}`);
  const { status } = object as { status?: { podIP?: string; addresses?: readonly unknown[] } };
  if (resource === "pods" && !status?.podIP) return badRequest("address not allowed");
  return unavailable(
    `error trying to reach service: ${resource === "nodes" ? unreachable(name) : `no network to pod ${name}`}`,
  );
}
