/**
 * Objects that a hub has from the start so that clusters can register themselves: the roles of bootstrap tokens and
 * agents under the names of Karmada's and Open Cluster Management's installers.
 *
 * Karmada gives cluster-admin to the user that `karmadactl register` temporarily becomes; here that user may only grant
 * what an agent needs: RBAC does not let a user grant permissions it does not have. Its certificate is never approved
 * automatically, and `agent-restriction.ts` rejects writes other than those of `karmadactl register`.
 */
import { DEFAULT_CLUSTER_SET, OCM_NAMESPACE, OCM_TOKENS_GROUP } from "@flotilla/ocm";
import { ANONYMOUS_USER, RBAC_GROUP } from "@flotilla/kubernetes";
import type { ClusterRole, ClusterRoleBinding, Role, RoleBinding, ServiceAccount } from "@flotilla/kubernetes";
import type { PolicyRule } from "@flotilla/apimachinery/facts/rbac-v1.ts";
import {
  KARMADA_AGENTS_GROUP,
  KARMADA_CLUSTER_NAMESPACE,
  KARMADA_TOKENS_GROUP,
  RBAC_GENERATOR_USER,
} from "@flotilla/karmada";

type Object = ClusterRole | ClusterRoleBinding | Role | RoleBinding | ServiceAccount;
type Subject = { kind: "User" | "Group"; name: string } | { kind: "ServiceAccount"; name: string; namespace: string };

const API_VERSION = `${RBAC_GROUP}/v1`;
const CSR: Pick<PolicyRule, "apiGroups"> = { apiGroups: ["certificates.k8s.io"] };
const KARMADA_TOKENS: Subject = { kind: "Group", name: KARMADA_TOKENS_GROUP };
const KARMADA_AGENTS: Subject = { kind: "Group", name: KARMADA_AGENTS_GROUP };
const RBAC_GENERATOR = "system:karmada:agent-rbac-generator";
const GENERATOR: Subject = { kind: "User", name: RBAC_GENERATOR_USER };
const CLUSTER_INFO_READER = "system:karmada:bootstrap-signer-clusterinfo";

/** The service account whose tokens `clusteradm` issues. */
const OCM_ACCOUNT = "agent-registration-bootstrap";
const OCM_ACCOUNT_SUBJECT: Subject = { kind: "ServiceAccount", name: OCM_ACCOUNT, namespace: OCM_NAMESPACE };
const OCM_TOKENS: Subject = { kind: "Group", name: OCM_TOKENS_GROUP };
const OCM_BOOTSTRAP = "open-cluster-management:bootstrap";

/** The permissions of Karmada's pull-mode agent on the hub, outside of the namespace with the secrets. */
const AGENT_RULES: readonly PolicyRule[] = [
  { apiGroups: ["cluster.karmada.io"], resources: ["clusters"], verbs: ["get", "create", "list", "watch", "delete"] },
  { apiGroups: ["cluster.karmada.io"], resources: ["clusters/status"], verbs: ["update"] },
  {
    apiGroups: ["config.karmada.io"],
    resources: ["resourceinterpreterwebhookconfigurations", "resourceinterpretercustomizations"],
    verbs: ["get", "list", "watch"],
  },
  {
    apiGroups: ["work.karmada.io"],
    resources: ["works"],
    verbs: ["get", "create", "list", "watch", "update", "delete"],
  },
  { apiGroups: ["work.karmada.io"], resources: ["works/status"], verbs: ["patch", "update"] },
  { apiGroups: ["coordination.k8s.io"], resources: ["leases"], verbs: ["get", "create", "update"] },
  { ...CSR, resources: ["certificatesigningrequests"], verbs: ["get", "create"] },
  { apiGroups: [""], resources: ["namespaces"], verbs: ["get", "create"] },
  { apiGroups: [""], resources: ["services"], verbs: ["list", "watch"] },
  { apiGroups: [""], resources: ["events"], verbs: ["patch", "create", "update"] },
];
/** It creates objects, and changes or deletes only the request with which it began. */
const REGISTER_RULES: readonly PolicyRule[] = [
  {
    apiGroups: [RBAC_GROUP],
    resources: ["clusterroles", "clusterrolebindings", "roles", "rolebindings"],
    verbs: ["create"],
  },
  { ...CSR, resources: ["certificatesigningrequests"], verbs: ["delete"] },
];

