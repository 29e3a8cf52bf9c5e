/**
 * `POST /dry-run`: several requests, answered in order as if those before had been carried out. Nothing is stored.
 *
 * A dry run of a single request fails for an object whose Namespace or CustomResourceDefinition would be created by
 * another manifest of the same file. Here, results are kept in memory above the store for the length of the call.
 *
 * Body: `{"requests": [{"method", "path", "contentType"?, "body"?}]}`, with each body as text; the response is
 * `{"responses": [{"status", "body", "warnings"?}]}`, with each body as JSON and its warnings as a list of texts.
 * Every request is authorized and admitted as if it had been sent alone. Gets of one object, creates, updates and
 * patches are supported, without subresources, of what this server stores: an aggregated server knows nothing of the
 * requests before, and may ignore `dryRun`.
 */
import { UNAUTHENTICATED_GROUP } from "@flotilla/kubernetes";
import {
  answeredElsewhere,
  badRequest,
  internalError,
  methodNotAllowed,
  tooLarge,
  unauthorized,
} from "@flotilla/apimachinery";
import type { ApiError } from "@flotilla/apimachinery";
import { exceedsJsonLimits, formatTime, InvariantError, isObject } from "@flotilla/base";
import type { DeepReadonly, JsonObject } from "@flotilla/base";
import type { CachedEntry } from "../store/cache.ts";
import type { LogicalCluster } from "../clusters/logical-cluster.ts";
import { unstoredEntry } from "../clusters/objects.ts";
import type { ObjectStore } from "../clusters/objects.ts";
import { statusOf } from "../crd/crd-status.ts";
import { objectIn, viewOfWritten } from "../codec/render.ts";
import type { WrittenView } from "../codec/render.ts";
import { conditionOf, isDefinition } from "../resources/definition.ts";
import type { Definition } from "../resources/definition.ts";
import { createResourceTable, prefixOf } from "../resources/resources.ts";
import type { Resource, ResourceTable } from "../resources/resources.ts";
import { clientKeyOf } from "../access/client-key.ts";
import { bodyOf, streamOf } from "../request/byte-streams.ts";
import type { ApiRequest, ApiResponse, ByteStream } from "../request/request.ts";
import { PRIVATE, encode, statusResponse } from "../request/respond.ts";
import { routeOf, splitCluster } from "../request/router.ts";
import type { OperationDependencies } from "./operations.ts";
import type { RequestTurns } from "./request-turns.ts";

/** Several times the largest known plan: two thousand objects with their policies. */
const MAX_REQUESTS = 10_000;
/** Method, path, media type, body and the request itself; bodies are texts. */
const MAX_VALUES = { values: 6 * MAX_REQUESTS, keys: 10 };
/** Twice the body: a get in a few bytes may be answered with an object of the maximum size. */
const MAX_RESPONSE_BYTES = 64 * 1024 * 1024;
const SENT_WHOLE_BYTES = 1024 * 1024;
/** Other requests wait for no more than this, and for one request of the dry run. */
const STEP_MS = 4;

/** Answers one request with these dependencies; never rejects. */
type Answer = (deps: OperationDependencies, request: ApiRequest, warn: (text: string) => void) => Promise<ApiResponse>;

/** Turns of the event loop, and of dry runs. */
type DryRunTurns = Pick<RequestTurns, "beginDryRun" | "pause">;

export async function dryRunResponse(
  deps: OperationDependencies,
  cluster: LogicalCluster,
  request: ApiRequest,
  turns: DryRunTurns,
  answer: Answer,
): Promise<ApiResponse> {
  if (request.method !== "POST") throw methodNotAllowed();
  // Its body is not read, and whether the cluster exists is not said.
  if (request.user.groups.includes(UNAUTHENTICATED_GROUP)) throw unauthorized();
  const client = clientKeyOf(cluster.name, request.user.name);
  const end = await turns.beginDryRun(client, request.signal);
  // The response of a client that has disconnected is never opened.
  request.signal.addEventListener("abort", end, { once: true });
  try {
    const chunks = await responsesTo(deps, cluster, request, () => turns.pause(client), answer);
    return heldResponse(chunks, end);
  } catch (error) {
    end();
    throw error;
  }
}

