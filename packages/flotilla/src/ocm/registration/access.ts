/**
 * The RBAC rules of a cluster's agent on the hub: full access to its own ManagedCluster and namespace once accepted,
 * otherwise only reading its ManagedCluster. Names and rules are those of Open Cluster Management, which agents and
 * their operators expect. Pure.
 */
import {
  CLUSTER_GROUP,
  CLUSTER_NAME_LABEL,
  CLUSTER_USER_PREFIX,
  MANIFEST_WORK_FINALIZER,
  REGISTER_GROUP,
  WORK_GROUP,
} from "@flotilla/ocm";
import type { ClusterRole, ClusterRoleBinding, Namespace, RoleBinding } from "@flotilla/kubernetes";
import { SKIP_NAMESPACE } from "@flotilla/karmada";
import { RBAC_API_VERSION, RBAC_GROUP } from "@flotilla/kubernetes";

const ADDON_GROUP = "addon.open-cluster-management.io";
const REGISTRATION_ROLE = "open-cluster-management:managedcluster:registration";
const WORK_ROLE = "open-cluster-management:managedcluster:work";

/** The name of a cluster's ClusterRole and ClusterRoleBinding. */
export const clusterRoleName = (cluster: string): string => `open-cluster-management:managedcluster:${cluster}`;
export const workBindingName = (cluster: string): string => `${clusterRoleName(cluster)}:work`;
export const registrationBindingName = (cluster: string): string => `${clusterRoleName(cluster)}:registration`;
export const SHARED_ROLES: readonly string[] = [REGISTRATION_ROLE, WORK_ROLE];

const labelsOf = (cluster: string): Record<string, string> => ({ [CLUSTER_NAME_LABEL]: cluster });

/** The hub namespace that holds a cluster's objects; it is not propagated to members. */
export const clusterNamespace = (cluster: string): Namespace => ({
  apiVersion: "v1",
  kind: "Namespace",
  metadata: { name: cluster, labels: { ...labelsOf(cluster), [SKIP_NAMESPACE]: "true" } },
});

export function clusterRole(cluster: string, isAccepted: boolean): ClusterRole {
  const own = { apiGroups: [CLUSTER_GROUP], resources: ["managedclusters"], resourceNames: [cluster] };
  const rules: ClusterRole["rules"] = isAccepted
    ? [
        {
          apiGroups: ["certificates.k8s.io"],
          resources: ["certificatesigningrequests"],
          verbs: ["create", "get", "list", "watch"],
        },
        { apiGroups: [REGISTER_GROUP], resources: ["managedclusters/clientcertificates"], verbs: ["renew"] },
        { ...own, verbs: ["get", "list", "update", "watch"] },
        { ...own, resources: ["managedclusters/status"], verbs: ["patch", "update"] },
      ]
    : [{ ...own, verbs: ["get", "list", "watch"] }];
  return {
    apiVersion: RBAC_API_VERSION,
    kind: "ClusterRole",
    metadata: { name: clusterRoleName(cluster), labels: labelsOf(cluster) },
    rules,
  };
}

/** The second group is for agents that authenticate with cloud provider accounts. */
const subjectsOf = (cluster: string): NonNullable<RoleBinding["subjects"]> =>
  [`${CLUSTER_USER_PREFIX}${cluster}`, `open-cluster-management:${cluster}`].map((name) => ({
    kind: "Group",
    apiGroup: RBAC_GROUP,
    name,
  }));
const roleRef = (name: string): RoleBinding["roleRef"] => ({ apiGroup: RBAC_GROUP, kind: "ClusterRole", name });

export function clusterRoleBinding(cluster: string): ClusterRoleBinding {
  return {
    apiVersion: RBAC_API_VERSION,
    kind: "ClusterRoleBinding",
    metadata: { name: clusterRoleName(cluster), labels: labelsOf(cluster) },
    roleRef: roleRef(clusterRoleName(cluster)),
    subjects: subjectsOf(cluster),
  };
}

/**
 * The work role binding outlives its deletion until the last ManifestWork is deleted, because the agent needs it to
 * clean up.
 */
export function roleBindings(cluster: string): RoleBinding[] {
  const binding = (name: string, role: string, finalizers: string[]): RoleBinding => ({
    apiVersion: RBAC_API_VERSION,
    kind: "RoleBinding",
    metadata: {
      name,
      namespace: cluster,
      labels: labelsOf(cluster),
      finalizers: finalizers.length > 0 ? finalizers : undefined,
    },
    roleRef: roleRef(role),
    subjects: subjectsOf(cluster),
  });
  return [
    binding(registrationBindingName(cluster), REGISTRATION_ROLE, []),
    binding(workBindingName(cluster), WORK_ROLE, [MANIFEST_WORK_FINALIZER]),
  ];
}

/** The permissions of every agent in its cluster's namespace. */
export function sharedRoles(): ClusterRole[] {
  const role = (name: string, rules: NonNullable<ClusterRole["rules"]>): ClusterRole => ({
    apiVersion: RBAC_API_VERSION,
    kind: "ClusterRole",
    metadata: { name, labels: labelsOf("") },
    rules,
  });
  return [
    role(REGISTRATION_ROLE, [
      { apiGroups: ["coordination.k8s.io"], resources: ["leases"], verbs: ["get", "list", "watch", "update"] },
      { apiGroups: [ADDON_GROUP], resources: ["managedclusteraddons"], verbs: ["get", "list", "watch"] },
      { apiGroups: [ADDON_GROUP], resources: ["managedclusteraddons/status"], verbs: ["patch", "update"] },
      { apiGroups: ["events.k8s.io"], resources: ["events"], verbs: ["create"] },
    ]),
    role(WORK_ROLE, [
      { apiGroups: ["", "events.k8s.io"], resources: ["events"], verbs: ["create", "patch", "update"] },
      { apiGroups: [WORK_GROUP], resources: ["manifestworks"], verbs: ["get", "list", "watch", "update", "patch"] },
      { apiGroups: [WORK_GROUP], resources: ["manifestworks/status"], verbs: ["patch", "update"] },
    ]),
  ];
}
