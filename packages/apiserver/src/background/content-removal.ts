/** Deletes the objects of a namespace, or all objects of a kind. */
import type { JsonObject } from "@flotilla/base";
import type { LogicalCluster } from "../clusters/logical-cluster.ts";
import type { ObjectStore } from "../clusters/objects.ts";
import { metadataOf } from "../codec/metadata.ts";
import { textOf } from "../codec/text.ts";
import type { Resource } from "../resources/resources.ts";
import type { CachedEntry } from "../store/cache.ts";
import { concurrently } from "../write/concurrently.ts";
import type { Housekeeping } from "./housekeeping.ts";
import { RBAC_GROUP } from "@flotilla/kubernetes";

/** An object that waits for its finalizers or for its kubelet. */
export interface Remaining {
  resource: Resource;
  object: JsonObject;
}

export interface ContentRemoval {
  /** Deletes everything in a namespace and returns what is left. */
  removeNamespace(cluster: LogicalCluster, namespace: string): Promise<Remaining[]>;
  removeKind(cluster: LogicalCluster, resource: Resource): Promise<void>;
}

export function createContentRemoval({
  housekeeping,
  store,
}: {
  housekeeping: Housekeeping;
  store: ObjectStore;
}): ContentRemoval {
  const removeAll = async (cluster: LogicalCluster, resource: Resource, namespace: string): Promise<Remaining[]> => {
    const entries = store.list(cluster, resource, namespace);
    await concurrently(entries, housekeeping.signal, removeEntry);
    return entries.flatMap(({ key }) => housekeeping.find(key) ?? []).map(({ object }) => ({ resource, object }));
  };

  const removeEntry = async ({ key }: CachedEntry): Promise<void> => {
    const found = housekeeping.find(key);
    if (!found) return;
    const metadata = metadataOf(found.object);
    if (metadata.deletionTimestamp === undefined) await housekeeping.remove(key, textOf(metadata.uid), "Background");
  };

  return {
    async removeNamespace(cluster, namespace) {
      const pods = cluster.table.resource("", "pods");
      // Objects that a pod uses stay until the pod is deleted.
      if (pods) {
        const remaining = await removeAll(cluster, pods, namespace);
        if (remaining.length > 0) return remaining;
      }
      // Roles and bindings are deleted last: a client that has to remove a finalizer, such as the agent of a member, may
      // need them.
      const { rights = [], others = [] } = Object.groupBy(
        cluster.table.resources.filter((resource) => resource.namespaced && resource !== pods),
        ({ name }) => (name.group === RBAC_GROUP ? "rights" : "others"),
      );
      for (const resources of [others, rights]) {
        const remaining: Remaining[] = [];
        for (const resource of resources) remaining.push(...(await removeAll(cluster, resource, namespace)));
        if (remaining.length > 0) return remaining;
      }
      return [];
    },
    async removeKind(cluster, resource) {
      await concurrently(store.list(cluster, resource), housekeeping.signal, removeEntry);
    },
  };
}