async function responsesTo(
  deps: OperationDependencies,
  cluster: LogicalCluster,
  request: ApiRequest,
  pause: () => Promise<void>,
  answer: Answer,
): Promise<BoundedChunks> {
  const requests = requestsIn(request);
  const preview = withPreview(deps, cluster);
  const chunks = new BoundedChunks();
  chunks.push(encode('{"responses":['));
  let stepEndMs = performance.now() + STEP_MS;
  for (const [index, { method, path, contentType, body }] of requests.entries()) {
    if (performance.now() > stepEndMs) {
      await pause();
      stepEndMs = performance.now() + STEP_MS;
    }
    request.signal.throwIfAborted();
    const url = urlOf(path);
    const query = new URLSearchParams(url.searchParams);
    if (method !== "GET") query.set("dryRun", "All");
    const each = {
      ...request,
      signal: request.signal,
      method,
      path: `/clusters/${cluster.name}${url.pathname}`,
      query,
      headers: { ...request.headers, accept: "application/json", "content-type": contentType },
      body: encode(body),
    };
    const warnings = new Set<string>();
    const response = await answer(preview, each, (text) => warnings.add(text));
    // The responses are parts of one document: text that is not JSON would change its neighbours.
    const { status, body: answered } = isJson(response) ? response : statusResponse(notJson(response));
    chunks.push(encode(`${index > 0 ? "," : ""}{"status":${status},"body":`));
    for await (const chunk of bodyOf(answered, request.signal)) chunks.push(chunk.slice());
    chunks.push(encode(warnings.size > 0 ? `,"warnings":${JSON.stringify([...warnings])}}` : "}"));
  }
  chunks.push(encode("]}"));
  return chunks;
}

const isJson = ({ headers }: ApiResponse): boolean => /^application\/json(?:;|$)/.test(String(headers["content-type"]));
const notJson = ({ status }: ApiResponse): ApiError =>
  internalError(`the request was answered with status ${status} and a body that is not JSON`);

/** A long response is sent as the client reads it, and counts until then: the client need not read. */
function heldResponse({ list, bytes }: BoundedChunks, end: () => void): ApiResponse {
  const headers = { "content-type": "application/json", "cache-control": PRIVATE };
  if (bytes <= SENT_WHOLE_BYTES) {
    end();
    return { status: 200, headers, body: list };
  }
  const body: ByteStream = {
    open(sink) {
      const close = streamOf(inTurn(list)).open({
        write: (chunk) => sink.write(chunk),
        onDrain: (resume) => sink.onDrain(resume),
        end() {
          end();
          sink.end();
        },
      });
      return () => {
        end();
        close();
      };
    },
  };
  return { status: 200, headers, body, isFinite: true };
}

async function* inTurn(chunks: readonly Uint8Array[]): AsyncGenerator<Uint8Array> {
  yield* chunks;
}

/** Throws 413 for more bytes than one response may have. */
class BoundedChunks {
  readonly list: Uint8Array[] = [];
  bytes = 0;

  push(chunk: Uint8Array): void {
    this.bytes += chunk.byteLength;
    if (this.bytes > MAX_RESPONSE_BYTES)
      throw tooLarge(
        `the responses of a dry run have more than ${MAX_RESPONSE_BYTES} bytes; divide it into several dry runs`,
      );
    this.list.push(chunk);
  }
}

function urlOf(path: string): URL {
  const url = URL.parse(path, "http://hub");
  if (!url) throw badRequest(`the path of a request is invalid: ${path.slice(0, 200)}`);
  return url;
}

interface SentRequest {
  method: string;
  path: string;
  contentType: string;
  body: string;
}

function requestsIn({ body }: ApiRequest): SentRequest[] {
  const sent = parse(body);
  const requests = isObject(sent) ? sent["requests"] : undefined;
  if (!Array.isArray(requests)) throw badRequest("the body of a dry run needs a list of requests");
  if (requests.length > MAX_REQUESTS) throw tooManyRequested();
  return requests.map((each: unknown): SentRequest => {
    const { method, path, contentType = "application/json", body: own = "" } = isObject(each) ? each : {};
    if (typeof method !== "string" || typeof path !== "string" || !path.startsWith("/"))
      throw badRequest("every request of a dry run needs a method, and a path that starts with a slash");
    if (typeof contentType !== "string" || typeof own !== "string")
      throw badRequest("contentType and body of a request must be strings");
    return { method, path, contentType, body: own };
  });
}

const tooManyRequested = (): Error =>
  tooLarge(`a dry run has at most ${MAX_REQUESTS} requests; divide it into several dry runs`);

function parse(body: Uint8Array): unknown {
  // Counted before it is decoded: a few bytes of JSON can take a hundred times their size in memory.
  if (exceedsJsonLimits(body, MAX_VALUES)) throw tooManyRequested();
  try {
    return JSON.parse(Buffer.from(body).toString());
  } catch (error) {
    if (error instanceof SyntaxError) throw badRequest(`the body of a dry run is not JSON: ${error.message}`);
    throw error;
  }
}

