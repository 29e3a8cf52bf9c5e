/**
 * Lets the hub's administrator use the proxy of every Cluster. The administrator's group alone would grant access to
 * the hub; but the hub impersonates the administrator on the member, and may do so only for users that its roles name.
 * The names are those of Karmada's installers.
 */
import type { ClusterRole, ClusterRoleBinding } from "@flotilla/kubernetes";

const GROUP = "rbac.authorization.k8s.io";
const ROLE = "cluster-proxy-admin";

export function clusterProxyAdministrators(users: readonly string[]): (ClusterRole | ClusterRoleBinding)[] {
  return [
    {
      apiVersion: `${GROUP}/v1`,
      kind: "ClusterRole",
      metadata: { name: ROLE },
      rules: [{ apiGroups: ["cluster.karmada.io"], resources: ["clusters/proxy"], verbs: ["*"] }],
    },
    {
      apiVersion: `${GROUP}/v1`,
      kind: "ClusterRoleBinding",
      metadata: { name: ROLE },
      roleRef: { apiGroup: GROUP, kind: "ClusterRole", name: ROLE },
      subjects: users.map((name) => ({ apiGroup: GROUP, kind: "User", name })),
    },
  ];
}
