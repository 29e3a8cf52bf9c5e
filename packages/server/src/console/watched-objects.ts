/**
 * Some objects of one kind on the hub or on a member, kept current by an informer: it lists, replaces, watches, and
 * retries with backoff. This file adds what the console needs: a selection, a bound for members that are not trusted,
 * and whether what is shown is current, and why not.
 */
import { HUB } from "@flotilla/apimachinery";
import type { Kind, KubernetesObject } from "@flotilla/apimachinery";
import type { Clock, DeepReadonly, Log } from "@flotilla/base";
import { createClient, createProxiedTransport } from "@flotilla/client";
import type { Client, WatchEvent } from "@flotilla/client";
import { createInformers } from "@flotilla/controller-runtime";
import { memberPath } from "./member-path.ts";

export interface WatchedObjects<T extends KubernetesObject> {
  list(): DeepReadonly<T>[];
  /** How many more there are than may be held. */
  omitted(): number;
  /** Whether the list was complete once. */
  isListed(): boolean;
  /** Whether the list is complete, and changes arrive. */
  isLive(): boolean;
  /** What the last request failed with; undefined while requests succeed. */
  failure(): unknown;
  close(): void;
}

export interface WatchedObjectsOptions<T extends KubernetesObject> {
  client: Client;
  clock: Clock;
  log: Log;
  kind: Kind<T>;
  /** Unset reads the hub. */
  member?: string;
  select: { namespace?: string | undefined; labelSelector?: string; fieldSelector?: string };
  maxObjects: number;
  /** What is kept of an object: its metadata at least. */
  keep?(object: DeepReadonly<T>): DeepReadonly<T>;
  onObject?(object: DeepReadonly<T>, deleted: boolean): void;
  /** Called after changes of objects, and when what `isListed`, `isLive` or `failure` return has changed. */
  onChange(): void;
}

/** A number that is shown; beyond it, it stays as it is. */
const MAX_OMITTED = 10_000;

export function watchObjects<T extends KubernetesObject>(options: WatchedObjectsOptions<T>): WatchedObjects<T> {
  const { client, clock, kind, member, select, maxObjects, keep = (object) => object, onObject, onChange } = options;
  const held = new Set<string>();
  const omitted = new Set<string>();
  let failure: unknown;
  let isClosed = false;
  let reported = "";

  const idOf = ({ metadata: { namespace = "", name } }: DeepReadonly<KubernetesObject>): string =>
    `${namespace}/${name}`;
  function admit(id: string): boolean {
    if (held.has(id)) return true;
    if (held.size < maxObjects) {
      omitted.delete(id);
      held.add(id);
      return true;
    }
    if (omitted.size < MAX_OMITTED) omitted.add(id);
    return false;
  }
  function startList(): void {
    held.clear();
    omitted.clear();
  }
  function reportState(): void {
    if (isClosed) return;
    const state = `${isLive()} ${informer.synced} ${failure === undefined} ${omitted.size}`;
    if (state === reported) return;
    reported = state;
    onChange();
  }
  async function noting<R>(request: Promise<R>): Promise<R> {
    try {
      return await request;
    } catch (error) {
      failure = error;
      reportState();
      throw error;
    }
  }

  const reader = createClient({
    transport: createProxiedTransport({
      through: client,
      cluster: HUB,
      prefix: member === undefined ? "" : memberPath(member, ""),
      clock,
      onWatch() {
        failure = undefined;
        reportState();
      },
    }),
    fieldManager: "flotilla-ui",
  });
  const take = (event: WatchEvent<T>): WatchEvent<T>[] => {
    if (event.type === "BOOKMARK") return [event];
    const id = idOf(event.object);
    if (event.type === "DELETED") {
      omitted.delete(id);
      return held.delete(id) ? [event] : [];
    }
    return admit(id) ? [{ ...event, object: keep(event.object) }] : [];
  };
  /** Reads the selection only. The informer has one kind, so what it lists and watches is of that kind. */
  const selecting = {
    ...reader,
    async list(_kind: Kind<T>, asked: Parameters<Client["list"]>[1]) {
      if (asked.continue === undefined) startList();
      const page = await noting(reader.list(kind, { ...asked, ...select }));
      return { ...page, items: page.items.filter((object) => admit(idOf(object))).map(keep) };
    },
    async *watch(_kind: Kind<T>, asked: Parameters<Client["watch"]>[1]): AsyncGenerator<WatchEvent<T>[]> {
      if (asked.sendInitialEvents) startList();
      try {
        for await (const batch of reader.watch(kind, { ...asked, ...select })) {
          yield batch.flatMap(take);
          // The informer has taken the batch, which may have completed its list.
          reportState();
        }
      } catch (error) {
        failure = error;
        reportState();
        throw error;
      }
    },
  } as unknown as Client;
  const informers = createInformers({
    client: selecting,
    clock,
    log: quieter(options.log.with({ member: member ?? HUB })),
    scope: { cluster: member ?? HUB },
  });
  const informer = informers.of(kind);
  const isLive = (): boolean => informer.fresh && failure === undefined;
  const stop = informer.subscribe(({ object, deleted }) => {
    onObject?.(object, deleted);
    onChange();
  });
  return {
    list: () => informer.list(),
    omitted: () => omitted.size,
    isListed: () => informer.synced,
    isLive,
    failure: () => failure,
    close() {
      isClosed = true;
      stop();
      informers.close();
    },
  };
}

/** A member that is away is reported by the hub; here one line per watch that stops or works again is enough. */
const quieter = (log: Log): Log => ({ ...log, warn: log.info, with: (fields) => quieter(log.with(fields)) });
