/**
 * Lets the agent of an accepted ManagedCluster see to the Works of its Cluster, and takes that right away with the acceptance.
 *
 * Reads:  Clusters that pull, ManagedClusters.
 * Writes: roles and bindings named `flotilla:agent:<cluster>`; nothing else.
 */
import { Cluster, clusterNameOf, ClusterRole, ClusterRoleBinding, ManagedCluster, Namespace, Role, RoleBinding } from "../api/index.ts";
import type { Kind, KubernetesObject } from "../api/index.ts";
import type { Client, ObjectKey } from "../client/index.ts";
import { createOwnedSet, defineKeyedController, done, idOfKey, watch } from "../runtime/index.ts";
import type { Controller, Informers, OwnedSet } from "../runtime/index.ts";
import { agentAccessName, agentNamespaces, planAgentAccess } from "./plan-agent-access.ts";
import type { AgentAccess } from "./plan-agent-access.ts";

export interface AgentAccessDependencies {
  hub: string;
  client: Client;
  informers: Informers;
  /** Members in this process need no rights. */
  isSimulated(cluster: string): boolean;
}

const NONE: AgentAccess = { clusterRoles: [], clusterRoleBindings: [], roles: [], roleBindings: [] };

export function createAgentAccessController({ hub, client, informers, isSimulated }: AgentAccessDependencies): Controller<ObjectKey> {
  const clusters = informers.of(Cluster);
  const managed = informers.of(ManagedCluster);
  const namespaces = informers.of(Namespace);

  function ownedSet<T extends KubernetesObject>(kind: Kind<T>): OwnedSet<T, string> {
    const lister = informers.of(kind);
    const places = (cluster: string): (string | undefined)[] => (kind.scope === "Namespaced" ? [...agentNamespaces(cluster)] : [undefined]);
    return createOwnedSet<T, string>({
      client,
      kind,
      clusterOf: () => hub,
      current: (cluster) => places(cluster).flatMap((namespace) => lister.get({ cluster: hub, ...(namespace !== undefined && { namespace }), name: agentAccessName(cluster) }) ?? []),
    });
  }
  const sets = { clusterRoles: ownedSet(ClusterRole), clusterRoleBindings: ownedSet(ClusterRoleBinding), roles: ownedSet(Role), roleBindings: ownedSet(RoleBinding) };

  function wanted(name: string): AgentAccess {
    const cluster = clusters.get({ cluster: hub, name });
    const isAccepted = managed.get({ cluster: hub, name })?.spec.hubAcceptsClient === true;
    if (cluster?.spec.syncMode !== "Pull" || !isAccepted || isSimulated(name)) return NONE;
    // A member that leaves lets its agent finish; what goes with the namespace of its Works cannot be made there any more.
    const access = planAgentAccess(name);
    const isThere = ({ metadata }: KubernetesObject): boolean => {
      const namespace = namespaces.get({ cluster: hub, name: metadata.namespace ?? "" });
      return namespace !== undefined && namespace.metadata.deletionTimestamp === undefined;
    };
    return { ...access, roles: access.roles.filter(isThere), roleBindings: access.roleBindings.filter(isThere) };
  }

  return defineKeyedController<ObjectKey>({
    name: "agent-access",
    writes: [ClusterRole, ClusterRoleBinding, Role, RoleBinding],
    idOf: idOfKey,
    sources: [
      watch(Cluster, ({ object, old, deleted }) => (object.spec.syncMode === "Pull" && (!old || deleted || old.spec.syncMode !== "Pull") ? [{ cluster: hub, name: object.metadata.name }] : [])),
      watch(ManagedCluster, ({ object, old, deleted }) => (!old || deleted || old.spec.hubAcceptsClient !== object.spec.hubAcceptsClient ? [{ cluster: hub, name: object.metadata.name }] : [])),
      watch(Namespace, ({ object, old }) => (old ? [] : memberOf(object.metadata.name))),
    ],
    async reconcile({ name }, { signal }) {
      const access = wanted(name);
      // First the roles: a binding to a role that is not there grants nothing, and is refused where its maker could not grant it.
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
