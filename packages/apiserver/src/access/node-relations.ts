/**
 * Which objects the nodes of a cluster need: those that their pods use, and the volumes behind their claims. Built on the
 * first request of a node in the cluster, and then updated from the store's events; clusters without kubelets pay nothing.
 */
import { podReferences, volumeSecrets, MIRROR_POD_ANNOTATION } from "@flotilla/kubernetes";
import type { PersistentVolume, Pod } from "@flotilla/apimachinery/facts/core-v1.ts";
import type { DeepReadonly, JsonObject } from "@flotilla/base";
import type { ClusterRegistry } from "../clusters/clusters.ts";
import type { LogicalCluster } from "../clusters/logical-cluster.ts";
import { isMarker } from "../clusters/objects.ts";
import { objectIn } from "../codec/render.ts";
import { clusterOfKey, prefixOf } from "../resources/resources.ts";
import type { Cache, CachedEntry } from "../store/cache.ts";

export interface NodeRelations {
  of(cluster: LogicalCluster): ClusterRelations;
  close(): void;
}

interface ClusterRelations {
  /** Whether a pod on the node uses the object, directly or through a claim. */
  uses(node: string, resource: RelatedResource, namespace: string | undefined, name: string): boolean;
}

export type RelatedResource =
  | "pods"
  | "configmaps"
  | "secrets"
  | "serviceaccounts"
  | "persistentvolumeclaims"
  | "persistentvolumes"
  | "resourceclaims";

const FOLLOWED = ["pods", "persistentvolumes"] as const;
type Followed = (typeof FOLLOWED)[number];

export function createNodeRelations({
  cache,
  clusters,
}: {
  cache: Pick<Cache, "get" | "list" | "watch" | "revision">;
  clusters: Pick<ClusterRegistry, "get">;
}): NodeRelations {
  const byCluster = new WeakMap<LogicalCluster, Relations>();
  let stops: (() => void)[] = [];

  /** Applies the current object at a key, so the order in which events arrive does not matter. */
  const update = (relations: Relations, cluster: LogicalCluster, plural: Followed, key: string): void => {
    const resource = cluster.table.resource("", plural);
    if (!resource) return;
    const entry: CachedEntry | undefined = cache.get(key);
    const object = entry && !isMarker(entry) ? objectIn(entry, resource.storage) : undefined;
    relations.set(plural, key.slice(resource.prefix.length + cluster.name.length + 1), object);
  };

  const follow = (): void => {
    stops = FOLLOWED.map((plural) =>
      cache.watch(`/core/${plural}/`, cache.revision, (events) => {
        for (const { entry, previous } of events) {
          const key = (entry ?? previous)?.key ?? "";
          const cluster = clusters.get(clusterOfKey(key));
          const relations = cluster && byCluster.get(cluster);
          if (cluster && relations) update(relations, cluster, plural, key);
        }
      }),
    );
  };

  return {
    of(cluster) {
      let relations = byCluster.get(cluster);
      if (relations) return relations;
      if (stops.length === 0) follow();
      byCluster.set(cluster, (relations = new Relations()));
      for (const plural of FOLLOWED) {
        const resource = cluster.table.resource("", plural);
        if (!resource) continue;
        for (const { key } of cache.list(prefixOf(resource, cluster.name))) update(relations, cluster, plural, key);
      }
      return relations;
    },
    close() {
      for (const stop of stops) stop();
      stops = [];
    },
  };
}

interface PodUse {
  readonly node: string;
  readonly used: ReadonlySet<string>;
}

class Relations implements ClusterRelations {
  readonly #pods = new Map<string, PodUse>();
  /** By used object: how many pods of each node use it. */
  readonly #users = new Map<string, Map<string, number>>();
  readonly #volumes = new Map<string, { claim: string; secrets: readonly string[] }>();
  readonly #volumesBySecret = new Map<string, Set<string>>();

  uses(node: string, resource: RelatedResource, namespace = "", name: string): boolean {
    if (resource === "pods") return this.#pods.get(`${namespace}/${name}`)?.node === node;
    if (resource === "persistentvolumes") return this.#usesVolume(node, name);
    if (this.#usesDirectly(node, keyOf(resource, namespace, name))) return true;
    if (resource !== "secrets") return false;
    for (const volume of this.#volumesBySecret.get(`${namespace}/${name}`) ?? [])
      if (this.#usesVolume(node, volume)) return true;
    return false;
  }

  /** `key` is `namespace/name`, or the name of a volume. */
  set(plural: Followed, key: string, object: DeepReadonly<JsonObject> | undefined): void {
    if (plural === "pods") this.#setPod(key, object as DeepReadonly<Pod> | undefined);
    else this.#setVolume(key, object as DeepReadonly<PersistentVolume> | undefined);
  }

  #usesDirectly(node: string, key: string): boolean {
    return this.#users.get(key)?.has(node) ?? false;
  }

  #usesVolume(node: string, name: string): boolean {
    const volume = this.#volumes.get(name);
    return volume !== undefined && this.#usesDirectly(node, volume.claim);
  }

  #setPod(key: string, pod: DeepReadonly<Pod> | undefined): void {
    const before = this.#pods.get(key);
    const node = pod?.spec.nodeName;
    // A status changes often, and most changes leave what the pod uses as it was.
    const use = pod && node ? { node, used: usedBy(pod) } : undefined;
    if (before && use && before.node === use.node && isSame(before.used, use.used)) return;
    if (before) for (const used of before.used) this.#count(used, before.node, -1);
    if (!use) return void this.#pods.delete(key);
    this.#pods.set(key, use);
    for (const used of use.used) this.#count(used, use.node, 1);
  }

  #count(used: string, node: string, by: 1 | -1): void {
    const nodes = this.#users.get(used) ?? new Map<string, number>();
    const count = (nodes.get(node) ?? 0) + by;
    if (count > 0) nodes.set(node, count);
    else nodes.delete(node);
    if (nodes.size > 0) this.#users.set(used, nodes);
    else this.#users.delete(used);
  }

  #setVolume(name: string, volume: DeepReadonly<PersistentVolume> | undefined): void {
    for (const secret of this.#volumes.get(name)?.secrets ?? []) {
      const volumes = this.#volumesBySecret.get(secret);
      volumes?.delete(name);
      if (volumes?.size === 0) this.#volumesBySecret.delete(secret);
    }
    const claim = volume?.spec?.claimRef;
    if (!volume || !claim) return void this.#volumes.delete(name);
    const secrets = volumeSecrets(volume).map((secret) => `${secret.namespace}/${secret.name}`);
    this.#volumes.set(name, {
      claim: keyOf("persistentvolumeclaims", claim.namespace ?? "", claim.name ?? ""),
      secrets,
    });
    for (const secret of secrets)
      this.#volumesBySecret.set(secret, (this.#volumesBySecret.get(secret) ?? new Set()).add(name));
  }
}

const keyOf = (resource: string, namespace: string, name: string): string => `${resource}/${namespace}/${name}`;

/** A node creates mirror pods itself, so they give it access to nothing. */
function usedBy(pod: DeepReadonly<Pod>): ReadonlySet<string> {
  const { namespace = "", annotations = {} } = pod.metadata;
  if (Object.hasOwn(annotations, MIRROR_POD_ANNOTATION)) return new Set();
  return new Set(podReferences(pod).map(({ resource, name }) => keyOf(resource, namespace, name)));
}

const isSame = (a: ReadonlySet<string>, b: ReadonlySet<string>): boolean =>
  a.size === b.size && [...a].every((each) => b.has(each));
