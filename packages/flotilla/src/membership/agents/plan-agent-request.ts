/**
 * Decides a certificate request for an agent of Karmada's API. Pure.
 *
 * A join token passes through many hands, so it may register a new cluster, and nothing else: not the name of a cluster
 * that exists, and not the user that grants permissions.
 */
import {
  agentRoleName,
  agentUser,
  clusterOfAgentUser,
  KARMADA_AGENTS_GROUP,
  KARMADA_CLUSTER_NAMESPACE,
  RBAC_GENERATOR_USER,
} from "@flotilla/karmada";
import { CertificateRequestError, parseCertificateRequest } from "@flotilla/apimachinery";
import { CLIENT_SIGNER, clientCertificateProblem } from "@flotilla/kubernetes";
import type { CertificateSigningRequest } from "@flotilla/kubernetes";
import type { DeepReadonly } from "@flotilla/base";
import { agentNameProblem } from "./agent-name.ts";

type Request = DeepReadonly<CertificateSigningRequest>;

/** What a request asks for. `renewal`: the agent itself requests its next certificate. */
export type AgentRequest =
  | { type: "generator" }
  | { type: "registration" | "renewal"; cluster: string; requester: string };

/** Undefined for a request that is not exactly that of an agent: an administrator decides it. */
export function recognizeAgentRequest({ spec }: Request): AgentRequest | undefined {
  const { signerName, usages = [], username: requester = "" } = spec;
  if (signerName !== CLIENT_SIGNER) return undefined;
  try {
    const request = parseCertificateRequest(spec.request);
    if (clientCertificateProblem(request, usages, { group: KARMADA_AGENTS_GROUP, userPrefix: agentUser("") }))
      return undefined;
    const { commonName } = request;
    if (commonName === RBAC_GENERATOR_USER) return { type: "generator" };
    const cluster = clusterOfAgentUser(commonName) ?? "";
    return { type: requester === commonName ? "renewal" : "registration", cluster, requester };
  } catch (error) {
    if (error instanceof CertificateRequestError) return undefined;
    throw error;
  }
}

/** What the hub knows of the requester and of the name. */
export interface AgentRequestFacts {
  /** RBAC allows the requester to register clusters, or to renew its own certificate. */
  isAllowed: boolean;
  /** The first object that has the name already. */
  takenBy?: "Cluster" | "ManagedCluster" | "LogicalCluster" | "Secret";
  /** The Cluster of the name is one whose agent pulls. */
  isPullMember: boolean;
  /** The requester of a registration whose agent has not created its Cluster yet. */
  reservedFor?: string;
  /** The join token may register one cluster only, and this other request with it was approved. */
  usedBy?: string;
}

export type AgentRequestPlan =
  | { type: "leave" }
  | { type: "approve"; message: string }
  | { type: "deny"; message: string };

const SELF_MESSAGE = "Auto approving self karmada agent certificate after SubjectAccessReview.";
const MESSAGE = "Auto approving karmada agent certificate after SubjectAccessReview.";
const JOIN_TOKEN_PREFIX = "system:bootstrap:";

/** The id of the join token that a user authenticated with; undefined for other users. */
export const joinTokenOf = (user: string): string | undefined =>
  user.startsWith(JOIN_TOKEN_PREFIX) ? user.slice(JOIN_TOKEN_PREFIX.length) : undefined;

export function planAgentRequest(request: AgentRequest, facts: AgentRequestFacts): AgentRequestPlan {
  if (request.type === "generator") return { type: "leave" };
  return request.type === "renewal" ? planRenewal(request.cluster, facts) : planRegistration(request, facts);
}

/** The agent of a cluster that left must not renew its certificate for ever. */
function planRenewal(cluster: string, { isAllowed, isPullMember, reservedFor }: AgentRequestFacts): AgentRequestPlan {
  if (!isAllowed) return { type: "leave" };
  return isPullMember || reservedFor !== undefined
    ? { type: "approve", message: SELF_MESSAGE }
    : deny(`cluster ${cluster} is not a pull member of this hub; register it again with 'flotilla register'`);
}

function planRegistration(
  { cluster, requester }: { cluster: string; requester: string },
  { isAllowed, takenBy, reservedFor, usedBy }: AgentRequestFacts,
): AgentRequestPlan {
  const token = joinTokenOf(requester);
  if (!isAllowed)
    return token === undefined
      ? { type: "leave" }
      : deny(
          `the token ${token} is not for Karmada's API; create one with 'flotilla token --through karmada', or ` +
            "join with 'flotilla agent --bootstrap-kubeconfig FILE'",
        );
  const problem = agentNameProblem(cluster);
  if (problem !== undefined) return deny(`${problem}; choose another name with --cluster-name`);
  if (takenBy !== undefined) return deny(describeTaken(cluster, takenBy));
  if (usedBy !== undefined)
    return deny(
      `the token ${token ?? ""} was already used by request ${usedBy}; create another with 'flotilla token ` +
        "--through karmada', or one for several clusters with --reusable",
    );
  if (reservedFor !== undefined && reservedFor !== requester)
    return deny(
      `cluster ${cluster} was registered by ${reservedFor}, and its agent has not started yet; start it, ` +
        `or withdraw the registration with 'kubectl delete clusterrole ${agentRoleName(cluster)}' and ` +
        "register again",
    );
  return { type: "approve", message: MESSAGE };
}

function describeTaken(cluster: string, kind: NonNullable<AgentRequestFacts["takenBy"]>): string {
  const another = "choose another name with --cluster-name";
  if (kind === "LogicalCluster") return `the hub already has a LogicalCluster ${cluster}; ${another}`;
  if (kind === "Secret")
    return `the hub has credentials of a cluster ${cluster} in the namespace ${KARMADA_CLUSTER_NAMESPACE}; ${another}, or delete the Secrets of that cluster`;
  return `the hub already has a ${kind === "Cluster" ? "cluster" : kind} ${cluster}; ${another}, or remove it with 'flotilla unjoin ${cluster}'`;
}

const deny = (message: string): AgentRequestPlan => ({ type: "deny", message });
