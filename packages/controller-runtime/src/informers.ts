/**
 * The informers shared by the controllers of one process: one per kind and version, opened on first use. Kinds that users
 * define come and go: an informer of a kind that is no longer served is closed when nothing subscribes to it.
 */
import { formatApiVersion, type Kind, type KubernetesObject } from "@flotilla/apimachinery";
import { invariant, systemRandom, type Clock, type DeepReadonly, type Log, type Random } from "@flotilla/base";
import type { Client } from "@flotilla/client";
import type { Informer, InformerLifetime, Informers } from "./runtime-controller.ts";
import type { InformerBudget } from "./informer-budget.ts";
import { SharedInformer, type Scope } from "./informer.ts";

export interface InformersOptions {
  client: Client;
  clock: Clock;
  log: Log;
  /** One logical cluster, or `*` for all of this process in one watch, or for those that match `where`. */
  scope: Scope;
  random?: Random;
  /** Limits what these informers hold. Unset trusts the server. */
  budget?: InformerBudget;
}

export interface SharedInformers extends Informers {
  /** Resolves when every open informer has its initial list; kinds that the server does not serve are excluded. */
  whenSynced(signal: AbortSignal): Promise<void>;
  /** Lists every kind again. Resolves when all informers have everything that was written before the call. */
  refresh(signal: AbortSignal): Promise<void>;
  /** True when no list is in progress. */
  isQuiet(): boolean;
  /** The kinds with a list in progress. */
  busy(): string[];
  /** The kinds that were requested at least this long ago and have had no response from the server yet. */
  unanswered(sinceMs: number): string[];
  /** Passes the result of our own write to the informer of this kind, if there is one for this cluster. */
  note(kind: Kind, cluster: string, object: DeepReadonly<KubernetesObject>): void;
  /** Ends all watches. */
  close(): void;
}

export function createInformers(options: InformersOptions): SharedInformers {
  const { client, clock, log, scope, budget, random = systemRandom } = options;
  const closing = new AbortController();
  const opened = new Map<string, SharedInformer<KubernetesObject>>();
  /** The kinds whose informers stay open. */
  const lasting = new Set<string>();
  /** Those that began a list and were listing when last asked. */
  const listing = new Set<SharedInformer<KubernetesObject>>();
  const idOf = (kind: Kind): string => `${formatApiVersion(kind.group, kind.storageVersion)}/${kind.plural}`;
  const covers = (cluster: string): boolean =>
    scope.cluster === "*" ? (scope.where?.(cluster) ?? true) : scope.cluster === cluster;

  function open(kind: Kind, id: string): SharedInformer<KubernetesObject> {
    const ends = new AbortController();
    const informer = new SharedInformer<KubernetesObject>({
      kind,
      client,
      clock,
      random,
      log,
      scope,
      budget,
      signal: AbortSignal.any([closing.signal, ends.signal]),
      onListing: (started) => listing.add(started),
      onUnserved(unserved) {
        if (lasting.has(id) || unserved.isObserved) return;
        opened.delete(id);
        listing.delete(unserved);
        ends.abort();
      },
    });
    opened.set(id, informer);
    return informer;
  }

  return {
    of<T extends KubernetesObject>(kind: Kind<T>, lifetime: InformerLifetime = "always"): Informer<T> {
      invariant(!closing.signal.aborted, `${kind.plural} were requested after the informers were closed`);
      const id = idOf(kind);
      if (lifetime === "always") lasting.add(id);
      const informer = opened.get(id) ?? open(kind, id);
      // The kind determines the type: an informer opened for it holds objects of that type.
      return informer as unknown as Informer<T>;
    },
    async whenSynced(signal) {
      signal.throwIfAborted();
      // Every controller waits here for every kind: one that has answered needs no listener.
      for (const informer of opened.values()) if (!informer.isAnswered) await informer.whenAnswered(signal);
    },
    async refresh(signal) {
      await Promise.all(Array.from(opened.values(), (informer) => informer.refresh(signal)));
    },
    isQuiet() {
      for (const informer of listing) {
        if (!informer.isQuiet()) return false;
        listing.delete(informer);
      }
      return true;
    },
    busy: () =>
      Array.from(
        opened.values().filter((informer) => !informer.isQuiet()),
        ({ kind }) => kind.plural,
      ),
    unanswered(sinceMs) {
      const kinds: string[] = [];
      for (const { isAnswered, openedMs, kind } of opened.values())
        if (!isAnswered && clock.now() - openedMs >= sinceMs) kinds.push(kind.plural);
      return kinds;
    },
    note(kind, cluster, object) {
      if (covers(cluster)) opened.get(idOf(kind))?.note(cluster, object);
    },
    close: () => closing.abort(),
  };
}
