/** Wires the controllers that every logical cluster has: service accounts, tokens, quota, storage, certificates, roles. */
import { yieldToOtherControllers, type Controller } from "@flotilla/controller-runtime";
import { createBootstrapController } from "./bootstrap/bootstrap-controller.ts";
import { createApprovalController } from "./certificates/approval-controller.ts";
import { createCleanupController } from "./certificates/cleanup-controller.ts";
import { createSigningController } from "./certificates/signing-controller.ts";
import { createClusterRoleController } from "./cluster-roles/cluster-roles-controller.ts";
import type { SystemDependencies } from "./dependencies.ts";
import { createQuotaController } from "./quota/quota-controller.ts";
import { createRootCertificateController } from "./root-certificates/root-certificates-controller.ts";
import { createServiceAccountController } from "./service-accounts/service-accounts-controller.ts";
import { createStorageProtectionControllers } from "./storage-protection/storage-protection-controllers.ts";
import { createTemplatePodController } from "./template-pods/template-pods-controller.ts";
import { createTokenController } from "./tokens/tokens-controller.ts";

// oxlint-disable-next-line typescript/no-explicit-any -- A list of controllers of different keys; each key stays inside its own.
export function createSystemControllers(deps: SystemDependencies): Controller<any>[] {
  const elsewhere = { isTaken: deps.isManagedElsewhere };
  const { isManagedElsewhere = () => false, isPublishedElsewhere = () => false } = deps;
  const published = { isTaken: (cluster: string) => isManagedElsewhere(cluster) || isPublishedElsewhere() };
  return [
    yieldToOtherControllers(createServiceAccountController(deps), elsewhere),
    ...(deps.rootCertificate === "" ? [] : [yieldToOtherControllers(createRootCertificateController(deps), published)]),
    // Runs in every cluster: only the servers of this hub have the key that signs tokens.
    yieldToOtherControllers(createTokenController(deps), { isTaken: isPublishedElsewhere }),
    yieldToOtherControllers(createClusterRoleController(deps), elsewhere),
    yieldToOtherControllers(createQuotaController(deps), elsewhere),
    yieldToOtherControllers(createBootstrapController(deps), elsewhere),
    ...createStorageProtectionControllers(deps),
    createTemplatePodController(deps),
    createApprovalController(deps),
    // Always runs, too: the server trusts only certificates of its own CA.
    ...(deps.signRequest ? [createSigningController({ ...deps, signRequest: deps.signRequest })] : []),
    yieldToOtherControllers(createCleanupController(deps), elsewhere),
  ];
}
