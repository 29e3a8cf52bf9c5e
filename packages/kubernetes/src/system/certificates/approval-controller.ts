/**
 * Approves requests of kubelets if RBAC grants the requester the right to be approved.
 *
 * Reads: pending CertificateSigningRequests; the requester's permissions, by a SubjectAccessReview.
 * Writes: the condition `Approved`; never denies a request.
 */
import {
  CertificateSigningRequest,
  requestState,
} from "../../certificatesigningrequest/certificatesigningrequest-kind.ts";
import { SubjectAccessReview } from "../../authorization/subject-access-review.ts";
import { parseCertificateRequest } from "@flotilla/apimachinery";
import type { DeepReadonly } from "@flotilla/base";
import type { ObjectKey } from "@flotilla/client";
import { defineController, done, type Controller } from "@flotilla/controller-runtime";
import type { SystemDependencies } from "../dependencies.ts";
import { approvalsFor } from "./recognized-requests.ts";
import { ignoreConflict } from "../ignore-conflict.ts";

export function createApprovalController({ client }: Pick<SystemDependencies, "client">): Controller<ObjectKey> {
  /** Checked for the requester with its identity at the time of the request. */
  const isAllowed = async (
    cluster: string,
    { spec }: DeepReadonly<CertificateSigningRequest>,
    subresource: string,
    signal: AbortSignal,
  ): Promise<boolean> => {
    const { username, uid, groups, extra } = spec;
    const resourceAttributes = {
      group: "certificates.k8s.io",
      resource: "certificatesigningrequests",
      verb: "create",
      subresource,
      version: "*",
    };
    const review = {
      apiVersion: "authorization.k8s.io/v1",
      kind: "SubjectAccessReview",
      metadata: { name: "" },
      spec: { user: username || undefined, uid: uid || undefined, groups, extra, resourceAttributes },
    };
    return (await client.create(SubjectAccessReview, cluster, review, { signal })).status?.allowed ?? false;
  };

  return defineController({
    name: "certificate-approval",
    for: CertificateSigningRequest,
    writes: [CertificateSigningRequest],

    async reconcile(csr, { key, log, signal }) {
      const { approved, denied, issued } = requestState(csr);
      if (approved || denied || issued || csr.metadata.deletionTimestamp !== undefined) return done;
      for (const { subresource, message } of approvalsFor(csr, parseCertificateRequest(csr.spec.request))) {
        if (!(await isAllowed(key.cluster, csr, subresource, signal))) continue;
        const conditions = [
          ...(csr.status?.conditions ?? []),
          { type: "Approved", status: "True", reason: "AutoApproved", message },
        ];
        const patch = { metadata: { resourceVersion: csr.metadata.resourceVersion ?? "" }, status: { conditions } };
        await client
          .patch(CertificateSigningRequest, key, patch, { type: "merge", subresource: "approval", signal })
          .catch(ignoreConflict);
        log.info("certificate request approved", { cluster: key.cluster, request: key.name, user: csr.spec.username });
        return done;
      }
      return done;
    },
  });
}
