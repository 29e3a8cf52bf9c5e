/**
 * Lets the hub's administrator use the proxy of every Cluster. His group alone would let him in here; but a member is
 * asked to treat him as himself, and the hub may do so only for whom its roles name. The names are those that Karmada's
 * installers use.
 */
import type { ClusterRole, ClusterRoleBinding } from "../api/index.ts";

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
