/**
 * Decides which certificate requests `accept` approves: those of agents that authenticated as a bootstrap user for new
 * clusters, by the same rules as clusteradm. Pure.
 */
import { CLUSTER_NAME_LABEL } from "@flotilla/ocm";
import { requestState } from "@flotilla/kubernetes";
import type { CertificateSigningRequest } from "@flotilla/kubernetes";
import type { DeepReadonly } from "@flotilla/base";

type Request = DeepReadonly<CertificateSigningRequest>;

/** Users that may request a new cluster, each with the group that proves how it authenticated. */
const BOOTSTRAP_USERS: readonly { user: RegExp; group: RegExp }[] = [
  { user: /^system:bootstrap:[a-z0-9]{6}$/, group: /^system:bootstrappers:managedcluster$/ },
  {
    user: /^system:serviceaccount:open-cluster-management:agent-registration-bootstrap$/,
    group: /^system:serviceaccounts:open-cluster-management$/,
  },
  {
    user: /^system:serviceaccount:open-cluster-management-hub:grpc-server-sa$/,
    group: /^system:serviceaccounts:open-cluster-management-hub$/,
  },
];

export interface AcceptPlan {
  approve: Request[];
  /** Requests that need a manual decision: the requester is not a bootstrap user for new clusters. */
  suspicious: Request[];
  /** The last request, if it was denied or could not be signed; its agent does not retry for a long time. */
  refused?: Request;
}

export function planAccept(
  cluster: string,
  requests: readonly Request[],
  { requesters, skipsCheck }: { requesters: readonly string[]; skipsCheck: boolean },
): AcceptPlan {
  const own = requests.filter(({ metadata }) => metadata.labels?.[CLUSTER_NAME_LABEL] === cluster);
  const pending = own.filter((request) => {
    const { approved, denied } = requestState(request);
    return !approved && !denied;
  });
  const last = own.reduce<Request | undefined>(
    (latest, request) => (latest && madeAt(latest) > madeAt(request) ? latest : request),
    undefined,
  );
  const isRefused = last !== undefined && (requestState(last).denied || requestState(last).failed);
  const isTrusted = ({ spec }: Request): boolean => {
    if (requesters.length > 0) return requesters.includes(spec.username ?? "");
    return (
      skipsCheck ||
      BOOTSTRAP_USERS.some(
        ({ user, group }) => user.test(spec.username ?? "") && spec.groups?.some((name) => group.test(name)),
      )
    );
  };
  return {
    approve: pending.filter(isTrusted),
    suspicious: pending.filter((request) => !isTrusted(request)),
    refused: isRefused ? last : undefined,
  };
}

const madeAt = ({ metadata }: Request): string => metadata.creationTimestamp ?? "";

/** Why the last request failed, and what to do. */
export function describeRefusal(cluster: string, { metadata, status }: Request): string {
  const { type, message } = status?.conditions?.find(({ type: is }) => is === "Denied" || is === "Failed") ?? {};
  return (
    `the last request of ${cluster}, ${metadata.name}, was ` +
    `${type === "Failed" ? "not signed" : "denied"}${message ? ` (${message})` : ""}; its agent retries ` +
    "after an hour, or when it is restarted"
  );
}
