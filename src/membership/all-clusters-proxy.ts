/**
 * `clusters/*` with its proxy: one request to the API of every member. A list is the lists of all of them; an object is
 * found wherever it is, and then that cluster is asked; what is about a server and not about objects, such as
 * discovery, is answered by the hub. Always as the caller, so that nobody sees more than each cluster would show him.
 *
 * A cluster that cannot be asked is left out, and a warning says so: an answer of the others is worth more than none.
 */
import type { Cluster, ConnectHandler, ConnectRequest, ConnectResponse } from "../api/index.ts";
import { isObject, messageOf } from "../base/index.ts";
import type { Clock, DeepReadonly, JsonObject } from "../base/index.ts";
import {
  ApiError,
  badRequest,
  conflict,
  findCondition,
  methodNotAllowed,
  notFound,
  pathNotFound,
  tooLarge,
  unavailable,
} from "../machinery/index.ts";
import { targetOf } from "./proxied-target.ts";
import type { ProxiedTarget } from "./proxied-target.ts";

export interface AllClustersProxyDependencies {
  clusters(): readonly DeepReadonly<Cluster>[];
  /** A request to one member, whose name it has. */
  ask: ConnectHandler;
  /** The same request to the hub itself. */
  askHub: ConnectHandler;
  clock: Clock;
}

/** So many members are asked at the same time. */
const CONCURRENCY = 32;
/** A member that takes longer is left out: one that hangs must not hold up the answer of a thousand others. */
const PATIENCE_MS = 10_000;
/** All lists together; who wants more asks the clusters one by one. */
const MAX_LIST_BYTES = 64 * 1024 * 1024;
/** As many clusters are named in a text. */
const MAX_NAMED = 10;
const READS: ReadonlySet<string> = new Set(["GET", "HEAD"]);
/** What means something to one server alone. Lists come whole, because a place in one list is none in another. */
const OF_ONE_SERVER = [
  "limit",
  "resourceVersion",
  "resourceVersionMatch",
  "sendInitialEvents",
  "allowWatchBookmarks",
] as const;

interface Asked<T> {
  answers: { cluster: string; answer: T }[];
  /** Clusters that gave none, with the reason. */
  missing: string[];
}

