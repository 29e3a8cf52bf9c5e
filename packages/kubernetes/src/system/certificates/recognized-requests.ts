/**
 * Certificate requests of programs that RBAC can approve automatically: kubelets, and agents of Karmada's pull mode.
 */
import { CLIENT_SIGNER, KUBELET_CLIENT_SIGNER } from "../../certificatesigningrequest/signer-names.ts";
import { type CertificateSigningRequest } from "../../certificatesigningrequest/certificatesigningrequest-kind.ts";
import { type CertificateRequest } from "@flotilla/apimachinery";
import type { DeepReadonly } from "@flotilla/base";

interface Recognizer {
  signer: string;
  /** Undefined if the request is valid. */
  problem(request: CertificateRequest, usages: readonly string[]): string | undefined;
  /**
   * For a program that requests a certificate in its own name, and for any other. The required permission is to create
   * this subresource of certificatesigningrequests.
   */
  self: Approval;
  any: Approval;
}

/** The permission that the requester needs, and the resulting condition message. */
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
  const found = RECOGNIZERS.find(
    ({ signer, problem }) => signer === signerName && problem(request, usages) === undefined,
  );
  if (!found) return [];
  return username === request.commonName ? [found.self, found.any] : [found.any];
}

export function kubeletClientProblem(request: CertificateRequest, usages: readonly string[]): string | undefined {
  return clientProblem(request, usages, "system:nodes", "system:node:");
}

const RECOGNIZERS: readonly Recognizer[] = [
  {
    signer: KUBELET_CLIENT_SIGNER,
    problem: kubeletClientProblem,
    self: {
      subresource: "selfnodeclient",
      message: "Auto approving self kubelet client certificate after SubjectAccessReview.",
    },
    any: { subresource: "nodeclient", message: "Auto approving kubelet client certificate after SubjectAccessReview." },
  },
  {
    signer: CLIENT_SIGNER,
    problem: (request, usages) => clientProblem(request, usages, "system:karmada:agents", "system:karmada:agent:"),
    self: {
      subresource: "selfclusteragent",
      message: "Auto approving self karmada agent certificate after SubjectAccessReview.",
    },
    any: {
      subresource: "clusteragent",
      message: "Auto approving karmada agent certificate after SubjectAccessReview.",
    },
  },
];

/** One group, a user name with the given prefix, no other names, and the usages of a client. */
function clientProblem(
  request: CertificateRequest,
  usages: readonly string[],
  group: string,
  userPrefix: string,
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
