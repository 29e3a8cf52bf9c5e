/**
 * RBAC of an agent that registers through Karmada's API, under the names that Karmada's tools create and expect. Pure.
 */
import type { ClusterRole, ClusterRoleBinding, Role, RoleBinding } from "@flotilla/kubernetes";
import type { PolicyRule } from "@flotilla/apimachinery/facts/rbac-v1.ts";
import { karmadaIdentity } from "./credentials/identity.ts";
import { executionNamespace, KARMADA_CLUSTER_NAMESPACE } from "@flotilla/karmada";

const GROUP = "rbac.authorization.k8s.io";
const API_VERSION = `${GROUP}/v1`;

export interface KarmadaAccess {
  clusterRole: ClusterRole;
  clusterRoleBinding: ClusterRoleBinding;
  roles: Role[];
  roleBindings: RoleBinding[];
}

export function karmadaAccess(cluster: string): KarmadaAccess {
  const name = `system:karmada:${cluster}:agent`;
  const only = [cluster];
  const rules: PolicyRule[] = [
    { apiGroups: ["cluster.karmada.io"], resources: ["clusters"], resourceNames: only, verbs: ["get", "delete"] },
    { apiGroups: ["cluster.karmada.io"], resources: ["clusters"], verbs: ["create", "list", "watch"] },
    { apiGroups: ["cluster.karmada.io"], resources: ["clusters/status"], resourceNames: only, verbs: ["update"] },
    {
      apiGroups: ["config.karmada.io"],
      resources: ["resourceinterpreterwebhookconfigurations", "resourceinterpretercustomizations"],
      verbs: ["get", "list", "watch"],
    },
    { apiGroups: [""], resources: ["namespaces"], verbs: ["get"] },
    { apiGroups: ["coordination.k8s.io"], resources: ["leases"], verbs: ["get", "create", "update"] },
    { apiGroups: ["certificates.k8s.io"], resources: ["certificatesigningrequests"], verbs: ["get", "create"] },
    { apiGroups: [""], resources: ["services"], verbs: ["list", "watch"] },
    { apiGroups: [""], resources: ["events"], verbs: ["patch", "create", "update"] },
  ];
  const works: PolicyRule[] = [
    {
      apiGroups: ["work.karmada.io"],
      resources: ["works"],
      verbs: ["get", "create", "list", "watch", "update", "delete"],
    },
    { apiGroups: ["work.karmada.io"], resources: ["works/status"], verbs: ["patch", "update"] },
  ];
  const secrets: PolicyRule[] = [
    {
      apiGroups: [""],
      resources: ["secrets"],
      resourceNames: [cluster, `${cluster}-impersonator`],
      verbs: ["get", "patch"],
    },
    { apiGroups: [""], resources: ["secrets"], verbs: ["create"] },
  ];
  const subjects = [{ apiGroup: GROUP, kind: "User", name: karmadaIdentity(cluster).commonName }];
  const inNamespace: readonly [string, string, PolicyRule[]][] = [
    [KARMADA_CLUSTER_NAMESPACE, `${name}-secret`, secrets],
    [executionNamespace(cluster), `${name}-work`, works],
  ];
  return {
    clusterRole: { apiVersion: API_VERSION, kind: "ClusterRole", metadata: { name }, rules },
    clusterRoleBinding: {
      apiVersion: API_VERSION,
      kind: "ClusterRoleBinding",
      metadata: { name },
      roleRef: { apiGroup: GROUP, kind: "ClusterRole", name },
      subjects,
    },
    roles: inNamespace.map(([namespace, role, its]) => ({
      apiVersion: API_VERSION,
      kind: "Role",
      metadata: { namespace, name: role },
      rules: its,
    })),
    roleBindings: inNamespace.map(([namespace, role]) => ({
      apiVersion: API_VERSION,
      kind: "RoleBinding",
      metadata: { namespace, name: role },
      roleRef: { apiGroup: GROUP, kind: "Role", name: role },
      subjects,
    })),
  };
}
