/** Reads other objects of a cluster on behalf of plugins and actions, in their currently stored state. */
import type { ClusterReader } from "../../api/index.ts";
import type { DeepReadonly, JsonObject } from "../../base/index.ts";
import type { CachedEntry } from "../../store/index.ts";
import type { LogicalCluster } from "./clusters.ts";
import { isOfLayer } from "./layer.ts";
import type { ObjectStore } from "./objects.ts";
import { objectIn } from "../read/render.ts";
import { keyOf } from "./resources.ts";
import type { Resource } from "./resources.ts";

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

  get(
    group: string,
    plural: string,
    namespace: string | undefined,
    name: string,
  ): DeepReadonly<JsonObject> | undefined {
    const resource = this.#cluster.table.resource(group, plural);
    const entry = resource && this.#find(resource, namespace, name);
    return entry && objectIn(entry, resource.storage);
  }

  mentions(group: string, plural: string, namespace: string | undefined, name: string, text: string): boolean {
    const resource = this.#cluster.table.resource(group, plural);
    const entry = resource && this.#find(resource, namespace, name);
    if (!entry) return false;
    // Objects of a profile are never parsed and would have to be encoded.
    if (isOfLayer(entry, this.#cluster)) return true;
    return Buffer.from(entry.value.buffer, entry.value.byteOffset, entry.value.byteLength).includes(text);
  }

  list(group: string, plural: string, namespace?: string): DeepReadonly<JsonObject>[] {
    const resource = this.#cluster.table.resource(group, plural);
    return resource
      ? this.#store.list(this.#cluster, resource, namespace).map((entry) => objectIn(entry, resource.storage))
      : [];
  }

  written(group: string, plural: string, namespace?: string): DeepReadonly<JsonObject>[] {
    const resource = this.#cluster.table.resource(group, plural);
    return resource
      ? this.#store.written(this.#cluster, resource, namespace).map((entry) => objectIn(entry, resource.storage))
      : [];
  }

  #find(resource: Resource, namespace: string | undefined, name: string): CachedEntry | undefined {
    return this.#store.find(this.#cluster, resource, keyOf(resource, this.#cluster.name, namespace, name)).entry;
  }
}
