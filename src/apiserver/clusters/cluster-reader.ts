/** Reads other objects of a cluster on behalf of plugins and actions, as the store has them now. */
import type { ClusterReader } from "../../api/index.ts";
import type { LogicalCluster } from "./clusters.ts";
import { isOfLayer } from "./layer.ts";
import type { ObjectStore } from "./objects.ts";
import { objectIn } from "../read/render.ts";
import { keyOf } from "./resources.ts";

export function createClusterReader(store: ObjectStore, cluster: LogicalCluster): ClusterReader {
  return {
    get(group, plural, namespace, name) {
      const resource = cluster.table.resource(group, plural);
      const entry = resource && store.find(cluster, resource, keyOf(resource, cluster.name, namespace, name)).entry;
      return entry && objectIn(entry, resource.storage);
    },
    mentions(group, plural, namespace, name, text) {
      const resource = cluster.table.resource(group, plural);
      const entry = resource && store.find(cluster, resource, keyOf(resource, cluster.name, namespace, name)).entry;
      if (!entry) return false;
      // What a profile brings is never parsed and would have to be encoded.
      if (isOfLayer(entry, cluster)) return true;
      return Buffer.from(entry.value.buffer, entry.value.byteOffset, entry.value.byteLength).includes(text);
    },
    list(group, plural, namespace) {
      const resource = cluster.table.resource(group, plural);
      return resource ? store.list(cluster, resource, namespace).map((entry) => objectIn(entry, resource.storage)) : [];
    },
    written(group, plural, namespace) {
      const resource = cluster.table.resource(group, plural);
      return resource ? store.written(cluster, resource, namespace).map((entry) => objectIn(entry, resource.storage)) : [];
    },
  };
}
