/**
 * Lets the hub's administrator use the proxy of every Cluster. The administrator's group alone would grant access to
 * the hub; but the hub impersonates the administrator on the member, and may do so only for users that its roles name.
 * The names are those of Karmada's installers.
 */
import type { ClusterRole, ClusterRoleBinding } from "@flotilla/kubernetes";
import { RBAC_GROUP } from "@flotilla/kubernetes";

const ROLE = "cluster-proxy-admin";

export function clusterProxyAdministrators(users: readonly string[]): (ClusterRole | ClusterRoleBinding)[] {
  return [
    {
      apiVersion: `${RBAC_GROUP}/v1`,
      kind: "ClusterRole",
      metadata: { name: ROLE },
      rules: [{ apiGroups: ["cluster.karmada.io"], resources: ["clusters/proxy"], verbs: ["*"] }],
    },
    {
      apiVersion: `${RBAC_GROUP}/v1`,
      kind: "ClusterRoleBinding",
      metadata: { name: ROLE },
      roleRef: { apiGroup: RBAC_GROUP, kind: "ClusterRole", name: ROLE },
      subjects: users.map((name) => ({ apiGroup: RBAC_GROUP, kind: "User", name })),
    },
  ];
}
