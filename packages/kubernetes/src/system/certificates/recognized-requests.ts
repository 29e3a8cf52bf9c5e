/** Certificate requests of kubelets, which RBAC can approve automatically. */
import { NODES_GROUP, NODE_PREFIX } from "../../rbac/identities.ts";
import { KUBELET_CLIENT_SIGNER } from "../../well-known-names.ts";
import { type CertificateSigningRequest } from "../../certificatesigningrequest/certificatesigningrequest-kind.ts";
import { type CertificateRequest } from "@flotilla/apimachinery";
import type { DeepReadonly } from "@flotilla/base";

/** The permission that the requester needs, to create this subresource of its request, and the condition message. */
export interface Approval {
  subresource: string;
  message: string;
}

/** In the order of precedence. Empty if only a user can approve the request. */
export function approvalsFor(
  csr: DeepReadonly<CertificateSigningRequest>,
  request: CertificateRequest,
): readonly Approval[] {
  const { signerName, usages = [], username = "" } = csr.spec;
  if (signerName !== KUBELET_CLIENT_SIGNER || kubeletClientProblem(request, usages) !== undefined) return [];
  return username === request.commonName ? [SELF, ANY] : [ANY];
}

export function kubeletClientProblem(request: CertificateRequest, usages: readonly string[]): string | undefined {
  return clientCertificateProblem(request, usages, { group: NODES_GROUP, userPrefix: NODE_PREFIX });
}

/** For a kubelet that requests a certificate in its own name, and for any other requester. */
const SELF: Approval = {
  subresource: "selfnodeclient",
  message: "Auto approving self kubelet client certificate after SubjectAccessReview.",
};
const ANY: Approval = {
  subresource: "nodeclient",
  message: "Auto approving kubelet client certificate after SubjectAccessReview.",
};

/** One group, a user name with the given prefix, no other names, and the usages of a client. */
export function clientCertificateProblem(
  request: CertificateRequest,
  usages: readonly string[],
  { group, userPrefix }: { group: string; userPrefix: string },
): string | undefined {
  if (request.organizations.length !== 1 || request.organizations[0] !== group)
    return `subject organization is not ${group}`;
  if (request.dnsNames.length > 0) return "DNS subjectAltNames are not allowed";
  if (request.emailAddresses.length > 0) return "Email subjectAltNames are not allowed";
  if (request.ipAddresses.length > 0) return "IP subjectAltNames are not allowed";
  if (request.uris.length > 0) return "URI subjectAltNames are not allowed";
  if (!request.commonName.startsWith(userPrefix)) return `subject common name does not begin with ${userPrefix}`;
  // Signing-only keys cannot encipher, and their owners do not request that usage.
  const rest = new Set(usages);
  const isComplete = rest.delete("digital signature") && rest.delete("client auth");
  rest.delete("key encipherment");
  return isComplete && rest.size === 0
    ? undefined
    : "usages did not match [client auth digital signature key encipherment]";
}
