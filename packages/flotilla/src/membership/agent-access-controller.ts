/**
 * Grants the agent of an accepted ManagedCluster access to the Works of its Cluster, and revokes it with the
 * acceptance.
 *
 * Reads: pull-mode Clusters, ManagedClusters.
 * Writes: roles and bindings named `flotilla:agent:<cluster>`; nothing else.
 */
import { Cluster, clusterNameOf } from "@flotilla/karmada";
import { ClusterRole, ClusterRoleBinding, Namespace, Role, RoleBinding } from "@flotilla/kubernetes";
import { ManagedCluster } from "@flotilla/ocm";
import type { Kind, KubernetesObject } from "@flotilla/apimachinery";
import { find } from "@flotilla/client";
import type { Client, ObjectKey } from "@flotilla/client";
import { createOwnedSet, defineKeyedController, done, idOfKey, watch } from "@flotilla/controller-runtime";
import type { Controller, Informers, OwnedSet } from "@flotilla/controller-runtime";
import { agentAccessName, agentNamespaces, planAgentAccess } from "./plan-agent-access.ts";
import type { AgentAccess } from "./plan-agent-access.ts";

export interface AgentAccessDependencies {
  hub: string;
  client: Client;
  informers: Informers;
  /** Whether the agent of a member runs in this process, and needs no permissions. */
  hasBuiltInAgent(cluster: string): boolean;
}

const NONE: AgentAccess = { clusterRoles: [], clusterRoleBindings: [], roles: [], roleBindings: [] };

export function createAgentAccessController({
  hub,
  client,
  informers,
  hasBuiltInAgent,
}: AgentAccessDependencies): Controller<ObjectKey> {
  const clusters = informers.of(Cluster);
  const managed = informers.of(ManagedCluster);
  const namespaces = informers.of(Namespace);

  function ownedSet<T extends KubernetesObject>(kind: Kind<T>): OwnedSet<T, string> {
    const lister = informers.of(kind);
    const places = (cluster: string): (string | undefined)[] =>
      kind.scope === "Namespaced" ? [...agentNamespaces(cluster)] : [undefined];
    return createOwnedSet<T, string>({
      client,
      kind,
      clusterOf: () => hub,
      current: (cluster) =>
        places(cluster).flatMap(
          (namespace) => lister.get({ cluster: hub, namespace, name: agentAccessName(cluster) }) ?? [],
        ),
    });
  }
  const sets = {
    clusterRoles: ownedSet(ClusterRole),
    clusterRoleBindings: ownedSet(ClusterRoleBinding),
    roles: ownedSet(Role),
    roleBindings: ownedSet(RoleBinding),
  };

  async function wanted(name: string, signal: AbortSignal): Promise<AgentAccess> {
    const cluster = clusters.get({ cluster: hub, name });
    if (cluster?.spec.syncMode !== "Pull" || hasBuiltInAgent(name)) return NONE;
    const other = managed.get({ cluster: hub, name });
    if (other ? !other.spec.hubAcceptsClient : !(await isLeaving(name, signal))) return NONE;
    const access = planAgentAccess(name);
    // While a member leaves, its agent may finish: existing permissions stay, and no new ones are created.
    const isPossible =
      <T extends KubernetesObject>(kind: Kind<T>) =>
      (object: T): boolean =>
        (other !== undefined && canBeMade(object)) || isMade(kind, object);
    return {
      clusterRoles: access.clusterRoles.filter(isPossible(ClusterRole)),
      clusterRoleBindings: access.clusterRoleBindings.filter(isPossible(ClusterRoleBinding)),
      roles: access.roles.filter(isPossible(Role)),
      roleBindings: access.roleBindings.filter(isPossible(RoleBinding)),
    };
  }

  /**
   * Its ManagedCluster was deleted first. Read from the hub itself, because the order in which informers receive the
   * two is undefined.
   */
  const isLeaving = async (name: string, signal: AbortSignal): Promise<boolean> =>
    (await find(client, Cluster, { cluster: hub, name }, { signal }))?.metadata.deletionTimestamp !== undefined;

  const isMade = <T extends KubernetesObject>(kind: Kind<T>, { metadata }: T): boolean =>
    informers.of(kind).get({ cluster: hub, namespace: metadata.namespace, name: metadata.name }) !== undefined;

  /** Nothing can be created in a namespace that is missing or terminating. */
  function canBeMade({ metadata }: KubernetesObject): boolean {
    if (metadata.namespace === undefined) return true;
    const namespace = namespaces.get({ cluster: hub, name: metadata.namespace });
    return namespace !== undefined && namespace.metadata.deletionTimestamp === undefined;
  }

  return defineKeyedController<ObjectKey>({
    name: "agent-access",
    writes: [ClusterRole, ClusterRoleBinding, Role, RoleBinding],
    idOf: idOfKey,
    sources: [
      watch(Cluster, ({ object, old, deleted }) =>
        object.spec.syncMode === "Pull" && (!old || deleted || old.spec.syncMode !== "Pull")
          ? [{ cluster: hub, name: object.metadata.name }]
          : [],
      ),
      watch(ManagedCluster, ({ object, old, deleted }) =>
        !old || deleted || old.spec.hubAcceptsClient !== object.spec.hubAcceptsClient
          ? [{ cluster: hub, name: object.metadata.name }]
          : [],
      ),
      watch(Namespace, ({ object, old }) => (old ? [] : memberOf(object.metadata.name))),
    ],
    async reconcile({ name }, { signal }) {
      const access = await wanted(name, signal);
      // Roles first: a binding to a missing role grants nothing, and the API server rejects it if its creator could not
      // grant the role.
      await sets.clusterRoles.replace(name, access.clusterRoles, signal);
      await sets.roles.replace(name, access.roles, signal);
      await sets.clusterRoleBindings.replace(name, access.clusterRoleBindings, signal);
      await sets.roleBindings.replace(name, access.roleBindings, signal);
      return done;
    },
  });

  function memberOf(namespace: string): ObjectKey[] {
    const name = clusterNameOf(namespace);
    return name === undefined ? [] : [{ cluster: hub, name }];
  }
}
