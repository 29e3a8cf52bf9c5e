/**
 * Limits agents that registered through Karmada's API to the objects of their own cluster, whatever RBAC allows them, as
 * Kubernetes' NodeRestriction limits kubelets. RBAC cannot name the objects that a user may create, and Karmada's tools
 * create generous roles.
 *
 * The user that `karmadactl register` becomes may create only an agent's own roles, and only for that agent.
 */
import {
  agentElectionLease,
  agentUser,
  clusterOfAgentRole,
  clusterOfAgentUser,
  executionNamespace,
  clusterNameOf,
  impersonationSecretName,
  KARMADA_AGENTS_GROUP,
  KARMADA_CLUSTER_NAMESPACE,
  KARMADA_SYSTEM_NAMESPACE,
  RBAC_GENERATOR_REQUEST_PREFIX,
  RBAC_GENERATOR_USER,
} from "@flotilla/karmada";
import type { Cluster } from "@flotilla/karmada";
import { CertificateRequestError, parseCertificateRequest, refusal } from "@flotilla/apimachinery";
import type { AdmissionStep, KubernetesObject, RequestInfo } from "@flotilla/apimachinery";
import type { CertificateSigningRequest, Event, RoleBinding } from "@flotilla/kubernetes";
import type { DeepReadonly } from "@flotilla/base";
import { agentRoles } from "./karmada-access.ts";
import { agentNameProblem } from "./agent-name.ts";
import { RBAC_GROUP } from "@flotilla/kubernetes";

/** Applies to the hub only: on members, these users have no meaning. */
export const createAgentRestriction = (hub: string): AdmissionStep => ({
  name: "AgentRestriction",
  on: ["CREATE", "UPDATE", "DELETE"],
  matches: ({ cluster, user }) =>
    cluster === hub &&
    (user.groups.includes(KARMADA_AGENTS_GROUP) ||
      user.name === RBAC_GENERATOR_USER ||
      clusterOfAgentUser(user.name) !== undefined),
  check(review) {
    const problem = agentWriteProblem(review, review.object);
    if (problem !== undefined) throw refusal(review, problem);
  },
});

type Write = Pick<RequestInfo, "operation" | "kind" | "subresource" | "user">;
type Written = DeepReadonly<KubernetesObject>;

/** Why an agent may not make this write; undefined if it may. Pure. */
function agentWriteProblem(write: Write, object: Written): string | undefined {
  const { name: user } = write.user;
  if (user === RBAC_GENERATOR_USER) return generatorProblem(write, object);
  const cluster = clusterOfAgentUser(user);
  if (cluster === undefined) return `user "${user}" is in the group ${KARMADA_AGENTS_GROUP} and no agent of a cluster`;
  return agentNameProblem(cluster) ?? ruleFor(write)({ ...write, cluster, object });
}

interface AgentWrite extends Write {
  /** The agent's own cluster. */
  cluster: string;
  object: Written;
}
/** Why the write is rejected; undefined if it is not. */
type Rule = (write: AgentWrite) => string | undefined;

const ruleFor = ({ kind: { group, kind } }: Write): Rule => RULES.get(`${group}/${kind}`) ?? rejectKind;

const rejectKind: Rule = ({ cluster, kind: { plural } }) => `the agent of cluster ${cluster} cannot write ${plural}`;

const RULES = new Map<string, Rule>([
  ["cluster.karmada.io/Cluster", checkCluster],
  ["work.karmada.io/Work", checkWork],
  ["coordination.k8s.io/Lease", checkLease],
  ["/Secret", checkSecret],
  ["/Namespace", checkNamespace],
  ["/Event", checkEvent],
  ["events.k8s.io/Event", checkEvent],
  ["certificates.k8s.io/CertificateSigningRequest", checkRequest],
]);

function checkCluster({ cluster, object, operation, subresource }: AgentWrite): string | undefined {
  if (object.metadata.name !== cluster) return `the agent of cluster ${cluster} can write only its own Cluster`;
  if (operation === "DELETE" || subresource !== undefined) return undefined;
  const { syncMode, secretRef, impersonatorSecretRef } = (object as DeepReadonly<Cluster>).spec;
  if (syncMode !== "Pull") return `the agent of cluster ${cluster} can only register it with syncMode: Pull`;
  const own = secretNames(cluster);
  for (const reference of [secretRef, impersonatorSecretRef])
    if (reference && (reference.namespace !== KARMADA_CLUSTER_NAMESPACE || !own.includes(reference.name)))
      return `the Cluster of an agent can name only the Secrets ${own.join(" and ")} in ${KARMADA_CLUSTER_NAMESPACE}`;
  return undefined;
}

function checkWork({ cluster, object }: AgentWrite): string | undefined {
  const namespace = executionNamespace(cluster);
  return object.metadata.namespace === namespace
    ? undefined
    : `the agent of cluster ${cluster} can write Works only in ${namespace}`;
}

