/**
 * Which requests for certificates `accept` approves: those of agents that came in by the doors for new clusters, as
 * clusteradm judges them. Pure.
 */
import { CLUSTER_NAME_LABEL, requestState } from "../../api/index.ts";
import type { CertificateSigningRequest } from "../../api/index.ts";
import type { DeepReadonly } from "../../base/index.ts";

type Request = DeepReadonly<CertificateSigningRequest>;

/** Users that may ask for a new cluster, each with the group that proves how it signed in. */
const DOORS: readonly { user: RegExp; group: RegExp }[] = [
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
  /** Requests that wait for somebody who looks: who asked is nobody that new clusters ask as. */
  suspicious: Request[];
  /** The last request, where somebody denied it or it could not be signed: its agent does not ask again for long. */
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
      DOORS.some(({ user, group }) => user.test(spec.username ?? "") && spec.groups?.some((name) => group.test(name)))
    );
  };
  return {
    approve: pending.filter(isTrusted),
    suspicious: pending.filter((request) => !isTrusted(request)),
    refused: isRefused ? last : undefined,
  };
}

const madeAt = ({ metadata }: Request): string => metadata.creationTimestamp ?? "";

/** Why the last request came to nothing, and what helps. */
export function describeRefusal(cluster: string, { metadata, status }: Request): string {
  const { type, message } = status?.conditions?.find(({ type: is }) => is === "Denied" || is === "Failed") ?? {};
  return `the last request of ${cluster}, ${metadata.name}, was ${type === "Failed" ? "not signed" : "denied"}${message ? ` (${message})` : ""}; its agent asks again an hour after that, or when it is started again`;
}
