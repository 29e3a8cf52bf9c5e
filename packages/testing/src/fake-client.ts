/**
 * A `Client` with a small API server inside, for tests of components on top of the client: optimistic concurrency,
 * generation, finalizers, watches over one or all logical clusters with streaming lists, resumption and compaction. It
 * has no schemas, defaults or admission; for those use the in-process API server. Unsupported requests are rejected.
 *
 * Tests inject faults: lost connections, compacted history, kinds that are not served, failing requests.
 */
import { notImplemented, pathNotFound } from "@flotilla/apimachinery";
import type { Kind, KubernetesObject } from "@flotilla/apimachinery";
import { createFakeClock, isObject, setOwn, type Clock, type DeepReadonly, type Json } from "@flotilla/base";
import { UnreachableError, type Client, type List, type WatchEvent, type WatchOptions } from "@flotilla/client";
import { createFakeStore, resourceOf } from "./fake-store.ts";
import type { FakeWrite, ReadonlyObject, Verb } from "./fake-store.ts";
import { createFakeWatches } from "./fake-watches.ts";

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

export function createFakeClient(options: { clock?: Clock } = {}): FakeClient {
  const watches = createFakeWatches();
  const store = createFakeStore(options.clock ?? createFakeClock(), watches.publish);
  const counts = new Map<Verb, number>();
  const failures = new Map<Verb, Error[]>();
  const unserved = new Set<string>();
  let inFlight = 0;
  let isDown = false;
  let streamingRefusal: Error | undefined;

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
  async function* watch(kind: Kind, options: WatchOptions): AsyncGenerator<WatchEvent<KubernetesObject>[]> {
    if (options.labelSelector || options.fieldSelector) throw notImplemented("selectors in the fake client");
    await turn();
    if (options.signal.aborted) return;
    admit("watch", kind);
    if (options.sendInitialEvents && streamingRefusal) throw streamingRefusal;
    yield* watches.follow(kind, options, store);
  }

  return {
    writes: store.writes,
    count: (verb) => counts.get(verb) ?? 0,
    isQuiet: () => inFlight === 0 && watches.isQuiet(),
    disconnect({ down = false } = {}) {
      isDown = down;
      watches.fail(new UnreachableError("the connection was lost"));
    },
    up: () => void (isDown = false),
    get isDown() {
      return isDown;
    },
    compact: () => watches.compact(store.revision),
    setServed: (kind, served) => void (served ? unserved.delete(resourceOf(kind)) : unserved.add(resourceOf(kind))),
    failNext: (verb, ...errors) => void failures.set(verb, [...(failures.get(verb) ?? []), ...errors]),
    refuseStreamingLists: (error) => void (streamingRefusal = error),

    get: (kind, key, options) => request("get", kind, options, () => typed(store.get(kind, key))),
    list<T extends KubernetesObject>(kind: Kind<T>, options: Parameters<Client["list"]>[1]): Promise<List<T>> {
      return request("list", kind, options, () => {
        if (options.labelSelector || options.fieldSelector) throw notImplemented("selectors in the fake client");
        const all = store.list(kind, options.cluster, options.namespace);
        const start = Number(options.continue ?? 0);
        const end = options.limit ? start + options.limit : all.length;
        const items = all.slice(start, end).map(({ object }) => typed<T>(object));
        return { items, resourceVersion: String(store.revision), continue: end < all.length ? String(end) : undefined };
      });
    },
    watch: <T extends KubernetesObject>(kind: Kind<T>, options: WatchOptions) =>
      watch(kind, options) as unknown as AsyncIterable<WatchEvent<T>[]>,
    create: (kind, cluster, object, options) =>
      request("create", kind, options, () => typed(store.create(kind, cluster, untyped(object)))),
    update: (kind, cluster, object, options) =>
      request("update", kind, options, () => typed(store.update({ verb: "update", kind, cluster }, untyped(object)))),
    updateStatus: (kind, cluster, object, options) =>
      request("updateStatus", kind, options, () =>
        typed(store.updateStatus({ verb: "updateStatus", kind, cluster }, untyped(object))),
      ),
    patch: (kind, key, patch, options) =>
      request("patch", kind, options, () => {
        if (options.type !== "merge") throw notImplemented(`${options.type} patches in the fake client`);
        const patched = mergePatch(store.get(kind, key) as unknown as Json, patch) as unknown as ReadonlyObject;
        const target = { verb: "patch", kind, cluster: key.cluster } as const;
        return typed(
          options.subresource === "status" ? store.updateStatus(target, patched) : store.update(target, patched),
        );
      }),
    apply: () => Promise.reject(notImplemented("server-side apply in the fake client")),
    delete: (kind, key, options) =>
      request("delete", kind, options, () => store.delete(kind, key, options?.preconditions)),
    deleteCollection: (kind, options) =>
      request("delete", kind, options, () => {
        for (const { cluster, object } of store.list(kind, options.cluster, options.namespace))
          store.delete(kind, { cluster, ...object.metadata });
      }),
    raw: () => Promise.reject(notImplemented("raw requests in the fake client")),
  };
}

// The kind determines the type of the objects in its table.
const typed = <T>(object: ReadonlyObject): DeepReadonly<T> => object as unknown as DeepReadonly<T>;
const untyped = (object: unknown): ReadonlyObject => object as ReadonlyObject;

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
