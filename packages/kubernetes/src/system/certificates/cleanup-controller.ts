/**
 * Deletes certificate requests that are no longer needed.
 *
 * Reads: CertificateSigningRequest.
 * Writes: deletes it.
 */
import { CertificateSigningRequest } from "../../certificatesigningrequest/certificatesigningrequest-kind.ts";
import type { ObjectKey } from "@flotilla/client";
import { defineController, done, type Controller } from "@flotilla/controller-runtime";
import type { SystemDependencies } from "../dependencies.ts";
import { expiryOf } from "./plan-cleanup.ts";
import { ignoreConflict } from "../ignore-conflict.ts";

export function createCleanupController({
  client,
  clock,
}: Pick<SystemDependencies, "client" | "clock">): Controller<ObjectKey> {
  return defineController({
    name: "certificate-cleanup",
    for: CertificateSigningRequest,
    writes: [CertificateSigningRequest],

    async reconcile(csr, { key, log, signal }) {
      const end = expiryOf(csr);
      if (csr.metadata.deletionTimestamp !== undefined || end === Number.POSITIVE_INFINITY) return done;
      const leftMs = end - clock.now();
      if (leftMs >= 0) return { requeueAfterMs: leftMs + 1 };
      const { uid = "", resourceVersion = "" } = csr.metadata;
      await client
        .delete(CertificateSigningRequest, key, { preconditions: { uid, resourceVersion }, signal })
        .catch(ignoreConflict);
      log.info("certificate request deleted", { cluster: key.cluster, request: key.name });
      return done;
    },
  });
}