/** Throws 400 for a request that cannot be part of a dry run. */
export function checkDryRun(
  { aggregation }: Pick<OperationDependencies, "aggregation">,
  { method, path: whole }: ApiRequest,
): void {
  const { cluster, path } = splitCluster(whole);
  const route = routeOf(path);
  const isOne =
    route.type === "resource" &&
    route.subresource === undefined &&
    !route.watch &&
    (method === "POST" ? route.name === undefined : route.name !== undefined) &&
    ["GET", "POST", "PUT", "PATCH"].includes(method);
  if (!isOne)
    throw badRequest(
      `${method} ${path} cannot be part of a dry run: only the get, create, update and patch of one object can`,
    );
  if (aggregation.find(cluster, route.group, route.version))
    throw answeredElsewhere(
      `${method} ${path} cannot be part of a dry run: an aggregated API server answers for ${route.group}/${route.version}`,
    );
}

/** Dependencies in which the results of dry runs are kept above what is stored. */
function withPreview(deps: OperationDependencies, base: LogicalCluster): OperationDependencies {
  let table = base.table;
  const cluster: LogicalCluster = {
    ...base,
    get table() {
      return table;
    },
  };
  const store = createPreviewStore(deps.store, (resource, written) => {
    if (!isDefinition(resource)) return written;
    const definition = settle(resource, written.object as unknown as DeepReadonly<Definition>);
    table = tableWith(table, definition, base.profile, deps);
    return viewOfWritten(resource.storage, definition as unknown as JsonObject, false);
  });

  /** The CRD with the status that the server would set in a separate write. */
  function settle(resource: Resource, definition: DeepReadonly<Definition>): DeepReadonly<Definition> {
    const others = store
      .list(cluster, resource)
      .map((entry) => objectIn(entry, resource.storage) as unknown as DeepReadonly<Definition>)
      .filter(
        ({ metadata, spec }) => spec.group === definition.spec.group && metadata.name !== definition.metadata.name,
      );
    return { ...definition, status: statusOf(definition, others, formatTime(deps.clock.now())) };
  }

  return {
    ...deps,
    store,
    clusters: {
      ...deps.clusters,
      get: (name) => (name === cluster.name ? cluster : deps.clusters.get(name)),
      refresh() {},
    },
  };
}

function tableWith(
  table: ResourceTable,
  definition: DeepReadonly<Definition>,
  profile: LogicalCluster["profile"],
  { clusters }: OperationDependencies,
): ResourceTable {
  const others = table.resources.filter(({ name }) => `${name.resource}.${name.group}` !== definition.metadata.name);
  const isServed = conditionOf(definition, "Established")?.status === "True";
  return createResourceTable(isServed ? [...others, clusters.resourceOf(definition, profile)] : others);
}

/** `settled` returns what later requests read. */
function createPreviewStore(
  base: ObjectStore,
  settled: (resource: Resource, written: WrittenView) => WrittenView,
): ObjectStore {
  const entries = new Map<string, CachedEntry>();
  const merged = (
    cluster: LogicalCluster,
    resource: Resource,
    namespace: string | undefined,
    stored: readonly CachedEntry[],
  ): CachedEntry[] => {
    const prefix = prefixOf(resource, cluster.name, namespace);
    const own = [...entries.values()].filter(({ key }) => key.startsWith(prefix));
    return [...stored.filter(({ key }) => !entries.has(key)), ...own].sort((a, b) => (a.key < b.key ? -1 : 1));
  };
  const noWrite = (): never => {
    throw new InvariantError("a dry run writes nothing");
  };
  return {
    ...base,
    find(cluster, resource, key) {
      const entry = entries.get(key);
      return entry ? { key, entry, expect: entry.revision } : base.find(cluster, resource, key);
    },
    list(cluster, resource, namespace, page) {
      if (entries.size === 0) return base.list(cluster, resource, namespace, page);
      const { after, limit } = page ?? {};
      const all = merged(cluster, resource, namespace, base.list(cluster, resource, namespace));
      const rest = after === undefined ? all : all.filter(({ key }) => key > after);
      return limit === undefined ? rest : rest.slice(0, limit);
    },
    written: (cluster, resource, namespace) =>
      merged(cluster, resource, namespace, base.written(cluster, resource, namespace)),
    preview(cluster, resource, found, written) {
      entries.set(found.key, base.preview(cluster, resource, found, settled(resource, written)));
      return base.preview(cluster, resource, found, written);
    },
    keepsPreviews: true,
    // Only what a write takes from others, such as a quota.
    put(_cluster, found, written) {
      const entry = unstoredEntry(found, written);
      entries.set(found.key, entry);
      return Promise.resolve(entry);
    },
    remove: noWrite,
  };
}
