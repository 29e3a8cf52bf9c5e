/** Brings about what the agent of a cluster may do on the hub: its namespace, its roles and their bindings. */
import { CLUSTER_NAME_LABEL, ClusterRole, ClusterRoleBinding, MANIFEST_WORK_FINALIZER, Namespace, RoleBinding } from "../../api/index.ts";
import type { Client } from "../../client/index.ts";
import { createOwnedSet, unlessChanged } from "../../runtime/index.ts";
import type { Informers } from "../../runtime/index.ts";
import { clusterNamespace, clusterRole, clusterRoleBinding, clusterRoleName, registrationBindingName, roleBindings, workBindingName } from "./access.ts";

export interface AgentAccess {
  ensureNamespace(cluster: string, signal: AbortSignal): Promise<void>;
  /** An agent that is accepted may do its work. */
  grant(cluster: string, signal: AbortSignal): Promise<void>;
  /** It may look at its ManagedCluster, and finish what is under way while there are ManifestWorks. */
  limit(cluster: string, hasWorks: boolean, signal: AbortSignal): Promise<void>;
  /** Nobody has any right because of this cluster. */
  revoke(cluster: string, signal: AbortSignal): Promise<void>;
}

export function createAgentAccess({ hub, informers, client }: { hub: string; informers: Informers; client: Client }): AgentAccess {
  const namespaces = informers.of(Namespace);
  const [roles, bindings, local] = [informers.of(ClusterRole), informers.of(ClusterRoleBinding), informers.of(RoleBinding)];
  const present = <T>(...found: (T | undefined)[]): T[] => found.filter((object) => object !== undefined);
  const shared = { client, clusterOf: () => hub };
  const clusterRoles = createOwnedSet<ClusterRole, string>({ ...shared, kind: ClusterRole, current: (cluster) => present(roles.get({ cluster: hub, name: clusterRoleName(cluster) })) });
  const clusterRoleBindings = createOwnedSet<ClusterRoleBinding, string>({ ...shared, kind: ClusterRoleBinding, current: (cluster) => present(bindings.get({ cluster: hub, name: clusterRoleName(cluster) })) });
  const localBindings = createOwnedSet<RoleBinding, string>({
    ...shared,
    kind: RoleBinding,
    current: (cluster) => present(...[registrationBindingName(cluster), workBindingName(cluster)].map((name) => local.get({ cluster: hub, namespace: cluster, name }))),
  });

  /** The last right goes, or makes room for a new one. */
  async function endWorkBinding(cluster: string, signal: AbortSignal): Promise<void> {
    const key = { cluster: hub, namespace: cluster, name: workBindingName(cluster) };
    const binding = local.get(key);
    const { finalizers = [], deletionTimestamp, resourceVersion = null } = binding?.metadata ?? {};
    if (!deletionTimestamp || !finalizers.includes(MANIFEST_WORK_FINALIZER)) return;
    const left = finalizers.filter((finalizer) => finalizer !== MANIFEST_WORK_FINALIZER);
    await unlessChanged(client.patch(RoleBinding, key, { metadata: { resourceVersion, finalizers: left.length > 0 ? left : null } }, { type: "merge", signal }));
  }

  return {
    async ensureNamespace(cluster, signal) {
      const wanted = clusterNamespace(cluster);
      const namespace = namespaces.get({ cluster: hub, name: cluster });
      if (!namespace) await client.create(Namespace, hub, wanted, { signal });
      else if (namespace.metadata.labels?.[CLUSTER_NAME_LABEL] !== cluster) await client.patch(Namespace, { cluster: hub, name: cluster }, { metadata: { labels: wanted.metadata.labels ?? {} } }, { type: "merge", signal });
    },
    async grant(cluster, signal) {
      await endWorkBinding(cluster, signal);
      await clusterRoles.replace(cluster, [clusterRole(cluster, true)], signal);
      await clusterRoleBindings.replace(cluster, [clusterRoleBinding(cluster)], signal);
      await localBindings.replace(cluster, roleBindings(cluster), signal);
    },
    async limit(cluster, hasWorks, signal) {
      await clusterRoles.replace(cluster, [clusterRole(cluster, false)], signal);
      await clusterRoleBindings.replace(cluster, [clusterRoleBinding(cluster)], signal);
      await localBindings.replace(cluster, [], signal);
      if (!hasWorks) await endWorkBinding(cluster, signal);
    },
    async revoke(cluster, signal) {
      await localBindings.replace(cluster, [], signal);
      await endWorkBinding(cluster, signal);
      await clusterRoleBindings.replace(cluster, [], signal);
      await clusterRoles.replace(cluster, [], signal);
    },
  };
}
