/**
 * Updates the status of other objects of a cluster on behalf of admission steps: a quota is charged before the object that uses
 * it is stored.
 */
import type { ClusterWriter, KindRef, KubernetesObject } from "@flotilla/apimachinery";
import type { DeepReadonly, JsonObject } from "@flotilla/base";
import { CONFLICT_MESSAGE, conflict } from "@flotilla/apimachinery";
import type { Cache } from "../store/cache.ts";
import { MAX_ATTEMPTS } from "./attempts.ts";
import type { LogicalCluster } from "./logical-cluster.ts";
import type { ObjectStore } from "./objects.ts";
import { objectIn, viewOfWritten } from "../codec/render.ts";
import { keyOf } from "../resources/resources.ts";

/** The server makes these updates for itself, so no field manager is recorded: none could ever conflict with them. */
export function createClusterWriter(store: ObjectStore, cache: Cache, cluster: LogicalCluster): ClusterWriter {
  return {
    async changeStatus<T extends KubernetesObject>(
      { group, plural }: KindRef<T>,
      namespace: string | undefined,
      name: string,
      change: (object: DeepReadonly<T>) => object | undefined,
    ) {
      const resource = cluster.table.resource(group, plural);
      if (!resource) return;
      const key = keyOf(resource, cluster.name, namespace, name);
      await cache.exclusive(key, async () => {
        for (let attempt = 1; ; attempt++) {
          const found = store.find(cluster, resource, key);
          if (!found.entry) return;
          const object = objectIn(found.entry, resource.storage);
          const status = change(object as unknown as DeepReadonly<T>) as JsonObject | undefined;
          if (status === undefined) return;
          const { resourceVersion: _, ...metadata } = object.metadata as JsonObject;
          const written = viewOfWritten(resource.storage, { ...object, metadata, status }, false);
          // Another process on the same store may have written first; then the update is computed again from the new
          // state.
          if (await store.put(cluster, found, written, { verb: "update", name: resource.name, subresource: "status" }))
            return;
          if (attempt === MAX_ATTEMPTS) throw conflict(resource.name, name, CONFLICT_MESSAGE);
        }
      });
    },
  };
}
