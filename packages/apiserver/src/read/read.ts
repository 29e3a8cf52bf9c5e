/** Reads of single objects and lists. All reads come from the cache, which contains only durable data. */
import type { Clock } from "@flotilla/base";
import { ApiError, badRequest, expired, notFound } from "@flotilla/apimachinery";
import { CompactedError } from "../store/errors.ts";
import type { Cache, CachedEntry } from "../store/cache.ts";
import type { RequestContext } from "../request/context.ts";
import type { ObjectStore } from "../clusters/objects.ts";
import type { Conversions } from "../conversion/conversions.ts";
import { listQuery, parseRevision } from "../request/options.ts";
import type { ListQuery } from "../request/options.ts";
import { keyOf, prefixOf } from "../resources/resources.ts";
import { synthesizedEntries, synthesizedEntry } from "./synthesized.ts";
import { selectionOf } from "./selection.ts";
import type { Selection } from "./selection.ts";

export interface ReadDependencies {
  cache: Cache;
  store: ObjectStore;
  clock: Clock;
  conversions: Conversions;
}

/** How long a read waits for a revision that this server has not reached yet. */
const FRESHNESS_WAIT_MS = 3000;

/** At once, unless the client requests a revision that this server has not reached yet. */
export function getObject(deps: ReadDependencies, context: RequestContext): CachedEntry | Promise<CachedEntry> {
  const { cluster, served, namespace, name = "", query } = context;
  const { source } = served.resource.kind;
  if (source) return synthesizedEntry(context, source);
  const revision = parseRevision(query.get("resourceVersion") ?? "", "get");
  const find = (): CachedEntry => {
    const { entry } = deps.store.find(cluster, served.resource, keyOf(served.resource, cluster.name, namespace, name));
    if (!entry) throw notFound(served.resource.name, name);
    return entry;
  };
  const waiting = revision === undefined ? undefined : waitFor(deps, revision, context.signal);
  return waiting ? waiting.then(find) : find();
}

export interface ListResult {
  entries: readonly CachedEntry[];
  revision: number;
  continueToken?: string;
  remaining?: number;
}

/** At once for the current state, which is what nearly every list is. */
export function listObjects(deps: ReadDependencies, context: RequestContext): ListResult | Promise<ListResult> {
  const { resource } = context.served;
  const query = listQuery(context.query, false);
  const selection = selectionOf(resource, query.labelSelector, query.fieldSelector);
  const { continueToken, resourceVersion = 0, limit } = query;
  const isCurrent = continueToken === "" && resourceVersion === 0;
  if (!isCurrent || resource.kind.source || (resource.conversion && !selection.everything))
    return listPrepared(deps, context, query, selection);
  // A list with resourceVersion 0 is answered immediately and unpaged, as by kube-apiserver's watch cache.
  const whole = query.resourceVersion === 0 ? 0 : limit;
  return page(deps, context, selection, { entries: undefined, revision: deps.cache.revision, seen: 0 }, whole);
}

/** A list that something has to be awaited for: computed or converted objects, or a certain revision. */
async function listPrepared(
  deps: ReadDependencies,
  context: RequestContext,
  { limit, continueToken, resourceVersion, match }: ListQuery,
  selection: Selection,
): Promise<ListResult> {
  const { cluster, served, namespace } = context;
  const { resource } = served;
  const { source } = resource.kind;
  if (source)
    return {
      entries: (await synthesizedEntries(context, source)).filter(
        (entry) => selection.everything || matchesEntry(selection, entry, context),
      ),
      revision: deps.cache.revision,
    };
  // Selectors read the objects in the version of the request.
  if (resource.conversion && !selection.everything)
    await deps.conversions.prepare(cluster, served, deps.store.list(cluster, resource, namespace), context.signal);
  const prefix = prefixOf(resource, cluster.name, namespace);
  if (continueToken !== "") {
    const token = decodeToken(continueToken);
    if (resourceVersion !== undefined && resourceVersion !== 0)
      throw badRequest("specifying resource version is not allowed when using continue");
    if (token.revision > 0) await deps.cache.recall(token.revision);
    const entries = token.revision < 0 ? undefined : snapshot(deps, context, token.revision, token);
    const revision = token.revision < 0 ? deps.cache.revision : token.revision;
    return page(deps, context, selection, { entries, revision, after: prefix + token.start, seen: token.seen }, limit);
  }
  if (resourceVersion !== undefined) await waitFor(deps, resourceVersion, context.signal);
  // A resourceVersion with a limit and no match means that exact revision: legacy clients page with it.
  const exact =
    resourceVersion !== undefined && resourceVersion > 0 && (match === "Exact" || (match === "" && limit > 0));
  if (exact) await deps.cache.recall(resourceVersion);
  const entries = exact ? snapshot(deps, context, resourceVersion) : undefined;
  // A list with resourceVersion 0 is answered immediately and unpaged, as by kube-apiserver's watch cache.
  const whole = resourceVersion === 0 ? 0 : limit;
  return page(
    deps,
    context,
    selection,
    { entries, revision: exact ? resourceVersion : deps.cache.revision, seen: 0 },
    whole,
  );
}

