/**
 * A `Client` with a small API server inside, for tests of components on top of the client: optimistic concurrency,
 * generation, finalizers, watches over one or all logical clusters with streaming lists, resumption and compaction. It
 * has no schemas, defaults or admission; for those use the in-process API server. Unsupported requests are rejected.
 *
 * Tests inject faults: lost connections, compacted history, kinds that are not served, failing requests.
 */
import {
  alreadyExists,
  conflict,
  CONFLICT_MESSAGE,
  expired,
  notFound,
  notImplemented,
  pathNotFound,
} from "@flotilla/apimachinery";
import type { Kind, KubernetesObject, ResourceName } from "@flotilla/apimachinery";
import {
  copy,
  createFakeClock,
  deepFreeze,
  equalJson,
  formatTime,
  isObject,
  setOwn,
  type Clock,
  type DeepReadonly,
  type Json,
} from "@flotilla/base";
import {
  UnreachableError,
  type Client,
  type List,
  type ObjectKey,
  type WatchEvent,
  type WatchOptions,
} from "@flotilla/client";

type Verb = "get" | "list" | "watch" | "create" | "update" | "updateStatus" | "patch" | "delete";

/** A write that was applied. */
interface FakeWrite {
  verb: Verb;
  kind: string;
  /** `hub/shop/web` */
  id: string;
}

export interface FakeClient extends Client {
  /** Every write that changed something, in order. */
  readonly writes: readonly FakeWrite[];
  /** The number of requests of a verb, including rejected ones. */
  count(verb: Verb): number;
  /** Every watcher is up to date, and no request is in flight. */
  isQuiet(): boolean;
  /** Ends all watches like a lost connection; with `down` new requests fail too, until `up`. */
  disconnect(options?: { down?: boolean }): void;
  up(): void;
  readonly isDown: boolean;
  /** Watches can no longer resume. */
  compact(): void;
  /** Whether requests for a kind are answered with 404. */
  setServed(kind: Kind, served: boolean): void;
  /** The next requests of this verb fail, one per error. */
  failNext(verb: Verb, ...errors: Error[]): void;
  /** Rejects streaming lists, like a server without them. */
  refuseStreamingLists(error: Error): void;
}

interface Change {
  revision: number;
  resource: string;
  event: WatchEvent<KubernetesObject> & { cluster: string };
}

interface Watcher {
  resource: string;
  options: WatchOptions;
  pending: WatchEvent<KubernetesObject>[];
  wake(): void;
  failure?: Error;
}

