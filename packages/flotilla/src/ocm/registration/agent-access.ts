/** Creates the access of a cluster's agent to the hub: namespace, roles and bindings. */
import { CLUSTER_NAME_LABEL, MANIFEST_WORK_FINALIZER, ManifestWork } from "@flotilla/ocm";
import { ClusterRole, ClusterRoleBinding, Namespace, RoleBinding } from "@flotilla/kubernetes";
import type { Client } from "@flotilla/client";
import { createOwnedSet, unlessChanged } from "@flotilla/controller-runtime";
import type { Informers } from "@flotilla/controller-runtime";
import {
  clusterNamespace,
  clusterRole,
  clusterRoleBinding,
  clusterRoleName,
  registrationBindingName,
  roleBindings,
  workBindingName,
} from "./access.ts";

export interface AgentAccess {
  /** Returns false while the namespace is being deleted: nothing can be created there until it exists again. */
  ensureNamespace(cluster: string, signal: AbortSignal): Promise<boolean>;
  /**
   * Grants an accepted agent its permissions. If its namespace is being deleted, it keeps the permission to finish its
   * works.
   */
  grant(cluster: string, isNamespaceThere: boolean, signal: AbortSignal): Promise<void>;
  /** Limits the agent to reading its ManagedCluster, and to finishing its works while ManifestWorks exist. */
  limit(cluster: string, signal: AbortSignal): Promise<void>;
  /** Whether the work role binding was deleted and remains until the last ManifestWork is deleted. */
  isEnding(cluster: string): boolean;
  /** Removes all permissions of this cluster's agent. */
  revoke(cluster: string, signal: AbortSignal): Promise<void>;
}

export function createAgentAccess({
  hub,
  informers,
  client,
}: {
  hub: string;
  informers: Informers;
  client: Client;
}): AgentAccess {
  const namespaces = informers.of(Namespace);
  const works = informers.of(ManifestWork);
  const [roles, bindings, local] = [
    informers.of(ClusterRole),
    informers.of(ClusterRoleBinding),
    informers.of(RoleBinding),
  ];
  const present = <T>(...found: (T | undefined)[]): T[] => found.filter((object) => object !== undefined);
  const shared = { client, clusterOf: () => hub };
  const clusterRoles = createOwnedSet<ClusterRole, string>({
    ...shared,
    kind: ClusterRole,
    current: (cluster) => present(roles.get({ cluster: hub, name: clusterRoleName(cluster) })),
  });
  const clusterRoleBindings = createOwnedSet<ClusterRoleBinding, string>({
    ...shared,
    kind: ClusterRoleBinding,
    current: (cluster) => present(bindings.get({ cluster: hub, name: clusterRoleName(cluster) })),
  });
  const localBindings = createOwnedSet<RoleBinding, string>({
    ...shared,
    kind: RoleBinding,
    current: (cluster) =>
      present(
        ...[registrationBindingName(cluster), workBindingName(cluster)].map((name) =>
          local.get({ cluster: hub, namespace: cluster, name }),
        ),
      ),
  });

  const workBinding = (cluster: string): ReturnType<typeof local.get> =>
    local.get({ cluster: hub, namespace: cluster, name: workBindingName(cluster) });
  const isEnding = (cluster: string): boolean => workBinding(cluster)?.metadata.deletionTimestamp !== undefined;
  const isHeldByWorks = (cluster: string): boolean =>
    isEnding(cluster) && works.list({ cluster: hub, namespace: cluster }).length > 0;

  /** Removes the last permission, or the old binding before a new one is created. */
  async function endWorkBinding(cluster: string, signal: AbortSignal): Promise<void> {
    const key = { cluster: hub, namespace: cluster, name: workBindingName(cluster) };
    const { finalizers = [], deletionTimestamp, resourceVersion = null } = workBinding(cluster)?.metadata ?? {};
    if (!deletionTimestamp || !finalizers.includes(MANIFEST_WORK_FINALIZER)) return;
    const left = finalizers.filter((finalizer) => finalizer !== MANIFEST_WORK_FINALIZER);
    await unlessChanged(
      client.patch(
        RoleBinding,
        key,
        { metadata: { resourceVersion, finalizers: left.length > 0 ? left : null } },
        { type: "merge", signal },
      ),
    );
  }

  return {
    async ensureNamespace(cluster, signal) {
      const wanted = clusterNamespace(cluster);
      const namespace = namespaces.get({ cluster: hub, name: cluster });
      if (!namespace) await client.create(Namespace, hub, wanted, { signal });
      else if (namespace.metadata.labels?.[CLUSTER_NAME_LABEL] !== cluster)
        await client.patch(
          Namespace,
          { cluster: hub, name: cluster },
          { metadata: { labels: wanted.metadata.labels ?? {} } },
          { type: "merge", signal },
        );
      return namespace?.metadata.deletionTimestamp === undefined;
    },
    async grant(cluster, isNamespaceThere, signal) {
      // A binding that is being deleted still grants access, so that works in flight are not affected.
      if (!isHeldByWorks(cluster)) await endWorkBinding(cluster, signal);
      await clusterRoles.replace(cluster, [clusterRole(cluster, true)], signal);
      await clusterRoleBindings.replace(cluster, [clusterRoleBinding(cluster)], signal);
      if (isNamespaceThere) await localBindings.replace(cluster, roleBindings(cluster), signal);
    },
    async limit(cluster, signal) {
      await clusterRoles.replace(cluster, [clusterRole(cluster, false)], signal);
      await clusterRoleBindings.replace(cluster, [clusterRoleBinding(cluster)], signal);
      await localBindings.replace(cluster, [], signal);
      if (!isHeldByWorks(cluster)) await endWorkBinding(cluster, signal);
    },
    isEnding,
    async revoke(cluster, signal) {
      await localBindings.replace(cluster, [], signal);
      await endWorkBinding(cluster, signal);
      await clusterRoleBindings.replace(cluster, [], signal);
      await clusterRoles.replace(cluster, [], signal);
    },
  };
}