export function bootstrapAccess(): Object[] {
  return [
    clusterBinding("system:karmada:agent-bootstrap", "system:node-bootstrapper", KARMADA_TOKENS),
    clusterRole("system:karmada:certificatesigningrequest:autoapprover", [
      { ...CSR, resources: ["certificatesigningrequests/clusteragent"], verbs: ["create"] },
    ]),
    clusterBinding(
      "system:karmada:agent-autoapprove-bootstrap",
      "system:karmada:certificatesigningrequest:autoapprover",
      KARMADA_TOKENS,
    ),
    clusterRole("system:karmada:certificatesigningrequest:selfautoapprover", [
      { ...CSR, resources: ["certificatesigningrequests/selfclusteragent"], verbs: ["create"] },
    ]),
    clusterBinding(
      "system:karmada:agent-autoapprove-certificate-rotation",
      "system:karmada:certificatesigningrequest:selfautoapprover",
      KARMADA_AGENTS,
    ),
    clusterRole(RBAC_GENERATOR, [...AGENT_RULES, ...REGISTER_RULES]),
    clusterBinding(RBAC_GENERATOR, RBAC_GENERATOR, GENERATOR),
    ...inNamespace(
      KARMADA_CLUSTER_NAMESPACE,
      RBAC_GENERATOR,
      [{ apiGroups: [""], resources: ["secrets"], verbs: ["get", "patch", "create"] }],
      GENERATOR,
    ),
    ...inNamespace(
      "kube-public",
      CLUSTER_INFO_READER,
      [{ apiGroups: [""], resources: ["configmaps"], resourceNames: ["cluster-info"], verbs: ["get"] }],
      { kind: "User", name: ANONYMOUS_USER },
      // clusteradm reads it with the token.
      OCM_ACCOUNT_SUBJECT,
      OCM_TOKENS,
    ),

    { apiVersion: "v1", kind: "ServiceAccount", metadata: { name: OCM_ACCOUNT, namespace: OCM_NAMESPACE } },
    clusterRole(OCM_BOOTSTRAP, [
      { ...CSR, resources: ["certificatesigningrequests"], verbs: ["create", "get", "list", "watch"] },
      { apiGroups: ["cluster.open-cluster-management.io"], resources: ["managedclusters"], verbs: ["get", "create"] },
      // A new cluster is in this set; an administrator moves it to another.
      {
        apiGroups: ["cluster.open-cluster-management.io"],
        resources: ["managedclustersets/join"],
        resourceNames: [DEFAULT_CLUSTER_SET],
        verbs: ["create"],
      },
    ]),
    clusterBinding(`${OCM_BOOTSTRAP}:agent-registration`, OCM_BOOTSTRAP, OCM_ACCOUNT_SUBJECT),
    clusterBinding(`${OCM_BOOTSTRAP}:managedcluster`, OCM_BOOTSTRAP, OCM_TOKENS),
  ];
}

function clusterRole(name: string, rules: PolicyRule[]): ClusterRole {
  return { apiVersion: API_VERSION, kind: "ClusterRole", metadata: { name }, rules };
}

function clusterBinding(name: string, role: string, subject: Subject): ClusterRoleBinding {
  return {
    apiVersion: API_VERSION,
    kind: "ClusterRoleBinding",
    metadata: { name },
    roleRef: { apiGroup: RBAC_GROUP, kind: "ClusterRole", name: role },
    subjects: [named(subject)],
  };
}

/** A role in one namespace, and its subjects. */
function inNamespace(
  namespace: string,
  name: string,
  rules: PolicyRule[],
  ...subjects: Subject[]
): (Role | RoleBinding)[] {
  return [
    { apiVersion: API_VERSION, kind: "Role", metadata: { name, namespace }, rules },
    {
      apiVersion: API_VERSION,
      kind: "RoleBinding",
      metadata: { name, namespace },
      roleRef: { apiGroup: RBAC_GROUP, kind: "Role", name },
      subjects: subjects.map(named),
    },
  ];
}

function named(subject: Subject): Subject & { apiGroup?: string } {
  return subject.kind === "ServiceAccount" ? subject : { ...subject, apiGroup: RBAC_GROUP };
}
