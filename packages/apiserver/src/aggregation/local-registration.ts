/**
 * The versions that this server itself serves, as APIServices: those of the profile are part of its layer, and those of a
 * cluster's own CustomResourceDefinitions are stored. Deleted ones come back, as in kube-apiserver.
 *
 * Reads:  what a cluster serves, its APIServices.
 * Writes: APIServices with the label `kube-aggregator.kubernetes.io/automanaged`.
 */
import { APIService, AUTOMANAGED, LOCALLY_AVAILABLE, localApiService } from "@flotilla/kubernetes";
import { formatTime, isObject } from "@flotilla/base";
import type { Clock, JsonObject } from "@flotilla/base";
import type { Housekeeping } from "../background/housekeeping.ts";
import type { ClusterRegistry } from "../clusters/clusters.ts";
import type { ObjectStore } from "../clusters/objects.ts";
import { metadataOf } from "../codec/metadata.ts";
import { textOf } from "../codec/text.ts";
import { objectIn } from "../codec/render.ts";
import { clusterOfKey, keyOf } from "../resources/resources.ts";
import { localStatus, servedVersions } from "../clusters/local-services.ts";
import { CRD_GROUP, CRD_PLURAL } from "../resources/definition.ts";
import type { CachedEntry, CacheEvent } from "../store/cache.ts";

const PREFIX = `/${APIService.group}/${APIService.plural}/`;
const PREFIXES = [PREFIX, `/${CRD_GROUP}/${CRD_PLURAL}/`];

export interface LocalRegistration {
  load(entries: readonly CachedEntry[]): void;
  observe(event: CacheEvent): void;
  /** What the cluster serves may have changed. */
  register(cluster: string): void;
}

export function createLocalRegistration(deps: {
  housekeeping: Housekeeping;
  store: ObjectStore;
  clusters: ClusterRegistry;
  clock: Clock;
}): LocalRegistration {
  const { housekeeping, store, clusters, clock } = deps;

  const register = (cluster: string): void => housekeeping.enqueue(`APIServices of ${cluster}`, () => settle(cluster));

  const settle = async (name: string): Promise<void> => {
    const cluster = clusters.get(name);
    const resource = cluster?.table.resource(APIService.group, APIService.plural);
    if (!cluster || !resource) return;
    const served = servedVersions(cluster.table);
    for (const [serviceName, { group, version, isBuiltIn }] of served) {
      const key = keyOf(resource, name, undefined, serviceName);
      if (!store.find(cluster, resource, key).entry)
        await housekeeping.create(key, localApiService(group, version, isBuiltIn));
    }
    for (const entry of store.list(cluster, resource)) {
      const object = objectIn(entry, resource.storage);
      const metadata = metadataOf(object);
      const isManaged = isObject(metadata.labels) && metadata.labels[AUTOMANAGED] === "true";
      if (isManaged && !served.has(textOf(metadata.name)))
        await housekeeping.remove(entry.key, textOf(metadata.uid), "Background");
      else if (!isMarkedLocal(object))
        await housekeeping.rewrite(entry.key, "status", (current) =>
          isMarkedLocal(current) ? current : { ...current, status: localStatus(formatTime(clock.now())) },
        );
    }
  };

  return {
    load(entries) {
      // Until a cluster has definitions or APIServices of its own, its layer has all of them.
      const own = new Set<string>();
      for (const { key } of entries) if (PREFIXES.some((prefix) => key.startsWith(prefix))) own.add(clusterOfKey(key));
      for (const cluster of own) register(cluster);
    },
    register,
    observe({ entry, previous }) {
      const { key } = entry ?? previous ?? { key: "" };
      if (key.startsWith(PREFIX)) register(clusterOfKey(key));
    },
  };
}

/** Whether nothing is to be written: it is available, or another server answers for it. */
function isMarkedLocal({ spec, status }: JsonObject): boolean {
  if (isObject(spec) && spec.service !== undefined) return true;
  const conditions = isObject(status) && Array.isArray(status.conditions) ? status.conditions : [];
  return conditions.some((condition) => isObject(condition) && condition.reason === LOCALLY_AVAILABLE.reason);
}
