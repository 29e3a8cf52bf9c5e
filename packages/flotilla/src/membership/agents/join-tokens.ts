/** Join tokens for one cluster: how they are marked, and when they are deleted. Pure. */
import { RBAC_GENERATOR_USER } from "@flotilla/karmada";
import { CertificateRequestError, parseCertificateRequest } from "@flotilla/apimachinery";
import { requestState } from "@flotilla/kubernetes";
import type { CertificateSigningRequest, Secret } from "@flotilla/kubernetes";
import type { DeepReadonly } from "@flotilla/base";
import type { ObjectKey } from "@flotilla/client";
import { SINGLE_USE_TOKEN } from "../../flotilla-names.ts";

type Request = DeepReadonly<CertificateSigningRequest>;

/** The requester polls for its certificate with the token, at most every 20 s, and a network may fail for a while. */
const FETCH_MS = 5 * 60_000;

export const joinTokenKey = (hub: string, id: string): ObjectKey => ({
  cluster: hub,
  namespace: "kube-system",
  name: `bootstrap-token-${id}`,
});

export const isSingleUse = (token: DeepReadonly<Secret> | undefined): boolean =>
  token?.metadata.labels?.[SINGLE_USE_TOKEN] === "true";

/** When a single-use token that made this request is deleted; undefined while the request does not use it up. */
export function tokenEndMs(request: Request): number | undefined {
  const { approved, denied, issued } = requestState(request);
  // `karmadactl register` requests this certificate first, and then the agent's with the same token.
  if (!approved || denied || !issued || isGenerator(request)) return undefined;
  const approval = request.status?.conditions?.find(({ type }) => type === "Approved");
  const sinceMs = Date.parse(approval?.lastUpdateTime ?? request.metadata.creationTimestamp ?? "");
  return (Number.isNaN(sinceMs) ? 0 : sinceMs) + FETCH_MS;
}

function isGenerator({ spec }: Request): boolean {
  try {
    return parseCertificateRequest(spec.request).commonName === RBAC_GENERATOR_USER;
  } catch (error) {
    if (error instanceof CertificateRequestError) return false;
    throw error;
  }
}