export function createFakeClient(options: { clock?: Clock } = {}): FakeClient {
  const clock = options.clock ?? createFakeClock();
  const tables = new Map<string, Map<string, { cluster: string; object: DeepReadonly<KubernetesObject> }>>();
  const watchers = new Set<Watcher>();
  const history: Change[] = [];
  const writes: FakeWrite[] = [];
  const counts = new Map<Verb, number>();
  const failures = new Map<Verb, Error[]>();
  const unserved = new Set<string>();
  let revision = 0;
  let uids = 0;
  let compacted = 0;
  let inFlight = 0;
  let isDown = false;
  let streamingRefusal: Error | undefined;

  const named = ({ group, plural }: Kind): ResourceName => ({ group, resource: plural });
  const tableOf = (kind: Kind): Map<string, { cluster: string; object: DeepReadonly<KubernetesObject> }> => {
    const resource = resourceOf(kind);
    let table = tables.get(resource);
    if (!table) tables.set(resource, (table = new Map()));
    return table;
  };

  const admit = (verb: Verb, kind: Kind): void => {
    counts.set(verb, (counts.get(verb) ?? 0) + 1);
    if (isDown) throw new UnreachableError("the fake server is down");
    const failure = failures.get(verb)?.shift();
    if (failure) throw failure;
    if (unserved.has(resourceOf(kind))) throw pathNotFound();
  };
  /** A request: nothing happens in the caller's tick, and the response takes another one. */
  const request = async <R>(
    verb: Verb,
    kind: Kind,
    options: { signal?: AbortSignal; dryRun?: boolean } | undefined,
    answer: () => R,
  ): Promise<R> => {
    options?.signal?.throwIfAborted();
    if (options?.dryRun) throw notImplemented("dry runs in the fake client");
    inFlight++;
    try {
      await turn();
      admit(verb, kind);
      return answer();
    } finally {
      inFlight--;
    }
  };

  const emit = (
    kind: Kind,
    type: "ADDED" | "MODIFIED" | "DELETED",
    cluster: string,
    object: DeepReadonly<KubernetesObject>,
  ): void => {
    const change: Change = { revision, resource: resourceOf(kind), event: { type, cluster, object } };
    history.push(change);
    for (const watcher of watchers) if (sees(watcher, change)) offer(watcher, change.event);
  };
  /** Stores the next version, or removes the object if it is being deleted and has no finalizers. */
  const commit = (
    verb: Verb,
    kind: Kind,
    cluster: string,
    next: KubernetesObject,
    current?: DeepReadonly<KubernetesObject>,
  ): DeepReadonly<KubernetesObject> => {
    if (current && equalJson(next, current)) return current;
    next.metadata.resourceVersion = String(++revision);
    const object = deepFreeze(next);
    const id = idOf({ cluster, ...next.metadata });
    const goes = next.metadata.deletionTimestamp !== undefined && !next.metadata.finalizers?.length;
    if (goes) tableOf(kind).delete(id);
    else tableOf(kind).set(id, { cluster, object });
    writes.push({ verb, kind: kind.kind, id });
    emit(kind, goes ? "DELETED" : current ? "MODIFIED" : "ADDED", cluster, object);
    return object;
  };
  const currentOf = (kind: Kind, key: ObjectKey): DeepReadonly<KubernetesObject> => {
    const stored = tableOf(kind).get(idOf(key));
    if (!stored) throw notFound(named(kind), key.name);
    return stored.object;
  };
  const write = (
    verb: Verb,
    kind: Kind,
    cluster: string,
    sent: DeepReadonly<KubernetesObject>,
    status: boolean,
  ): DeepReadonly<KubernetesObject> => {
    const current = currentOf(kind, { cluster, ...sent.metadata });
    const { resourceVersion, uid } = sent.metadata;
    if (
      (resourceVersion && resourceVersion !== current.metadata.resourceVersion) ||
      (uid && uid !== current.metadata.uid)
    )
      throw conflict(named(kind), sent.metadata.name, CONFLICT_MESSAGE);
    const next: Record<string, unknown> = copy(
      status
        ? { ...current, status: statusOf(sent) }
        : { ...sent, status: kind.subresources.status ? statusOf(current) : undefined },
    );
    if (next.status === undefined) delete next.status;
    const metadata = copy(
      status
        ? current.metadata
        : {
            ...current.metadata,
            ...sent.metadata,
            finalizers: sent.metadata.finalizers,
            labels: sent.metadata.labels,
            annotations: sent.metadata.annotations,
          },
    );
    for (const field of ["finalizers", "labels", "annotations"] as const)
      if (metadata[field] === undefined) delete metadata[field];
    metadata.resourceVersion = current.metadata.resourceVersion;
    const hasNewSpec = kind.hasGeneration && !equalJson(next.spec, (current as { spec?: unknown }).spec);
    if (hasNewSpec) metadata.generation = (current.metadata.generation ?? 1) + 1;
    return commit(verb, kind, cluster, { ...(next as unknown as KubernetesObject), metadata }, current);
  };
  const remove = (kind: Kind, key: ObjectKey, preconditions?: { uid?: string; resourceVersion?: string }): void => {
    const current = currentOf(kind, key);
    for (const field of ["uid", "resourceVersion"] as const) {
      if (preconditions?.[field] && preconditions[field] !== current.metadata[field])
        throw conflict(named(kind), key.name, `the precondition on ${field} failed`);
    }
    const next = copy(current);
    next.metadata.deletionTimestamp ??= formatTime(clock.now());
    commit("delete", kind, key.cluster, next, current);
  };
  const listed = (
    kind: Kind,
    cluster: string,
    namespace?: string,
  ): { cluster: string; object: DeepReadonly<KubernetesObject> }[] =>
    [...tableOf(kind).values()].filter(
      (item) =>
        (cluster === "*" || item.cluster === cluster) &&
        (namespace === undefined || item.object.metadata.namespace === namespace),
    );

  async function* follow(kind: Kind, options: WatchOptions): AsyncGenerator<WatchEvent<KubernetesObject>[]> {
    if (options.labelSelector || options.fieldSelector) throw notImplemented("selectors in the fake client");
    await turn();
    if (options.signal.aborted) return;
    admit("watch", kind);
    if (options.sendInitialEvents && streamingRefusal) throw streamingRefusal;
    let woken = Promise.withResolvers<void>();
    const watcher: Watcher = { resource: resourceOf(kind), options, pending: [], wake: () => woken.resolve() };
    if (options.resourceVersion === undefined) {
      for (const { cluster, object } of listed(kind, options.cluster, options.namespace))
        watcher.pending.push({ type: "ADDED", cluster, object });
      if (options.sendInitialEvents)
        watcher.pending.push({ type: "BOOKMARK", resourceVersion: String(revision), initialEventsEnd: true });
    } else {
      const after = Number(options.resourceVersion);
      if (after < compacted) throw expired(`too old resource version: ${after} (${compacted})`);
      for (const change of history)
        if (change.revision > after && sees(watcher, change)) watcher.pending.push(change.event);
    }
    watchers.add(watcher);
    options.signal.addEventListener("abort", watcher.wake, { once: true });
    try {
      while (!options.signal.aborted) {
        if (watcher.failure) throw watcher.failure;
        const { pending } = watcher;
        watcher.pending = [];
        if (pending.length) yield pending;
        else {
          await woken.promise;
          woken = Promise.withResolvers();
        }
      }
    } finally {
      watchers.delete(watcher);
      options.signal.removeEventListener("abort", watcher.wake);
    }
  }

  // The kind determines the type of the objects in its table.
  const typed = <T>(object: DeepReadonly<KubernetesObject>): DeepReadonly<T> => object as unknown as DeepReadonly<T>;
  return {
    writes,
    count: (verb) => counts.get(verb) ?? 0,
    isQuiet: () => inFlight === 0 && watchers.values().every(({ pending }) => pending.length === 0),
    disconnect({ down = false } = {}) {
      isDown = down;
      for (const watcher of watchers) {
        watcher.failure = new UnreachableError("the connection was lost");
        watcher.wake();
      }
    },
    up: () => void (isDown = false),
    get isDown() {
      return isDown;
    },
    compact: () => void (compacted = revision),
    setServed: (kind, served) => void (served ? unserved.delete(resourceOf(kind)) : unserved.add(resourceOf(kind))),
    failNext: (verb, ...errors) => void failures.set(verb, [...(failures.get(verb) ?? []), ...errors]),
    refuseStreamingLists: (error) => void (streamingRefusal = error),

    get: (kind, key, options) => request("get", kind, options, () => typed(currentOf(kind, key))),
    list<T extends KubernetesObject>(kind: Kind<T>, options: Parameters<Client["list"]>[1]): Promise<List<T>> {
      return request("list", kind, options, () => {
        if (options.labelSelector || options.fieldSelector) throw notImplemented("selectors in the fake client");
        const all = listed(kind, options.cluster, options.namespace);
        const start = Number(options.continue ?? 0);
        const end = options.limit ? start + options.limit : all.length;
        const items = all.slice(start, end).map(({ object }) => typed<T>(object));
        return { items, resourceVersion: String(revision), continue: end < all.length ? String(end) : undefined };
      });
    },
    watch: <T extends KubernetesObject>(kind: Kind<T>, options: WatchOptions) =>
      follow(kind, options) as unknown as AsyncIterable<WatchEvent<T>[]>,
    create: (kind, cluster, object, options) =>
      request("create", kind, options, () => {
        const { metadata } = object;
        if (tableOf(kind).has(idOf({ cluster, ...metadata }))) throw alreadyExists(named(kind), metadata.name);
        const next = copy<KubernetesObject>(object as unknown as KubernetesObject) as KubernetesObject & {
          status?: unknown;
        };
        if (kind.subresources.status) delete next.status;
        next.metadata = {
          ...next.metadata,
          uid: `uid-${++uids}`,
          creationTimestamp: formatTime(clock.now()),
          ...(kind.hasGeneration && { generation: 1 }),
        };
        return typed(commit("create", kind, cluster, next));
      }),
    update: (kind, cluster, object, options) =>
      request("update", kind, options, () =>
        typed(write("update", kind, cluster, object as unknown as DeepReadonly<KubernetesObject>, false)),
      ),
    updateStatus: (kind, cluster, object, options) =>
      request("updateStatus", kind, options, () =>
        typed(write("updateStatus", kind, cluster, object as unknown as DeepReadonly<KubernetesObject>, true)),
      ),
    patch: (kind, key, patch, options) =>
      request("patch", kind, options, () => {
        if (options.type !== "merge") throw notImplemented(`${options.type} patches in the fake client`);
        const patched = mergePatch(currentOf(kind, key) as unknown as Json, patch) as unknown as KubernetesObject;
        return typed(
          write(
            "patch",
            kind,
            key.cluster,
            patched as DeepReadonly<KubernetesObject>,
            options.subresource === "status",
          ),
        );
      }),
    apply: () => Promise.reject(notImplemented("server-side apply in the fake client")),
    delete: (kind, key, options) => request("delete", kind, options, () => remove(kind, key, options?.preconditions)),
    deleteCollection: (kind, options) =>
      request("delete", kind, options, () => {
        for (const { cluster, object } of listed(kind, options.cluster, options.namespace))
          remove(kind, { cluster, ...object.metadata });
      }),
    raw: () => Promise.reject(notImplemented("raw requests in the fake client")),
  };
}

