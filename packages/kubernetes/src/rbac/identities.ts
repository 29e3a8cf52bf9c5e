/** The names of Kubernetes' own users and groups: who is in them is decided by the authenticators of the API server. */

/** Members of this group may do everything, whatever the roles of a cluster allow. */
export const MASTERS_GROUP = "system:masters";
/** Every user is in one of these two groups. */
export const AUTHENTICATED_GROUP = "system:authenticated";
export const UNAUTHENTICATED_GROUP = "system:unauthenticated";
export const ANONYMOUS_USER = "system:anonymous";

/** The kubelet of node `n1` is `system:node:n1` in this group. */
export const NODES_GROUP = "system:nodes";
export const NODE_PREFIX = "system:node:";

/** All service accounts. */
export const ACCOUNTS_GROUP = "system:serviceaccounts";
const ACCOUNT_PREFIX = "system:serviceaccount:";

/** The user name of a service account. */
export function accountUser(namespace: string, name: string): string {
  return `${ACCOUNT_PREFIX}${namespace}:${name}`;
}

export function accountGroups(namespace: string): string[] {
  return [ACCOUNTS_GROUP, `${ACCOUNTS_GROUP}:${namespace}`];
}

/** The service account that a user name represents; undefined for people and nodes. */
export function accountOfUser(user: string): { namespace: string; name: string } | undefined {
  if (!user.startsWith(ACCOUNT_PREFIX)) return undefined;
  const [namespace, name, ...rest] = user.slice(ACCOUNT_PREFIX.length).split(":");
  return namespace && name && rest.length === 0 ? { namespace, name } : undefined;
}

/** The API group of roles and their bindings. */
export const RBAC_GROUP = "rbac.authorization.k8s.io";
export const RBAC_API_VERSION = `${RBAC_GROUP}/v1`;
