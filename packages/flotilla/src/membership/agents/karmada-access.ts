/**
 * RBAC of an agent that registered through Karmada's API, under the names that Karmada's tools use. Narrower than what
 * those tools create: Leases by name only. What RBAC cannot express, `agent-restriction.ts` checks. Pure.
 */
import {
  agentElectionLease,
  agentRoleName,
  agentUser,
  executionNamespace,
  impersonationSecretName,
  KARMADA_CLUSTER_NAMESPACE,
  KARMADA_SYSTEM_NAMESPACE,
} from "@flotilla/karmada";
import type { ClusterRole, ClusterRoleBinding, Role, RoleBinding } from "@flotilla/kubernetes";
import type { PolicyRule } from "@flotilla/apimachinery/facts/rbac-v1.ts";
import { RBAC_GROUP } from "@flotilla/kubernetes";

const API_VERSION = `${RBAC_GROUP}/v1`;

export interface KarmadaAccess {
  clusterRole: ClusterRole;
  clusterRoleBinding: ClusterRoleBinding;
  roles: Role[];
  roleBindings: RoleBinding[];
}

/** The Roles of an agent, by namespace and name. Their bindings have the same names. */
export function agentRoles(cluster: string): readonly { namespace: string; name: string }[] {
  const name = agentRoleName(cluster);
  return [
    { namespace: KARMADA_CLUSTER_NAMESPACE, name: `${name}-secret` },
    { namespace: executionNamespace(cluster), name: `${name}-work` },
    { namespace: KARMADA_CLUSTER_NAMESPACE, name: `${name}-lease` },
    { namespace: KARMADA_SYSTEM_NAMESPACE, name: `${name}-lease` },
  ];
}

export function karmadaAccess(cluster: string): KarmadaAccess {
  const name = agentRoleName(cluster);
  const subjects = [{ apiGroup: RBAC_GROUP, kind: "User", name: agentUser(cluster) }];
  const rules = [secretRules(cluster), WORK_RULES, leaseRules(cluster), leaseRules(agentElectionLease(cluster))];
  const places = agentRoles(cluster);
  return {
    clusterRole: { apiVersion: API_VERSION, kind: "ClusterRole", metadata: { name }, rules: clusterRules(cluster) },
    clusterRoleBinding: {
      apiVersion: API_VERSION,
      kind: "ClusterRoleBinding",
      metadata: { name },
      roleRef: { apiGroup: RBAC_GROUP, kind: "ClusterRole", name },
      subjects,
    },
    roles: places.map((metadata, index) => ({
      apiVersion: API_VERSION,
      kind: "Role",
      metadata,
      rules: rules[index] ?? [],
    })),
    roleBindings: places.map((metadata) => ({
      apiVersion: API_VERSION,
      kind: "RoleBinding",
      metadata,
      roleRef: { apiGroup: RBAC_GROUP, kind: "Role", name: metadata.name },
      subjects,
    })),
  };
}

const WORK_RULES: PolicyRule[] = [
  {
    apiGroups: ["work.karmada.io"],
    resources: ["works"],
    verbs: ["get", "create", "list", "watch", "update", "delete"],
  },
  { apiGroups: ["work.karmada.io"], resources: ["works/status"], verbs: ["patch", "update"] },
];

function clusterRules(cluster: string): PolicyRule[] {
  const only = [cluster];
  return [
    { apiGroups: ["cluster.karmada.io"], resources: ["clusters"], resourceNames: only, verbs: ["get", "delete"] },
    { apiGroups: ["cluster.karmada.io"], resources: ["clusters"], verbs: ["create", "list", "watch"] },
    { apiGroups: ["cluster.karmada.io"], resources: ["clusters/status"], resourceNames: only, verbs: ["update"] },
    {
      apiGroups: ["config.karmada.io"],
      resources: ["resourceinterpreterwebhookconfigurations", "resourceinterpretercustomizations"],
      verbs: ["get", "list", "watch"],
    },
    {
      apiGroups: [""],
      resources: ["namespaces"],
      resourceNames: [KARMADA_CLUSTER_NAMESPACE, executionNamespace(cluster)],
      verbs: ["get"],
    },
    { apiGroups: ["certificates.k8s.io"], resources: ["certificatesigningrequests"], verbs: ["get", "create"] },
    { apiGroups: [""], resources: ["services"], verbs: ["list", "watch"] },
    { apiGroups: [""], resources: ["events"], verbs: ["patch", "create", "update"] },
  ];
}

function secretRules(cluster: string): PolicyRule[] {
  const resourceNames = [cluster, impersonationSecretName(cluster)];
  return [
    { apiGroups: [""], resources: ["secrets"], resourceNames, verbs: ["get", "patch"] },
    { apiGroups: [""], resources: ["secrets"], verbs: ["create"] },
  ];
}

function leaseRules(name: string): PolicyRule[] {
  return [
    { apiGroups: ["coordination.k8s.io"], resources: ["leases"], resourceNames: [name], verbs: ["get", "update"] },
    { apiGroups: ["coordination.k8s.io"], resources: ["leases"], verbs: ["create"] },
  ];
}
