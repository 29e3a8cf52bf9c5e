/**
 * CertificateSigningRequest: a request for a certificate. The spec is immutable; a user or controller approves or
 * denies it through `approval`, and the signer stores the certificate through `status`. The server sets the requesting
 * user.
 */
import { type DeepReadonly, defined } from "@flotilla/base";
import { ageColumn, builtInKind, column, formatAge, nameColumn } from "@flotilla/apimachinery";
import type { Kind, StatusPart } from "@flotilla/apimachinery";
import type { CertificateSigningRequest as CertificateSigningRequestFacts } from "@flotilla/apimachinery/facts/certificates-v1.ts";

export type CertificateSigningRequest = CertificateSigningRequestFacts;

type Read<T> = DeepReadonly<T>;

/** The state of a request; `Pending` until it is approved or denied. */
export function requestState({ status = {} }: Read<CertificateSigningRequest>): {
  approved: boolean;
  denied: boolean;
  failed: boolean;
  issued: boolean;
} {
  const has = (type: string): boolean => status.conditions?.some((condition) => condition.type === type) ?? false;
  return {
    approved: has("Approved"),
    denied: has("Denied"),
    failed: has("Failed"),
    issued: (status.certificate ?? "") !== "",
  };
}

function describeState(request: Read<CertificateSigningRequest>): string {
  const { approved, denied, failed, issued } = requestState(request);
  return [
    denied ? "Denied" : approved ? "Approved" : "Pending",
    ...(failed ? ["Failed"] : []),
    ...(issued ? ["Issued"] : []),
  ].join(",");
}

/** Only the conditions of the status: approving does not sign. */
const approvalPart: StatusPart = {
  of: "status",
  take({ conditions }, stored) {
    const { conditions: _, ...rest } = stored;
    return { ...defined({ conditions }), ...rest };
  },
};

export const CertificateSigningRequest: Kind<CertificateSigningRequest> = builtInKind<CertificateSigningRequest>({
  group: "certificates.k8s.io",
  version: "v1",
  kind: "CertificateSigningRequest",
  plural: "certificatesigningrequests",
  shortNames: ["csr"],
  scope: "Cluster",
  facts: "certificates-v1",
  columns: [
    nameColumn,
    ageColumn,
    column<CertificateSigningRequest>("SignerName", ({ spec }) => spec.signerName || "<none>"),
    column<CertificateSigningRequest>("Requestor", ({ spec }) => spec.username ?? ""),
    column<CertificateSigningRequest>("RequestedDuration", ({ spec }) =>
      spec.expirationSeconds === undefined ? "<none>" : formatAge(spec.expirationSeconds * 1000),
    ),
    column<CertificateSigningRequest>("Condition", describeState),
  ],
  subresources: { status: true, parts: { approval: approvalPart } },
  traits: {
    names: "path",
    fixedSpec: true,
    selectableFields: {
      "spec.signerName": (object) => (object as unknown as Read<CertificateSigningRequest>).spec.signerName,
    },
  },
});
