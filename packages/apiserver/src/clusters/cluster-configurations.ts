/**
 * What every logical cluster has configured, from its stored objects. A change takes effect shortly after it is written,
 * as in kube-apiserver. A cluster without such objects costs a lookup in a map.
 */
import type { KindRef, KubernetesObject } from "@flotilla/apimachinery";
import type { DeepReadonly } from "@flotilla/base";
import type { ClusterRegistry } from "./clusters.ts";
import type { LogicalCluster } from "./logical-cluster.ts";
import { isMarker } from "./objects.ts";
import { objectIn } from "../codec/render.ts";
import { clusterOfKey, prefixOf } from "../resources/resources.ts";
import type { Cache } from "../store/cache.ts";

/** The group of admission webhooks and policies. */
export const CONFIGURATION_GROUP = "admissionregistration.k8s.io";

export interface ClusterConfigurations<T> {
  get(cluster: string): T | undefined;
  all(): IterableIterator<T>;
  close(): void;
}

interface Dependencies<T> {
  cache: Cache;
  clusters: ClusterRegistry;
  /** The group and the resources of the configuration. */
  group: string;
  plurals: readonly string[];
  /** The configuration of a cluster after a change; undefined when it has none. Cluster is unset when it is removed. */
  load(cluster: LogicalCluster | undefined, former: T | undefined): T | undefined;
}

export function followConfigurations<T>({
  cache,
  clusters,
  group,
  plurals,
  load,
}: Dependencies<T>): ClusterConfigurations<T> {
  const byCluster = new Map<string, T>();
  const reload = (name: string): void => {
    const loaded = load(clusters.get(name), byCluster.get(name));
    if (loaded) byCluster.set(name, loaded);
    else byCluster.delete(name);
  };
  const prefixes = plurals.map((plural) => `/${group}/${plural}/`);
  const present = new Set(prefixes.flatMap((prefix) => cache.list(prefix).map(({ key }) => clusterOfKey(key))));
  for (const name of present) reload(name);
  const stops = prefixes.map((prefix) =>
    cache.watch(prefix, cache.revision, (events) => {
      for (const name of new Set(events.map(({ entry, previous }) => clusterOfKey((entry ?? previous)?.key ?? ""))))
        reload(name);
    }),
  );
  return {
    get: (cluster) => byCluster.get(cluster),
    all: () => byCluster.values(),
    close() {
      for (const stop of stops) stop();
      byCluster.clear();
    },
  };
}

/** The stored objects of a resource, in the order of their names. */
export function readConfigured<T extends KubernetesObject>(
  cache: Cache,
  cluster: LogicalCluster,
  { group, plural }: KindRef<T>,
): DeepReadonly<T>[] {
  const resource = cluster.table.resource(group, plural);
  if (!resource) return [];
  return cache
    .list(prefixOf(resource, cluster.name))
    .filter((entry) => !isMarker(entry))
    .map((entry) => objectIn(entry, resource.storage) as unknown as DeepReadonly<T>);
}
