/**
 * Signs approved requests for client certificates with the CA that the API server trusts.
 *
 * Reads: CertificateSigningRequest with one of the client signers.
 * Writes: `status.certificate`, or the condition `Failed` when an approval cannot help.
 */
import { CertificateSigningRequest } from "../../certificatesigningrequest/certificatesigningrequest-kind.ts";
import { formatTime } from "@flotilla/base";
import type { ObjectKey } from "@flotilla/client";
import { defineController, done, type Controller } from "@flotilla/controller-runtime";
import type { SignRequest, SystemDependencies } from "../dependencies.ts";
import { planSigning } from "./plan-signing.ts";
import { ignoreConflict } from "../ignore-conflict.ts";

export function createSigningController({
  client,
  clock,
  signRequest,
  certificateLifetime,
}: Pick<SystemDependencies, "client" | "clock" | "certificateLifetime"> & {
  signRequest: SignRequest;
}): Controller<ObjectKey> {
  return defineController({
    name: "certificate-signing",
    for: CertificateSigningRequest,
    writes: [CertificateSigningRequest],

    async reconcile(csr, { key: { cluster }, log, signal }) {
      const plan = planSigning(csr, (request) => certificateLifetime?.(cluster, request));
      if (plan.type === "nothing" || csr.metadata.deletionTimestamp !== undefined) return done;
      const status =
        plan.type === "sign"
          ? { ...csr.status, certificate: Buffer.from(signRequest(cluster, plan.request, plan)).toString("base64") }
          : {
              ...csr.status,
              conditions: [
                ...(csr.status?.conditions ?? []),
                {
                  type: "Failed",
                  status: "True",
                  reason: "SignerValidationFailure",
                  message: plan.message,
                  lastUpdateTime: formatTime(clock.now()),
                },
              ],
            };
      await client
        .updateStatus(CertificateSigningRequest, cluster, { ...csr, status }, { signal })
        .catch(ignoreConflict);
      log.info(plan.type === "sign" ? "certificate signed" : "certificate request rejected", {
        cluster,
        request: csr.metadata.name,
      });
      return done;
    },
  });
}
