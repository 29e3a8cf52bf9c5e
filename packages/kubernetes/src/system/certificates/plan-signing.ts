/**
 * Whether a certificate request is to be signed, and for how long; or the error in it, which an approval cannot
 * override.
 */
import { CLIENT_SIGNER, KUBELET_CLIENT_SIGNER } from "../../well-known-names.ts";
import {
  requestState,
  type CertificateSigningRequest,
} from "../../certificatesigningrequest/certificatesigningrequest-kind.ts";
import { parseCertificateRequest, type CertificateRequest } from "@flotilla/apimachinery";
import type { DeepReadonly } from "@flotilla/base";
import type { CertificateLifetime } from "../dependencies.ts";
import { kubeletClientProblem } from "./recognized-requests.ts";

export type SigningPlan =
  | { type: "nothing" }
  | { type: "fail"; message: string }
  | { type: "sign"; request: CertificateRequest; usages: readonly string[]; lifetimeMs: number };

const YEAR_SECONDS = 365 * 24 * 60 * 60;
/** kube-controller-manager's default; a shorter requested duration is honored. */
const USUAL: CertificateLifetime = { defaultSeconds: YEAR_SECONDS, maxSeconds: YEAR_SECONDS };
const MIN_SECONDS = 600;

export function planSigning(
  csr: DeepReadonly<CertificateSigningRequest>,
  lifetimeOf: (request: CertificateRequest) => CertificateLifetime | undefined = () => undefined,
): SigningPlan {
  const { approved, denied, failed, issued } = requestState(csr);
  const { signerName, usages = [], expirationSeconds } = csr.spec;
  if (!approved || denied || failed || issued || (signerName !== CLIENT_SIGNER && signerName !== KUBELET_CLIENT_SIGNER))
    return { type: "nothing" };
  const request = parseCertificateRequest(csr.spec.request);
  const problem = signerName === CLIENT_SIGNER ? clientProblem(usages) : kubeletClientProblem(request, usages);
  if (problem !== undefined) return { type: "fail", message: problem };
  const { defaultSeconds, maxSeconds } = lifetimeOf(request) ?? USUAL;
  const seconds = Math.max(MIN_SECONDS, Math.min(expirationSeconds ?? defaultSeconds, maxSeconds));
  return { type: "sign", request, usages, lifetimeMs: seconds * 1000 };
}

function clientProblem(usages: readonly string[]): string | undefined {
  const other = usages.find(
    (usage) => usage !== "digital signature" && usage !== "key encipherment" && usage !== "client auth",
  );
  if (other !== undefined) return `invalid usage for client certificate: ${other}`;
  return usages.includes("client auth") ? undefined : "missing required usage for client certificate: client auth";
}
