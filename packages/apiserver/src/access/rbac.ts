/**
 * RBAC for every logical cluster. Rules only allow; a request that no rule allows is forbidden.
 *
 * Bindings are indexed by subject: those of a profile once for all its clusters, those that a cluster wrote in its own
 * index, which is built on the first request that needs it and then updated from the store's events. A decision reads
 * the rules of one user. A write takes effect shortly after its response, as in kube-apiserver.
 */
import type { PolicyRule, RoleRef } from "@flotilla/apimachinery/facts/rbac-v1.ts";
import type { DeepReadonly, JsonObject } from "@flotilla/base";
import type { Cache, CachedEntry } from "../store/cache.ts";
import { isMaster } from "../request/authorize.ts";
import type { AccessRequest, Authorizer, Decision } from "../request/authorize.ts";
import type { ClusterRegistry, LogicalCluster } from "../clusters/clusters.ts";
import { metadataOf } from "../codec/metadata.ts";
import { isMarker } from "../clusters/objects.ts";
import type { ObjectStore } from "../clusters/objects.ts";
import type { ProfileLayer } from "../clusters/profiles.ts";
import { objectIn } from "../codec/render.ts";
import type { UserInfo } from "../request/request.ts";
import { clusterOfKey, keyOf, prefixOf } from "../resources/resources.ts";
import type { Resource } from "../resources/resources.ts";
import { textOf } from "../codec/text.ts";
import { BindingTable } from "./bindings.ts";
import type { Binding } from "./bindings.ts";
import { allowsPath, allowsResource } from "./rules.ts";
import { describeSubject, keyOfSubject, subjectKeys } from "./subjects.ts";
import type { Subject } from "./subjects.ts";

export const RBAC_GROUP = "rbac.authorization.k8s.io";
const BINDINGS = ["clusterrolebindings", "rolebindings"] as const;
const ROLES = ["clusterroles", "roles"] as const;

type Rules = readonly DeepReadonly<PolicyRule>[];

/** The roles and bindings of a cluster in addition to its profile. */
interface ClusterIndex {
  readonly profile: BindingTable;
  readonly own: BindingTable;
  /** Keys of the profile's bindings that the cluster has replaced or deleted. */
  readonly covered: Set<string>;
  /** Rules by binding, until a role changes; undefined when the role does not exist. */
  readonly resolved: Map<Binding, Rules | undefined>;
}

const ALLOWED: Decision = Object.freeze({ allowed: true, reason: "" });
const DENIED: Decision = Object.freeze({ allowed: false, reason: "" });

/** Computes the reason lazily: most requests never read it. */
class AllowedBy implements Decision {
  readonly allowed = true;
  readonly #binding: Binding;
  readonly #user: UserInfo;

  constructor(binding: Binding, user: UserInfo) {
    this.#binding = binding;
    this.#user = user;
  }

  get reason(): string {
    const { name, namespace, role, subjects } = this.#binding;
    const keys = subjectKeys(this.#user);
    const subject = subjects.find((candidate) => keys.includes(keyOfSubject(candidate, namespace) ?? ""));
    const binding =
      namespace === undefined
        ? `ClusterRoleBinding ${JSON.stringify(name)}`
        : `RoleBinding ${JSON.stringify(`${name}/${namespace}`)}`;
    return `RBAC: allowed by ${binding} of ${role.kind} ${JSON.stringify(role.name)} to ${subject ? describeSubject(subject, namespace) : "an unknown subject"}`;
  }
}

export interface Rbac extends Authorizer {
  close(): void;
}

export function createRbac({
  cache,
  clusters,
  store,
}: {
  cache: Cache;
  clusters: ClusterRegistry;
  store: ObjectStore;
}): Rbac {
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

  const rulesOf = (
    cluster: LogicalCluster,
    { kind, name }: RoleRef,
    namespace: string | undefined,
  ): Rules | undefined => {
    const resource = cluster.table.resource(RBAC_GROUP, kind === "ClusterRole" ? "clusterroles" : "roles");
    if (!resource || (kind !== "ClusterRole" && (kind !== "Role" || namespace === undefined))) return undefined;
    const { entry } = store.find(cluster, resource, keyOf(resource, cluster.name, namespace, name));
    return entry && ((objectIn(entry, resource.storage).rules ?? NO_RULES) as unknown as Rules);
  };

  const resolve = (cluster: LogicalCluster, index: ClusterIndex, binding: Binding): Rules | undefined => {
    if (index.resolved.has(binding)) return index.resolved.get(binding);
    const rules = rulesOf(cluster, binding.role, binding.namespace);
    index.resolved.set(binding, rules);
    return rules;
  };

  /** Visits the bindings of a user with their rules; some may be visited twice. Stops when `visit` returns true. */
  const visitRules = (
    cluster: LogicalCluster,
    user: UserInfo,
    namespace: string | undefined,
    visit: (binding: Binding, rules: Rules | undefined) => boolean,
  ): void => {
    const index = indexOf(cluster);
    for (const place of namespace ? ["", namespace] : CLUSTER_WIDE) {
      for (const key of subjectKeys(user)) {
        for (const binding of index.profile.of(place, key))
          if (!index.covered.has(binding.key) && visit(binding, resolve(cluster, index, binding))) return;
        for (const binding of index.own.of(place, key)) if (visit(binding, resolve(cluster, index, binding))) return;
      }
    }
  };

  return {
    decide({ user, verb, cluster: clusterName, resource, path = "" }: AccessRequest): Decision {
      if (isMaster(user)) return ALLOWED;
      const cluster = clusters.get(clusterName);
      if (!cluster) return DENIED;
      let allowed: Decision | undefined;
      let missing: RoleRef[] | undefined;
      visitRules(cluster, user, resource?.namespace, (binding, rules) => {
        if (!rules) (missing ??= []).push(binding.role);
        else if (rules.some((rule) => (resource ? allowsResource(rule, verb, resource) : allowsPath(rule, verb, path))))
          allowed = new AllowedBy(binding, user);
        return allowed !== undefined;
      });
      return allowed ?? (missing ? { allowed: false, reason: `RBAC: ${describeMissing(missing)}` } : DENIED);
    },
    rulesFor(cluster, user, namespace) {
      const seen = new Set<Binding>();
      const found: DeepReadonly<PolicyRule>[] = [];
      const missing: RoleRef[] = [];
      visitRules(cluster, user, namespace, (binding, rules) => {
        if (seen.has(binding)) return false;
        seen.add(binding);
        if (rules) found.push(...rules);
        else missing.push(binding.role);
        return false;
      });
      return { rules: found, missing };
    },
    rulesOf,
    close() {
      for (const stop of stops) stop();
    },
  };
}

const CLUSTER_WIDE: readonly string[] = [""];
const NO_RULES: Rules = [];

/** Describes the roles that bindings name but that do not exist. */
export function describeMissing(missing: readonly RoleRef[], what?: string): string {
  const texts = [
    ...new Set(
      missing.map(({ kind, name }) => `${what ?? kind.toLowerCase()}.${RBAC_GROUP} ${JSON.stringify(name)} not found`),
    ),
  ];
  return texts.length === 1 ? (texts[0] ?? "") : `[${texts.join(", ")}]`;
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
