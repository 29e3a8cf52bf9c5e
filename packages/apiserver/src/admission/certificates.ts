/**
 * Authorizes writes to CertificateSigningRequests beyond the right to write them: approving and signing need a right on
 * the signer, and requests for a client certificate of system:masters are rejected.
 */
import { CLIENT_SIGNER } from "@flotilla/kubernetes";
import { builtInKinds, parseCertificateRequest, refusal } from "@flotilla/apimachinery";
import type { AdmissionStep, AnyStep, Review } from "@flotilla/apimachinery";
import type { CertificateSigningRequest } from "@flotilla/kubernetes";
import { equalJson } from "@flotilla/base";
import { writesObject } from "./writes-object.ts";

const GROUP = "certificates.k8s.io";
const isRequest = builtInKinds(`${GROUP}/CertificateSigningRequest`);

type Step = AdmissionStep<CertificateSigningRequest>;

export interface CertificateRules {
  /** Groups that no requested client certificate may carry. */
  restrictedGroups: readonly string[];
}

export function createCertificateSteps({ restrictedGroups }: CertificateRules): readonly AnyStep[] {
  /** A right on one signer, or on all signers of its domain. */
  const isAllowed = ({ allows }: Review<unknown>, verb: string, signer: string): boolean =>
    [signer, `${signer.split("/")[0] ?? ""}/*`].some((name) =>
      allows({ verb, group: GROUP, resource: "signers", name }),
    );

  return [
    {
      name: "CertificateApproval",
      for: isRequest,
      on: ["UPDATE"],
      matches: ({ subresource }) => subresource === "approval",
      check(review) {
        const { signerName } = (review.oldObject ?? review.object).spec;
        if (!isAllowed(review, "approve", signerName))
          throw refusal(review, `user not permitted to approve requests with signerName ${JSON.stringify(signerName)}`);
      },
    } satisfies Step,
    {
      name: "CertificateSigning",
      for: isRequest,
      on: ["UPDATE"],
      matches: ({ subresource }) => subresource === "status",
      check(review) {
        const old = review.oldObject ?? review.object;
        const { status = {} } = review.object;
        if (
          status.certificate === old.status?.certificate &&
          equalJson(status.conditions ?? [], old.status?.conditions ?? [])
        )
          return;
        const { signerName } = old.spec;
        if (!isAllowed(review, "sign", signerName))
          throw refusal(review, `user not permitted to sign requests with signerName ${JSON.stringify(signerName)}`);
      },
    } satisfies Step,
    {
      name: "CertificateSubjectRestriction",
      for: isRequest,
      on: ["CREATE"],
      matches: writesObject,
      check(review) {
        const { signerName, request: text } = review.object.spec;
        if (signerName !== CLIENT_SIGNER) return;
        const { organizations } = parseCertificateRequest(text);
        const group = restrictedGroups.find((each) => organizations.includes(each));
        if (group !== undefined)
          throw refusal(review, `use of ${CLIENT_SIGNER} signer with ${group} group is not allowed`);
      },
    } satisfies Step,
  ];
}
