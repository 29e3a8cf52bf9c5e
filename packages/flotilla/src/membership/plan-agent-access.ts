/**
 * Permissions of a pull cluster's agent for Karmada's kinds on the hub: its own Works, Cluster and Lease, and reading
 * the resource interpreter rules. Karmada's tools grant this to agents registered through Karmada's API; accepted
 * ManagedClusters get it here. Pure.
 */
import { CLUSTER_USER_PREFIX } from "@flotilla/ocm";
import type { ClusterRole, ClusterRoleBinding, Role, RoleBinding } from "@flotilla/kubernetes";
import { executionNamespace, KARMADA_CLUSTER_NAMESPACE } from "@flotilla/karmada";
import { RBAC_GROUP } from "@flotilla/kubernetes";

export interface AgentAccess {
  clusterRoles: ClusterRole[];
  clusterRoleBindings: ClusterRoleBinding[];
  roles: Role[];
  roleBindings: RoleBinding[];
}

const RBAC = `${RBAC_GROUP}/v1`;
export const agentAccessName = (cluster: string): string => `flotilla:agent:${cluster}`;
/** The namespaces in which an agent has permissions by name. */
export const agentNamespaces = (cluster: string): readonly string[] => [
  executionNamespace(cluster),
  KARMADA_CLUSTER_NAMESPACE,
];

export function planAgentAccess(cluster: string): AgentAccess {
  const name = agentAccessName(cluster);
  const subjects = [{ apiGroup: RBAC_GROUP, kind: "Group", name: `${CLUSTER_USER_PREFIX}${cluster}` }];
  const only = [cluster];
  const rulesIn = new Map<string, Role["rules"]>([
    [
      executionNamespace(cluster),
      [
        { apiGroups: ["work.karmada.io"], resources: ["works"], verbs: ["get", "list", "watch", "update", "patch"] },
        { apiGroups: ["work.karmada.io"], resources: ["works/status"], verbs: ["update", "patch"] },
        { apiGroups: ["", "events.k8s.io"], resources: ["events"], verbs: ["create", "patch", "update"] },
      ],
    ],
    [
      KARMADA_CLUSTER_NAMESPACE,
      [
        { apiGroups: ["coordination.k8s.io"], resources: ["leases"], verbs: ["create"] },
        { apiGroups: ["coordination.k8s.io"], resources: ["leases"], resourceNames: only, verbs: ["get", "update"] },
      ],
    ],
  ]);
  return {
    clusterRoles: [
      {
        apiVersion: RBAC,
        kind: "ClusterRole",
        metadata: { name },
        rules: [
          // A watch of one object must name it in its field selector.
          {
            apiGroups: ["cluster.karmada.io"],
            resources: ["clusters"],
            resourceNames: only,
            verbs: ["get", "list", "watch"],
          },
          { apiGroups: ["cluster.karmada.io"], resources: ["clusters/status"], resourceNames: only, verbs: ["update"] },
          {
            apiGroups: ["config.karmada.io"],
            resources: ["resourceinterpretercustomizations", "resourceinterpreterwebhookconfigurations"],
            verbs: ["get", "list", "watch"],
          },
          { apiGroups: [""], resources: ["services"], verbs: ["list", "watch"] },
        ],
      },
    ],
    clusterRoleBindings: [
      {
        apiVersion: RBAC,
        kind: "ClusterRoleBinding",
        metadata: { name },
        roleRef: { apiGroup: RBAC_GROUP, kind: "ClusterRole", name },
        subjects,
      },
    ],
    roles: Array.from(rulesIn, ([namespace, rules]) => ({
      apiVersion: RBAC,
      kind: "Role",
      metadata: { namespace, name },
      rules,
    })),
    roleBindings: Array.from(rulesIn.keys(), (namespace) => ({
      apiVersion: RBAC,
      kind: "RoleBinding",
      metadata: { namespace, name },
      roleRef: { apiGroup: RBAC_GROUP, kind: "Role", name },
      subjects,
    })),
  };
}
