/**
 * The RBAC bindings of every logical cluster, by subject: those of a profile once for all its clusters, those that a
 * cluster wrote in its own index, which is built on the first request that needs it and then updated from the store's
 * events.
 */
import type { PolicyRule, RoleRef } from "@flotilla/apimachinery/facts/rbac-v1.ts";
import type { DeepReadonly, JsonObject } from "@flotilla/base";
import type { ClusterRegistry } from "../clusters/clusters.ts";
import type { LogicalCluster } from "../clusters/logical-cluster.ts";
import { isMarker } from "../clusters/objects.ts";
import type { ProfileLayer } from "../clusters/profiles.ts";
import { metadataOf } from "../codec/metadata.ts";
import { objectIn } from "../codec/render.ts";
import { textOf } from "../codec/text.ts";
import { clusterOfKey, prefixOf } from "../resources/resources.ts";
import type { Resource } from "../resources/resources.ts";
import type { Cache, CachedEntry } from "../store/cache.ts";
import { BindingTable } from "./bindings.ts";
import type { Binding } from "./bindings.ts";
import type { Subject } from "./subjects.ts";
import { RBAC_GROUP } from "@flotilla/kubernetes";

const BINDINGS = ["clusterrolebindings", "rolebindings"] as const;
const ROLES = ["clusterroles", "roles"] as const;

export type Rules = readonly DeepReadonly<PolicyRule>[];

/** The roles and bindings of a cluster in addition to its profile. */
export interface ClusterIndex {
  readonly profile: BindingTable;
  readonly own: BindingTable;
  /** Keys of the profile's bindings that the cluster has replaced or deleted. */
  readonly covered: Set<string>;
  /** Rules by binding, until a role changes; undefined when the role does not exist. */
  readonly resolved: Map<Binding, Rules | undefined>;
}

export interface BindingIndex {
  of(cluster: LogicalCluster): ClusterIndex;
  close(): void;
}

export function createBindingIndex({ cache, clusters }: { cache: Cache; clusters: ClusterRegistry }): BindingIndex {
  const indexes = new WeakMap<LogicalCluster, ClusterIndex>();
  const profiles = new WeakMap<ProfileLayer, BindingTable>();

  const indexOf = (cluster: LogicalCluster): ClusterIndex => {
    const known = indexes.get(cluster);
    if (known) return known;
    const index: ClusterIndex = {
      profile: profileTable(cluster),
      own: new BindingTable(),
      covered: new Set(),
      resolved: new Map(),
    };
    indexes.set(cluster, index);
    for (const plural of BINDINGS) {
      const resource = cluster.table.resource(RBAC_GROUP, plural);
      if (resource)
        for (const entry of cache.list(prefixOf(resource, cluster.name)))
          indexBinding(index, cluster, resource, entry.key, entry);
    }
    return index;
  };

  const profileTable = (cluster: LogicalCluster): BindingTable => {
    const { profile } = cluster;
    let table = profiles.get(profile);
    if (table) return table;
    profiles.set(profile, (table = new BindingTable()));
    for (const plural of BINDINGS) {
      const resource = profile.table.resource(RBAC_GROUP, plural);
      if (resource)
        for (const entry of profile.list(resource.prefix, "", cluster))
          table.put(bindingOf(relativeKey(resource, cluster, entry.key), objectIn(entry, resource.storage)));
    }
    return table;
  };

  /** Applies the current object at a key, so the order in which events arrive does not matter. */
  const indexBinding = (
    index: ClusterIndex,
    cluster: LogicalCluster,
    resource: Resource,
    key: string,
    entry: CachedEntry | undefined,
  ): void => {
    const relative = relativeKey(resource, cluster, key);
    if (index.profile.get(relative)) {
      if (entry) index.covered.add(relative);
      else index.covered.delete(relative);
    }
    const former = index.own.get(relative);
    if (former) index.resolved.delete(former);
    if (entry && !isMarker(entry)) index.own.put(bindingOf(relative, objectIn(entry, resource.storage)));
    else index.own.delete(relative);
  };

  const changed = (plural: string, keys: Iterable<string>): void => {
    for (const key of keys) {
      const cluster = clusters.get(clusterOfKey(key));
      const index = cluster && indexes.get(cluster);
      const resource = cluster?.table.resource(RBAC_GROUP, plural);
      if (!cluster || !index || !resource) continue;
      if (plural === "clusterroles" || plural === "roles") index.resolved.clear();
      else indexBinding(index, cluster, resource, key, cache.get(key));
    }
  };
  const stops = [...BINDINGS, ...ROLES].map((plural) =>
    cache.watch(`/${RBAC_GROUP}/${plural}/`, cache.revision, (events) =>
      changed(plural, new Set(events.map(({ entry, previous }) => (entry ?? previous)?.key ?? ""))),
    ),
  );

  return {
    of: indexOf,
    close() {
      for (const stop of stops) stop();
    },
  };
}

function relativeKey({ prefix }: Resource, { name }: LogicalCluster, key: string): string {
  return key.slice(prefix.length + name.length + 1);
}

function bindingOf(key: string, object: DeepReadonly<JsonObject>): Binding {
  const { name, namespace } = metadataOf(object as JsonObject);
  return {
    key,
    name: textOf(name),
    namespace: typeof namespace === "string" ? namespace : undefined,
    role: object.roleRef as unknown as RoleRef,
    subjects: (object.subjects ?? []) as unknown as Subject[],
  };
}
