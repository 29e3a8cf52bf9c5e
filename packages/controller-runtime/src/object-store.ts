/**
 * The cache of an informer: the shared objects themselves, by cluster, namespace and name, and in its indexes. Every
 * change costs O(indexes); nothing is copied.
 */
import type { KubernetesObject } from "@flotilla/apimachinery";
import { invariant, type DeepReadonly } from "@flotilla/base";
import type { ObjectKey } from "@flotilla/client";
import type { Lister } from "./runtime-controller.ts";

/** The slot of one object; it stays while the object changes, so that most changes do not affect the indexes. */
export interface Stored<T> {
  readonly cluster: string;
  object: DeepReadonly<T>;
  /** The number of the list that last contained it. */
  listing: number;
  /** The number of the list during or after which it was added. */
  readonly addedIn: number;
  /** What it counts in the informer's budget. */
  bytes: number;
}

export type ValuesOf<T> = (object: DeepReadonly<T>, cluster: string) => readonly string[];

interface Index<T> {
  valuesOf: ValuesOf<T>;
  filed: Map<string, Set<Stored<T>>>;
}

export class ObjectStore<T extends KubernetesObject> implements Lister<T> {
  readonly #clusters = new Map<string, Map<string, Map<string, Stored<T>>>>();
  readonly #indexes = new Map<string, Index<T>>();

  get isEmpty(): boolean {
    return this.#clusters.size === 0;
  }

  find(cluster: string, namespace: string | undefined, name: string): Stored<T> | undefined {
    return this.#clusters
      .get(cluster)
      ?.get(namespace ?? "")
      ?.get(name);
  }

  add(cluster: string, object: DeepReadonly<T>, listing: number, bytes = 0): void {
    const { namespace = "", name } = object.metadata;
    const namespaces = getOrAdd(this.#clusters, cluster, () => new Map<string, Map<string, Stored<T>>>());
    const stored: Stored<T> = { cluster, object, listing, addedIn: listing, bytes };
    getOrAdd(namespaces, namespace, () => new Map<string, Stored<T>>()).set(name, stored);
    for (const index of this.#indexes.values()) file(index, stored);
  }

  replace(stored: Stored<T>, object: DeepReadonly<T>): void {
    for (const index of this.#indexes.values()) {
      if (sameValues(index.valuesOf(stored.object, stored.cluster), index.valuesOf(object, stored.cluster))) continue;
      unfile(index, stored);
      file(index, { cluster: stored.cluster, object }, stored);
    }
    stored.object = object;
  }

  remove(stored: Stored<T>): void {
    const { namespace = "", name } = stored.object.metadata;
    for (const index of this.#indexes.values()) unfile(index, stored);
    const namespaces = this.#clusters.get(stored.cluster);
    const names = namespaces?.get(namespace);
    names?.delete(name);
    if (names?.size === 0) namespaces?.delete(namespace);
    if (namespaces?.size === 0) this.#clusters.delete(stored.cluster);
  }

  *all(): Iterable<Stored<T>> {
    for (const namespaces of this.#clusters.values()) for (const names of namespaces.values()) yield* names.values();
  }

  get({ cluster, namespace, name }: ObjectKey): DeepReadonly<T> | undefined {
    return this.find(cluster, namespace, name)?.object;
  }

  list({ cluster, namespace }: { cluster?: string; namespace?: string } = {}): DeepReadonly<T>[] {
    const result: DeepReadonly<T>[] = [];
    const clusters = cluster === undefined ? this.#clusters.values() : present(this.#clusters.get(cluster));
    for (const namespaces of clusters) {
      for (const names of namespace === undefined ? namespaces.values() : present(namespaces.get(namespace))) {
        for (const { object } of names.values()) result.push(object);
      }
    }
    return result;
  }

  by(name: string, value: string): DeepReadonly<T>[] {
    const index = this.#indexes.get(name);
    invariant(index, `the index ${name} was not added`);
    return Array.from(index.filed.get(value) ?? [], ({ object }) => object);
  }

  addIndex(name: string, valuesOf: ValuesOf<T>): void {
    invariant(!this.#indexes.has(name), `the index ${name} was added twice`);
    const index: Index<T> = { valuesOf, filed: new Map() };
    for (const stored of this.all()) file(index, stored);
    this.#indexes.set(name, index);
  }
}

/** Adds `stored` to the index under the values of `seen`, which is the object it is about to hold. */
function file<T>(index: Index<T>, seen: Pick<Stored<T>, "cluster" | "object">, stored = seen as Stored<T>): void {
  for (const value of index.valuesOf(seen.object, seen.cluster))
    getOrAdd(index.filed, value, () => new Set<Stored<T>>()).add(stored);
}

function unfile<T>(index: Index<T>, stored: Stored<T>): void {
  for (const value of index.valuesOf(stored.object, stored.cluster)) {
    const under = index.filed.get(value);
    under?.delete(stored);
    if (under?.size === 0) index.filed.delete(value);
  }
}

function sameValues(a: readonly string[], b: readonly string[]): boolean {
  return a.length === b.length && a.every((value, place) => value === b[place]);
}

function present<V>(value: V | undefined): V[] {
  return value === undefined ? [] : [value];
}

function getOrAdd<K, V>(map: Map<K, V>, key: K, make: () => V): V {
  let value = map.get(key);
  if (value === undefined) map.set(key, (value = make()));
  return value;
}
