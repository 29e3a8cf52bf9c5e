/**
 * RBAC for every logical cluster. Rules only allow; a request that no rule allows is forbidden.
 *
 * Bindings are indexed by subject (`binding-index.ts`), so a decision reads the rules of one user. A write takes effect
 * shortly after its response, as in kube-apiserver.
 */
import type { PolicyRule, RoleRef } from "@flotilla/apimachinery/facts/rbac-v1.ts";
import type { DeepReadonly } from "@flotilla/base";
import type { Cache } from "../store/cache.ts";
import { isMaster } from "../request/authorize.ts";
import type { AccessRequest, Authorizer, Decision } from "../request/authorize.ts";
import type { ClusterRegistry } from "../clusters/clusters.ts";
import type { LogicalCluster } from "../clusters/logical-cluster.ts";
import type { ObjectStore } from "../clusters/objects.ts";
import { objectIn } from "../codec/render.ts";
import type { UserInfo } from "../request/user-info.ts";
import { keyOf } from "../resources/resources.ts";
import { createBindingIndex } from "./binding-index.ts";
import type { ClusterIndex, Rules } from "./binding-index.ts";
import type { Binding } from "./bindings.ts";
import { allowsPath, allowsResource } from "./rbac-rules.ts";
import { describeSubject, keyOfSubject, subjectKeys } from "./subjects.ts";
import { RBAC_GROUP } from "@flotilla/kubernetes";

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
    return (
      `RBAC: allowed by ${binding} of ${role.kind} ${JSON.stringify(role.name)} to ` +
      (subject ? describeSubject(subject, namespace) : "an unknown subject")
    );
  }
}

export interface Rbac extends Authorizer {
  /** Always at once. */
  decide(request: AccessRequest): Decision;
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
  const bindings = createBindingIndex({ cache, clusters });

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
    const index = bindings.of(cluster);
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
    close: () => bindings.close(),
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