function resourceOf({ group, plural }: Kind): string {
  return `${plural}.${group}`;
}

function idOf({ cluster, namespace = "", name }: ObjectKey): string {
  return `${cluster}/${namespace}/${name}`;
}

function sees({ resource, options }: Watcher, change: Change): boolean {
  const { event } = change;
  return (
    resource === change.resource &&
    (options.cluster === "*" || options.cluster === event.cluster) &&
    (options.namespace === undefined ||
      (event.type !== "BOOKMARK" && options.namespace === event.object.metadata.namespace))
  );
}

function offer(watcher: Watcher, event: WatchEvent<KubernetesObject>): void {
  watcher.pending.push(event);
  watcher.wake();
}

function statusOf(object: object): unknown {
  return (object as { status?: unknown }).status;
}

function mergePatch(target: Json, patch: Json): Json {
  if (!isObject(patch)) return patch;
  const result: Record<string, Json> = isObject(target) ? { ...target } : {};
  for (const [key, value] of Object.entries(patch)) {
    if (value === null) delete result[key];
    else setOwn(result, key, mergePatch(Object.hasOwn(result, key) ? (result[key] ?? null) : null, value));
  }
  return result;
}

function turn(): Promise<void> {
  return new Promise((resolve) => void setImmediate(resolve));
}