interface PageStart {
  /** All entries of the snapshot; unset pages through the current state. */
  entries: readonly CachedEntry[] | undefined;
  revision: number;
  after?: string;
  seen: number;
}

/** The matching entries after a key, up to a limit. */
function page(
  { store }: ReadDependencies,
  context: RequestContext,
  selection: Selection,
  start: PageStart,
  limit: number,
): ListResult {
  const { cluster, served, namespace } = context;
  const { after, revision, seen } = start;
  const select = (entries: readonly CachedEntry[]): readonly CachedEntry[] =>
    selection.everything ? entries : entries.filter((entry) => matchesEntry(selection, entry, context));
  const all = start.entries && (after === undefined ? start.entries : start.entries.filter(({ key }) => key > after));
  if (limit <= 0)
    return {
      entries: select(all ?? store.list(cluster, served.resource, namespace, after === undefined ? {} : { after })),
      revision,
    };

  const found = all ? select(all).slice(0, limit + 1) : collect(store, context, selection, limit + 1, after);
  const entries = found.slice(0, limit);
  const last = entries.at(-1);
  if (found.length <= limit || !last) return { entries, revision };
  const prefix = prefixOf(served.resource, cluster.name, namespace);
  const counted = seen + entries.length;
  const total = start.entries?.length ?? store.count(cluster, served.resource, namespace);
  return {
    entries,
    revision,
    continueToken: encodeToken({ revision, start: last.key.slice(prefix.length), seen: counted }),
    // The number of further matches is unknown without checking them, so a selection has no count.
    remaining: selection.everything && total > counted ? total - counted : undefined,
  };
}

const CHUNK = 500;

/** Up to `limit` matching entries, searched in chunks so that a small page of a large list stays cheap. */
function collect(
  store: ObjectStore,
  context: RequestContext,
  selection: Selection,
  limit: number,
  start: string | undefined,
): CachedEntry[] {
  const { cluster, served, namespace } = context;
  const found: CachedEntry[] = [];
  for (let after = start; ;) {
    const size = selection.everything ? limit : CHUNK;
    const chunk = store.list(cluster, served.resource, namespace, { after, limit: size });
    for (const entry of chunk) {
      if (!selection.everything && !matchesEntry(selection, entry, context)) continue;
      found.push(entry);
      if (found.length === limit) return found;
    }
    after = chunk.at(-1)?.key;
    if (chunk.length < size) return found;
  }
}

/** A name is compared with the key, so selecting one object parses only that one. */
export function matchesEntry(
  selection: Selection,
  entry: CachedEntry,
  { served }: Pick<RequestContext, "served">,
): boolean {
  if (selection.name !== undefined && !entry.key.endsWith(`/${selection.name}`)) return false;
  return selection.matches(entry, served);
}

