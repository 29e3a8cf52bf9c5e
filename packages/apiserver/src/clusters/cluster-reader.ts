/** Reads other objects of a cluster on behalf of admission steps and actions, in their currently stored state. */
import type { ClusterReader, Kind, KindRef, KubernetesObject } from "@flotilla/apimachinery";
import type { DeepReadonly } from "@flotilla/base";
import type { CachedEntry } from "../store/cache.ts";
import type { LogicalCluster } from "./logical-cluster.ts";
import { isOfLayer } from "./layer.ts";
import type { ObjectStore } from "./objects.ts";
import { objectIn } from "../codec/render.ts";
import { keyOf, memoized } from "../resources/resources.ts";
import type { Resource, ResourceTable } from "../resources/resources.ts";

export function createClusterReader(store: ObjectStore, cluster: LogicalCluster): ClusterReader {
  return new StoreReader(store, cluster);
}

/** A class, because every write creates one. */
class StoreReader implements ClusterReader {
  readonly #store: ObjectStore;
  readonly #cluster: LogicalCluster;

  constructor(store: ObjectStore, cluster: LogicalCluster) {
    this.#store = store;
    this.#cluster = cluster;
  }

  get<T extends KubernetesObject>(
    { group, plural }: KindRef<T>,
    namespace: string | undefined,
    name: string,
  ): DeepReadonly<T> | undefined {
    const resource = this.#cluster.table.resource(group, plural);
    const entry = resource && this.#find(resource, namespace, name);
    return entry && asKind<T>(entry, resource);
  }

  mentions(
    { group, plural }: Pick<Kind, "group" | "plural">,
    namespace: string | undefined,
    name: string,
    text: string,
  ): boolean {
    const resource = this.#cluster.table.resource(group, plural);
    const entry = resource && this.#find(resource, namespace, name);
    if (!entry) return false;
    // Objects of a profile are never parsed and would have to be encoded.
    if (isOfLayer(entry, this.#cluster)) return true;
    return Buffer.from(entry.value.buffer, entry.value.byteOffset, entry.value.byteLength).includes(text);
  }

  list<T extends KubernetesObject>({ group, plural }: KindRef<T>, namespace?: string): DeepReadonly<T>[] {
    const resource = this.#cluster.table.resource(group, plural);
    return resource
      ? this.#store.list(this.#cluster, resource, namespace).map((entry) => asKind<T>(entry, resource))
      : [];
  }

  written<T extends KubernetesObject>({ group, plural }: KindRef<T>, namespace?: string): DeepReadonly<T>[] {
    const resource = this.#cluster.table.resource(group, plural);
    return resource
      ? this.#store.written(this.#cluster, resource, namespace).map((entry) => asKind<T>(entry, resource))
      : [];
  }

  versions(group: string, kind: string): readonly string[] {
    return servedVersions(this.#cluster.table).get(`${group}/${kind}`) ?? [];
  }

  *kinds(): Generator<{ group: string; kind: string; plural: string }> {
    for (const { kind } of this.#cluster.table.resources)
      yield { group: kind.group, kind: kind.kind, plural: kind.plural };
  }

  #find(resource: Resource, namespace: string | undefined, name: string): CachedEntry | undefined {
    return this.#store.find(this.#cluster, resource, keyOf(resource, this.#cluster.name, namespace, name)).entry;
  }
}

/** The one place where stored JSON gets the type of its kind: admission has checked it. */
function asKind<T>(entry: CachedEntry, { storage }: Resource): DeepReadonly<T> {
  return objectIn(entry, storage) as unknown as DeepReadonly<T>;
}

/** By group and kind: the versions that clients can use. */
function servedVersions(table: ResourceTable): ReadonlyMap<string, readonly string[]> {
  return memoized(
    table,
    "versions of kinds",
    () =>
      new Map(
        table.resources.map(({ name, kind, versions }) => [
          `${name.group}/${kind.kind}`,
          versions.map(({ version }) => version),
        ]),
      ),
  );
}
