/** The roles of agents that registered through Karmada's API; the ClusterRole carries the registration. */
import { agentRoleName } from "@flotilla/karmada";
import { ClusterRole, ClusterRoleBinding, Namespace, Role, RoleBinding } from "@flotilla/kubernetes";
import type { Kind, KubernetesObject } from "@flotilla/apimachinery";
import type { Client } from "@flotilla/client";
import { createOwnedSet } from "@flotilla/controller-runtime";
import type { Informers, OwnedSet } from "@flotilla/controller-runtime";
import { agentRoles, karmadaAccess } from "./karmada-access.ts";
import { registrationAnnotations, registrationOf, REGISTERED_BY, RESERVED_UNTIL } from "./plan-registration.ts";
import type { Registration } from "./plan-registration.ts";

export interface RegisteredAccess {
  hasRole(cluster: string): boolean;
  registrationOf(cluster: string): Registration | undefined;
  /** Grants the agent of a cluster its permissions. Those in a namespace that does not exist follow with it. */
  grant(cluster: string, registration: Registration, signal: AbortSignal): Promise<void>;
  /** Removes the permissions and the registration. */
  revoke(cluster: string, signal: AbortSignal): Promise<void>;
}

export function createRegisteredAccess({
  hub,
  client,
  informers,
}: {
  hub: string;
  client: Client;
  informers: Informers;
}): RegisteredAccess {
  const namespaces = informers.of(Namespace);
  const clusterRoles = informers.of(ClusterRole);

  function ownedSet<T extends KubernetesObject>(kind: Kind<T>): OwnedSet<T, string> {
    const lister = informers.of(kind);
    return createOwnedSet<T, string>({
      client,
      kind,
      clusterOf: () => hub,
      current: (cluster) =>
        (kind.scope === "Namespaced" ? agentRoles(cluster) : [{ name: agentRoleName(cluster) }]).flatMap(
          (place) => lister.get({ cluster: hub, ...place }) ?? [],
        ),
      // The names are Karmada's: an object of such a name is the agent's, whichever program created it.
      isOwn: () => true,
      ownAnnotations: [REGISTERED_BY, RESERVED_UNTIL],
    });
  }
  const sets = {
    clusterRoles: ownedSet(ClusterRole),
    clusterRoleBindings: ownedSet(ClusterRoleBinding),
    roles: ownedSet(Role),
    roleBindings: ownedSet(RoleBinding),
  };

  /** Nothing can be created in a namespace that is missing or terminating; what exists there stays. */
  function isPossible<T extends KubernetesObject>(kind: Kind<T>): (object: T) => boolean {
    return ({ metadata: { name, namespace = "" } }) => {
      const place = namespaces.get({ cluster: hub, name: namespace });
      if (place && place.metadata.deletionTimestamp === undefined) return true;
      return informers.of(kind).get({ cluster: hub, namespace, name }) !== undefined;
    };
  }

  const roleOf = (cluster: string): ReturnType<typeof clusterRoles.get> =>
    clusterRoles.get({ cluster: hub, name: agentRoleName(cluster) });

  return {
    hasRole: (cluster) => roleOf(cluster) !== undefined,
    registrationOf: (cluster) => registrationOf(roleOf(cluster)),
    async grant(cluster, registration, signal) {
      const { clusterRole, clusterRoleBinding, roles, roleBindings } = karmadaAccess(cluster);
      const { metadata } = clusterRole;
      const marked = { ...clusterRole, metadata: { ...metadata, annotations: registrationAnnotations(registration) } };
      // Roles first: a binding to a missing role grants nothing.
      await sets.clusterRoles.replace(cluster, [marked], signal);
      await sets.roles.replace(cluster, roles.filter(isPossible(Role)), signal);
      await sets.clusterRoleBindings.replace(cluster, [clusterRoleBinding], signal);
      await sets.roleBindings.replace(cluster, roleBindings.filter(isPossible(RoleBinding)), signal);
    },
    async revoke(cluster, signal) {
      await sets.roleBindings.replace(cluster, [], signal);
      await sets.clusterRoleBindings.replace(cluster, [], signal);
      await sets.roles.replace(cluster, [], signal);
      // Last: without it, the registration is unknown, and a failure before would not be retried.
      await sets.clusterRoles.replace(cluster, [], signal);
    },
  };
}
