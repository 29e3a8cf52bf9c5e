/** Accounts and roles of an installation, and the namespaces that a hub has. Pure. */
import { CLIENT_SIGNER, RBAC_GROUP } from "@flotilla/kubernetes";
import type { KubernetesObject } from "@flotilla/apimachinery";
import type { PolicyRule } from "@flotilla/apimachinery/facts/rbac-v1.ts";
import type { JsonObject } from "@flotilla/base";
import { KARMADA_CLUSTER_NAMESPACE, KARMADA_SYSTEM_NAMESPACE, SKIP_NAMESPACE } from "@flotilla/karmada";
import { OCM_HUB_NAMESPACE, OCM_NAMESPACE } from "@flotilla/ocm";
import { auditorRole } from "../decisions/auditor-access.ts";
import { plannerRoles } from "../explain/planner-access.ts";
import { clusterProxyAdministrators } from "../membership/proxy-access.ts";
import { bootstrapAccess } from "../ocm/registration/hub-access.ts";
import { CONTROLLERS_NAME, INSTALLED_LABELS, WEBHOOKS_CERTIFICATE, WEBHOOKS_NAME } from "./install-names.ts";
import { installedKinds } from "./plan-definitions.ts";
import type { WorkloadProject } from "./plan-definitions.ts";

export interface AccessOptions {
  namespace: string;
  projects: readonly WorkloadProject[];
  /** Users that may use the proxy of every Cluster. */
  proxyUsers: readonly string[];
}

const READ = ["get", "list", "watch"];

/** Karmada's label: members get no namespace of this name. */
const NOT_PROPAGATED = { [SKIP_NAMESPACE]: "true" };

export function planNamespaces(namespace: string): JsonObject[] {
  return [namespace, KARMADA_SYSTEM_NAMESPACE, KARMADA_CLUSTER_NAMESPACE, OCM_NAMESPACE, OCM_HUB_NAMESPACE].map(
    (name) => ({
      apiVersion: "v1",
      kind: "Namespace",
      metadata: { name, labels: { ...INSTALLED_LABELS, ...NOT_PROPAGATED } },
    }),
  );
}

/** Of the controllers: templates may be of any kind, and their status is written. */
const CONTROLLERS_RULES: readonly PolicyRule[] = [
  {
    apiGroups: ["*"],
    resources: ["*"],
    verbs: [...READ, "create", "update", "patch", "delete", "deletecollection"],
  },
  // They grant agents and members what those need, which the account itself may not have.
  { apiGroups: [RBAC_GROUP], resources: ["clusterroles", "roles"], verbs: ["escalate", "bind"] },
  // They approve the certificates of agents that may join.
  {
    apiGroups: ["certificates.k8s.io"],
    resources: ["signers"],
    resourceNames: [CLIENT_SIGNER],
    verbs: ["approve"],
  },
  { nonResourceURLs: ["*"], verbs: ["get"] },
];

/** Of the webhooks: explanations read what the controllers read. */
const WEBHOOKS_RULES: readonly PolicyRule[] = [
  { apiGroups: ["*"], resources: ["*"], verbs: READ },
  { apiGroups: ["authorization.k8s.io"], resources: ["subjectaccessreviews"], verbs: ["create"] },
  { apiGroups: ["", "events.k8s.io"], resources: ["events"], verbs: ["create", "patch", "update"] },
  // A request about a Cluster is forwarded as the user who sent it.
  { apiGroups: [""], resources: ["users", "groups", "serviceaccounts"], verbs: ["impersonate"] },
  { apiGroups: ["authentication.k8s.io"], resources: ["*"], verbs: ["impersonate"] },
  // The CA of their certificate.
  {
    apiGroups: ["admissionregistration.k8s.io"],
    resources: ["mutatingwebhookconfigurations", "validatingwebhookconfigurations"],
    resourceNames: [WEBHOOKS_NAME],
    verbs: ["patch"],
  },
  { apiGroups: ["apiextensions.k8s.io"], resources: ["customresourcedefinitions"], verbs: ["patch"] },
  { apiGroups: ["apiregistration.k8s.io"], resources: ["apiservices"], verbs: ["create", "patch"] },
  { nonResourceURLs: ["*"], verbs: ["get"] },
];

export function planAccess({ namespace, projects, proxyUsers }: AccessOptions): JsonObject[] {
  return [
    ...account(namespace, CONTROLLERS_NAME, CONTROLLERS_RULES),
    ...account(namespace, WEBHOOKS_NAME, WEBHOOKS_RULES),
    ...inNamespace(namespace, WEBHOOKS_NAME, [
      { apiGroups: [""], resources: ["secrets"], verbs: ["create"] },
      { apiGroups: [""], resources: ["secrets"], resourceNames: [WEBHOOKS_CERTIFICATE], verbs: ["update", "patch"] },
    ]),
    ...planUserAccess({ projects, proxyUsers }),
  ];
}

/** What agents may do before they have joined, and roles for people. */
function planUserAccess({ projects, proxyUsers }: Pick<AccessOptions, "projects" | "proxyUsers">): JsonObject[] {
  // Bindings of the kubeadm ConfigMap cluster-info and its reader belong to the cluster.
  const isOurs = ({ metadata }: KubernetesObject): boolean => metadata.namespace !== "kube-public";
  return [
    ...bootstrapAccess().filter((object) => isOurs(object)),
    ...(proxyUsers.length > 0 ? clusterProxyAdministrators(proxyUsers) : []),
    auditorRole(),
    // The rules of the aggregated role are written by the cluster's own controller.
    ...plannerRoles(installedKinds(projects), []).map(({ rules, aggregationRule, ...role }) =>
      aggregationRule ? { ...role, aggregationRule } : { ...role, rules },
    ),
  ].map((object) => labelled(object as unknown as JsonObject));
}

const labelled = (object: JsonObject): JsonObject => {
  const metadata = object["metadata"] as JsonObject;
  return {
    ...object,
    metadata: { ...metadata, labels: { ...(metadata["labels"] as JsonObject), ...INSTALLED_LABELS } },
  };
};

function account(namespace: string, name: string, rules: readonly PolicyRule[]): JsonObject[] {
  const labels = { ...INSTALLED_LABELS };
  return [
    { apiVersion: "v1", kind: "ServiceAccount", metadata: { name, namespace, labels } },
    {
      apiVersion: `${RBAC_GROUP}/v1`,
      kind: "ClusterRole",
      metadata: { name, labels },
      rules: rules as unknown as JsonObject[],
    },
    {
      apiVersion: `${RBAC_GROUP}/v1`,
      kind: "ClusterRoleBinding",
      metadata: { name, labels },
      roleRef: { apiGroup: RBAC_GROUP, kind: "ClusterRole", name },
      subjects: [{ kind: "ServiceAccount", name, namespace }],
    },
  ];
}

function inNamespace(namespace: string, name: string, rules: JsonObject[]): JsonObject[] {
  const metadata = { name, namespace, labels: { ...INSTALLED_LABELS } };
  return [
    { apiVersion: `${RBAC_GROUP}/v1`, kind: "Role", metadata, rules },
    {
      apiVersion: `${RBAC_GROUP}/v1`,
      kind: "RoleBinding",
      metadata,
      roleRef: { apiGroup: RBAC_GROUP, kind: "Role", name },
      subjects: [{ kind: "ServiceAccount", name, namespace }],
    },
  ];
}
