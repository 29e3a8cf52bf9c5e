/**
 * Proxy for the cluster name `*`: one request to the API of every member. A list merges the lists of all members. A
 * request for an object is sent to the cluster that has it. The hub answers requests that are not about objects, such
 * as discovery. Always as the caller, so that users see only what each cluster allows them to see.
 *
 * An unreachable cluster is omitted with a warning: a partial answer is better than none.
 */
import type { Cluster } from "@flotilla/karmada";
import type { ConnectHandler, ConnectRequest, ConnectResponse } from "@flotilla/apimachinery";
import { FlotillaError, isObject } from "@flotilla/base";
import type { Clock, DeepReadonly, JsonObject } from "@flotilla/base";
import {
  ApiError,
  badRequest,
  conflict,
  methodNotAllowed,
  notFound,
  pathNotFound,
  tooLarge,
  unavailable,
} from "@flotilla/apimachinery";
import { askMembers, missingAnswers, someOf } from "./ask-members.ts";
import type { Answers } from "./ask-members.ts";
import { targetOf } from "./proxied-target.ts";
import type { ProxiedTarget } from "./proxied-target.ts";

export interface AllClustersProxyDependencies {
  clusters(): readonly DeepReadonly<Cluster>[];
  /** A request to one member by name. */
  ask: ConnectHandler;
  /** The same request to the hub itself. */
  askHub: ConnectHandler;
  clock: Clock;
}

/** Limit for all lists together; for more, clients must query the clusters individually. */
const MAX_LIST_BYTES = 64 * 1024 * 1024;
const READS: ReadonlySet<string> = new Set(["GET", "HEAD"]);
/**
 * Parameters that are valid for one server only. Lists are requested without paging, because a continue token of one
 * server is invalid for another.
 */
const OF_ONE_SERVER = [
  "limit",
  "resourceVersion",
  "resourceVersionMatch",
  "sendInitialEvents",
  "allowWatchBookmarks",
] as const;

export function createAllClustersProxy({ clusters, ask, askHub, clock }: AllClustersProxyDependencies): ConnectHandler {
  return async (request, signal) => {
    const target = targetOf(request.rawPath, request.query);
    if (!target) return askHub(request, signal);
    if (target.name !== undefined) return one(request, target, target.name, signal);
    if (!READS.has(request.method) || target.isWatch)
      throw methodNotAllowed(
        `${target.isWatch ? "watch" : request.method} is not supported for all clusters at once: name one cluster`,
      );
    return list(request, target, signal);
  };

  async function one(
    request: ConnectRequest,
    { group, resource, path }: ProxiedTarget,
    name: string,
    signal: AbortSignal,
  ): Promise<ConnectResponse> {
    const { answers, missing } = await askAll(
      { ...readOf(request, path), query: new URLSearchParams() },
      signal,
      async (answer) => {
        await discard(answer);
        return answer.status === 200;
      },
    );
    const holders = answers.flatMap(({ cluster, answer }) => (answer ? [cluster] : []));
    const [holder, second] = holders;
    if (holder === undefined && answers.length === 0 && missing.length > 0)
      throw unavailable(missingAnswers(missing), 0);
    if (holder === undefined) throw notFound({ group, resource }, name);
    if (second !== undefined)
      throw conflict(
        { group, resource },
        name,
        `conflict resource, exist in more than one cluster: ${someOf(holders, ",")}`,
      );
    return warned(await ask({ ...request, name: holder }, signal), missing);
  }

  async function list(request: ConnectRequest, { path }: ProxiedTarget, signal: AbortSignal): Promise<ConnectResponse> {
    if (request.query.get("continue"))
      throw badRequest("lists of all clusters are not paged: continue is not supported");
    const query = new URLSearchParams(request.query);
    for (const name of OF_ONE_SERVER) query.delete(name);
    let room = MAX_LIST_BYTES;
    let refusals = 0;
    const { answers, missing } = await askAll({ ...readOf(request, path), query }, signal, async (answer) => {
      const chunks: Uint8Array[] = [];
      for await (const chunk of chunksOf(answer)) {
        room -= chunk.byteLength;
        if (room < 0)
          throw tooLarge(`the lists of all clusters exceed ${MAX_LIST_BYTES} bytes: query the clusters individually`);
        chunks.push(chunk);
      }
      if (answer.status !== 200) {
        refusals++;
        throw new FlotillaError("Member", `it answered ${answer.status}`);
      }
      return listIn(Buffer.concat(chunks));
    });
    const [first, ...rest] = answers.map(({ answer }) => answer);
    if (!first) throw refusals > 0 || missing.length === 0 ? pathNotFound() : unavailable(missingAnswers(missing), 0);
    return warned(
      {
        status: 200,
        headers: { "content-type": "application/json", "cache-control": "no-cache, private" },
        body: joined(first, rest),
      },
      missing,
    );
  }

  /** A list that is too large for all members together ends the request. */
  function askAll<T>(
    request: ConnectRequest,
    signal: AbortSignal,
    read: (answer: ConnectResponse) => Promise<T>,
  ): Promise<Answers<T>> {
    const isFinal = (error: unknown): boolean => error instanceof ApiError && error.status.code === 413;
    return askMembers({ clusters: clusters(), clock, signal, isFinal }, async (name, until) =>
      read(await ask({ ...request, name }, until)),
    );
  }
}

/**
 * Every cluster is first queried with a read, regardless of the method; the request's body and upgrade are not
 * forwarded.
 */
function readOf({ body: _body, upgrade: _upgrade, ...request }: ConnectRequest, path: string): ConnectRequest {
  return { ...request, method: "GET", path, rawPath: path, headers: { accept: "application/json" } };
}

interface List {
  /** Everything except the items. */
  envelope: JsonObject;
  /** Separated by commas. */
  items: string;
}

/** Parsed member by member and kept as text, so that all lists are never held or serialized at once. */
function listIn(bytes: Buffer): List {
  const value: unknown = JSON.parse(bytes.toString());
  if (!isObject(value) || !Array.isArray(value.items)) throw new FlotillaError("Member", "it did not return a list");
  const { items, ...envelope } = value;
  return { envelope, items: JSON.stringify(items).slice(1, -1) };
}

async function* joined({ envelope, items: first }: List, rest: readonly List[]): AsyncGenerator<Uint8Array> {
  // resourceVersions of different servers are not comparable.
  yield Buffer.from(
    `${JSON.stringify({ ...envelope, metadata: { resourceVersion: "" } }).slice(0, -1)},"items":[${first}`,
  );
  let isFirst = first === "";
  for (const { items } of rest) {
    if (items === "") continue;
    yield Buffer.from(isFirst ? items : `,${items}`);
    isFirst = false;
  }
  yield Buffer.from("]}");
}

async function* chunksOf({ body }: ConnectResponse): AsyncGenerator<Uint8Array> {
  if (body instanceof Uint8Array) yield body;
  else yield* body;
}

/** Reads no more than necessary; leaving the loop cancels the stream. */
async function discard(answer: ConnectResponse): Promise<void> {
  for await (const _ of chunksOf(answer)) return;
}

function warned(response: ConnectResponse, missing: readonly string[]): ConnectResponse {
  if (missing.length === 0) return response;
  // The text contains messages from members, so characters that could end the header or the quotes are replaced.
  const text = missingAnswers(missing)
    .replace(/[^\x20-\x7e]/g, " ")
    .replace(/[\\"]/g, "\\$&");
  return { ...response, headers: { ...response.headers, warning: `299 - "${text}"` } };
}