/** The state at a revision; undefined when nothing has changed since, so that the current state can be used. */
function snapshot(
  { cache, store }: ReadDependencies,
  { cluster, served, namespace }: RequestContext,
  revision: number,
  token?: Token,
): readonly CachedEntry[] | undefined {
  if (revision >= cache.revision) return undefined;
  try {
    if (cache.eventsAfter(prefixOf(served.resource, cluster.name, namespace), revision).length === 0) return undefined;
    return store.listAt(revision, cluster, served.resource, namespace);
  } catch (error) {
    if (!(error instanceof CompactedError)) throw error;
    if (!token) throw expired("The resourceVersion for the provided list is too old.");
    const { status } = expired(TOO_OLD);
    // The rest of the list from the same key, in its current state.
    throw new ApiError({ ...status, metadata: { continue: encodeToken({ ...token, revision: -1 }) } });
  }
}

/** Undefined when the server has reached the revision. */
export function waitFor(
  deps: Pick<ReadDependencies, "cache" | "clock">,
  revision: number,
  signal: AbortSignal,
): Promise<void> | undefined {
  return revision <= deps.cache.revision ? undefined : reached(deps, revision, signal);
}

async function reached(
  { cache, clock }: Pick<ReadDependencies, "cache" | "clock">,
  revision: number,
  signal: AbortSignal,
): Promise<void> {
  const abort = new AbortController();
  const stop = (): void => abort.abort(signal.reason);
  signal.addEventListener("abort", stop, { once: true });
  const timer = clock.after(FRESHNESS_WAIT_MS, () => abort.abort(tooLargeRevision(revision, cache.revision)));
  try {
    await cache.whenAt(revision, abort.signal);
  } finally {
    timer.cancel();
    signal.removeEventListener("abort", stop);
  }
}

function tooLargeRevision(asked: number, current: number): ApiError {
  return new ApiError({
    kind: "Status",
    apiVersion: "v1",
    metadata: {},
    status: "Failure",
    message: `Timeout: Too large resource version: ${asked}, current: ${current}`,
    reason: "Timeout",
    details: {
      causes: [{ reason: "ResourceVersionTooLarge", message: "Too large resource version" }],
      retryAfterSeconds: 1,
    },
    code: 504,
  });
}

/** Where the next page starts. `seen` is the number of previous items, for remainingItemCount. */
interface Token {
  revision: number;
  start: string;
  seen: number;
}

const TOKEN_VERSION = "meta.k8s.io/v1";
const TOO_OLD =
  "The provided continue parameter is too old to display a consistent list result. You can start a new " +
  "list without the continue parameter, or use the continue token in this response to retrieve the " +
  "remainder of the results. Continuing with the provided token results in an inconsistent list - objects " +
  "that were created, modified, or deleted between the time the first chunk was returned and now may show " +
  "up in the list.";

function encodeToken({ revision, start, seen }: Token): string {
  return Buffer.from(JSON.stringify({ v: TOKEN_VERSION, rv: revision, start, n: seen })).toString("base64url");
}

function decodeToken(text: string): Token {
  const illegal = illegalAt(text);
  if (illegal !== undefined) throw badToken(`illegal base64 data at input byte ${illegal}`);
  let token: unknown;
  try {
    token = JSON.parse(Buffer.from(text, "base64url").toString());
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    throw badToken("the token was not issued by this server");
  }
  const { v, rv, start, n } = (token ?? {}) as Record<string, unknown>;
  if (v !== TOKEN_VERSION) throw badToken(`server does not recognize this encoded version ${JSON.stringify(v ?? "")}`);
  if (typeof rv !== "number" || !Number.isSafeInteger(rv) || rv === 0)
    throw badToken(`incorrect encoded start resourceVersion (version ${TOKEN_VERSION})`);
  if (typeof start !== "string" || start === "") throw badToken(`encoded start key empty (version ${TOKEN_VERSION})`);
  return { revision: rv, start, seen: typeof n === "number" && n >= 0 ? n : 0 };
}

const badToken = (why: string): ApiError => badRequest(`invalid continue token: continue key is not valid: ${why}`);

/** The position of the first character that is not unpadded base64. */
function illegalAt(text: string): number | undefined {
  const index = text.search(/[^A-Za-z0-9_-]/);
  if (index >= 0) return index;
  return text.length % 4 === 1 ? text.length - 1 : undefined;
}