export function createAllClustersProxy({ clusters, ask, askHub, clock }: AllClustersProxyDependencies): ConnectHandler {
  return async (request, signal) => {
    const target = targetOf(request.rawPath, request.query);
    if (!target) return askHub(request, signal);
    if (target.name !== undefined) return one(request, target, target.name, signal);
    if (!READS.has(request.method) || target.isWatch)
      throw methodNotAllowed(
        `${target.isWatch ? "watch" : request.method} is not supported for all clusters at once: name one`,
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
    if (holder === undefined && answers.length === 0 && missing.length > 0) throw unavailable(warningOf(missing), 0);
    if (holder === undefined) throw notFound({ group, resource }, name);
    if (second !== undefined)
      throw conflict(
        { group, resource },
        name,
        `conflict resource, exist in more than one cluster: ${some(holders, ",")}`,
      );
    return warned(await ask({ ...request, name: holder }, signal), missing);
  }

  async function list(request: ConnectRequest, { path }: ProxiedTarget, signal: AbortSignal): Promise<ConnectResponse> {
    if (request.query.get("continue"))
      throw badRequest("lists of all clusters come whole: there is nothing to continue");
    const query = new URLSearchParams(request.query);
    for (const name of OF_ONE_SERVER) query.delete(name);
    let room = MAX_LIST_BYTES;
    let refusals = 0;
    const { answers, missing } = await askAll({ ...readOf(request, path), query }, signal, async (answer) => {
      const chunks: Uint8Array[] = [];
      for await (const chunk of chunksOf(answer)) {
        room -= chunk.byteLength;
        if (room < 0)
          throw tooLarge(
            `the lists of all clusters are larger than ${MAX_LIST_BYTES} bytes: ask the clusters one by one`,
          );
        chunks.push(chunk);
      }
      if (answer.status !== 200) {
        refusals++;
        throw new Error(`it answered ${answer.status}`);
      }
      return listIn(Buffer.concat(chunks));
    });
    const [first, ...rest] = answers.map(({ answer }) => answer);
    if (!first) throw refusals > 0 || missing.length === 0 ? pathNotFound() : unavailable(warningOf(missing), 0);
    return warned(
      {
        status: 200,
        headers: { "content-type": "application/json", "cache-control": "no-cache, private" },
        body: joined(first, rest),
      },
      missing,
    );
  }

  /**
   * Asks every ready member; answers are in the order of names. What is wrong with all of them ends it, and so does the
   * caller.
   */
  async function askAll<T>(
    request: ConnectRequest,
    signal: AbortSignal,
    read: (answer: ConnectResponse) => Promise<T>,
  ): Promise<Asked<T>> {
    const all = clusters().toSorted((a, b) => (a.metadata.name < b.metadata.name ? -1 : 1));
    const found: (T | undefined)[] = Array.from({ length: all.length });
    const missing: string[] = [];
    let next = 0;
    const work = async (): Promise<void> => {
      for (let index; (index = next++) < all.length;) {
        const cluster = all[index];
        const name = cluster?.metadata.name ?? "";
        try {
          if (findCondition(cluster?.status?.conditions ?? [], "Ready")?.status !== "True")
            throw new Error("it is not ready");
          found[index] = await patiently(signal, async (until) => read(await ask({ ...request, name }, until)));
        } catch (error) {
          if (signal.aborted || (error instanceof ApiError && error.status.code === 413)) {
            next = all.length;
            throw error;
          }
          missing.push(`${name} (${messageOf(error)})`);
        }
      }
    };
    await Promise.all(Array.from({ length: Math.min(CONCURRENCY, all.length) }, work));
    return {
      answers: all.flatMap(({ metadata: { name } }, index) =>
        found[index] === undefined ? [] : [{ cluster: name, answer: found[index] }],
      ),
      missing: missing.sort(),
    };
  }

  async function patiently<T>(signal: AbortSignal, run: (until: AbortSignal) => Promise<T>): Promise<T> {
    const patience = new AbortController();
    const timer = clock.after(PATIENCE_MS, () =>
      patience.abort(new Error(`it did not answer within ${PATIENCE_MS / 1000} s`)),
    );
    try {
      return await run(AbortSignal.any([signal, patience.signal]));
    } finally {
      timer.cancel();
    }
  }
}

/**
 * What is asked of every cluster is a read, whatever follows; nothing of the request's own body or connection goes with
 * it.
 */
function readOf({ body: _body, upgrade: _upgrade, ...request }: ConnectRequest, path: string): ConnectRequest {
  return { ...request, method: "GET", path, rawPath: path, headers: { accept: "application/json" } };
}

interface List {
  /** All of it but the items. */
  envelope: JsonObject;
  /** With commas between them. */
  items: string;
}

/** Read member by member and kept as text, so that nothing ever holds or writes all lists in one go. */
function listIn(bytes: Buffer): List {
  const value: unknown = JSON.parse(bytes.toString());
  if (!isObject(value) || !Array.isArray(value.items)) throw new Error("it did not answer with a list");
  const { items, ...envelope } = value;
  return { envelope, items: JSON.stringify(items).slice(1, -1) };
}

async function* joined({ envelope, items: first }: List, rest: readonly List[]): AsyncGenerator<Uint8Array> {
  // Versions of several servers have nothing in common.
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

/** Reads no more than it has to; leaving the loop tells the other end that nobody listens. */
async function discard(answer: ConnectResponse): Promise<void> {
  for await (const _ of chunksOf(answer)) return;
}

const some = (names: readonly string[], separator: string): string =>
  `${names.slice(0, MAX_NAMED).join(separator)}${names.length > MAX_NAMED ? ` and ${names.length - MAX_NAMED} more` : ""}`;
const warningOf = (missing: readonly string[]): string => `not asked or without an answer: ${some(missing, ", ")}`;

function warned(response: ConnectResponse, missing: readonly string[]): ConnectResponse {
  if (missing.length === 0) return response;
  // The text holds words of members: nothing of it may end the header or the quotes.
  const text = warningOf(missing)
    .replace(/[^\x20-\x7e]/g, " ")
    .replace(/[\\"]/g, "\\$&");
  return { ...response, headers: { ...response.headers, warning: `299 - "${text}"` } };
}