/** Its heartbeat, and the election among its replicas. */
function checkLease({ cluster, object: { metadata } }: AgentWrite): string | undefined {
  const own = [`${KARMADA_CLUSTER_NAMESPACE}/${cluster}`, `${KARMADA_SYSTEM_NAMESPACE}/${agentElectionLease(cluster)}`];
  return own.includes(`${metadata.namespace ?? ""}/${metadata.name}`)
    ? undefined
    : `the agent of cluster ${cluster} can write only the Leases ${own.join(" and ")}`;
}

const secretNames = (cluster: string): string[] => [cluster, impersonationSecretName(cluster)];

function checkSecret({ cluster, object: { metadata } }: AgentWrite): string | undefined {
  const own = secretNames(cluster);
  return metadata.namespace === KARMADA_CLUSTER_NAMESPACE && own.includes(metadata.name)
    ? undefined
    : `the agent of cluster ${cluster} can write only the Secrets ${own.join(" and ")} in ${KARMADA_CLUSTER_NAMESPACE}`;
}

function checkNamespace({ cluster, object, operation }: AgentWrite): string | undefined {
  const namespace = executionNamespace(cluster);
  return operation === "CREATE" && object.metadata.name === namespace
    ? undefined
    : `the agent of cluster ${cluster} can only create the namespace ${namespace}`;
}

/** Events on templates are in the namespace of the template; those on members and Works only on its own. */
function checkEvent({ cluster, object }: AgentWrite): string | undefined {
  const event = object as DeepReadonly<Event> & { regarding?: DeepReadonly<Event>["involvedObject"] };
  const { kind, name } = event.regarding ?? event.involvedObject ?? {};
  const foreignSpace = clusterNameOf(object.metadata.namespace ?? "");
  const isOfOther =
    (foreignSpace !== undefined && foreignSpace !== cluster) ||
    ((kind === "Cluster" || kind === "ManagedCluster") && name !== cluster);
  return isOfOther ? `the agent of cluster ${cluster} cannot report events of another cluster` : undefined;
}

/** Only for itself; approvals and certificates are written by the hub. */
function checkRequest(write: AgentWrite): string | undefined {
  const { cluster, object, operation, subresource, user } = write;
  const isOwn =
    operation === "CREATE" &&
    subresource === undefined &&
    commonNameOf(object as DeepReadonly<CertificateSigningRequest>) === user.name;
  return isOwn ? undefined : `the agent of cluster ${cluster} can only request certificates for ${user.name}`;
}

/** Undefined for a request that cannot be read. */
function commonNameOf({ spec }: DeepReadonly<CertificateSigningRequest>): string | undefined {
  try {
    return parseCertificateRequest(spec.request).commonName;
  } catch (error) {
    if (error instanceof CertificateRequestError) return undefined;
    throw error;
  }
}

const RBAC_KINDS = new Set(["ClusterRole", "ClusterRoleBinding", "Role", "RoleBinding"]);

function generatorProblem({ operation, kind, subresource }: Write, object: Written): string | undefined {
  const isAllowed =
    operation === "CREATE" && subresource === undefined
      ? grantsAgent(kind, object)
      : operation === "DELETE" &&
        kind.kind === "CertificateSigningRequest" &&
        object.metadata.name.startsWith(RBAC_GENERATOR_REQUEST_PREFIX);
  return isAllowed
    ? undefined
    : `${RBAC_GENERATOR_USER} can only create the roles that 'karmadactl register' grants to one agent, and their namespaces`;
}

/** An object that `karmadactl register` creates for one agent. */
function grantsAgent({ group, kind }: Write["kind"], object: Written): boolean {
  const { name, namespace = "" } = object.metadata;
  if (group === "" && kind === "Namespace")
    return name === KARMADA_CLUSTER_NAMESPACE || clusterNameOf(name) !== undefined;
  if (group !== RBAC_GROUP || !RBAC_KINDS.has(kind)) return false;
  const cluster = agentOfRole(namespace, name);
  return cluster !== undefined && bindsOnly(object, cluster);
}

/** The agent whose role or binding has this name; undefined for other names. */
function agentOfRole(namespace: string, name: string): string | undefined {
  if (namespace === "") return clusterOfAgentRole(name);
  const cluster = clusterOfAgentRole(name.replace(/-[^-:]*$/, ""));
  const isOwn =
    cluster !== undefined && agentRoles(cluster).some((role) => role.namespace === namespace && role.name === name);
  return isOwn ? cluster : undefined;
}

/** True for a role; a binding must not have other subjects. */
function bindsOnly(object: Written, cluster: string): boolean {
  const { subjects = [], roleRef } = object as DeepReadonly<Partial<RoleBinding>>;
  if (roleRef === undefined) return true;
  return (
    roleRef.name === object.metadata.name &&
    subjects.every(({ kind, name }) => kind === "User" && name === agentUser(cluster))
  );
}
