/** Flux Kustomization. Unlike in Karmada, the ConfigMaps and Secrets with substitution variables are dependencies. */
import { fluxInterpreter } from "../flux.ts";

export const kustomizationInterpreter = fluxInterpreter({
  group: "kustomize.toolkit.fluxcd.io",
  kind: "Kustomization",
  readyReasons: ["ReconciliationSucceeded"],
  status: { kept: ["lastAttemptedRevision", "lastAppliedRevision"] },
  references: {
    secrets: ["decryption.secretRef", "kubeConfig.secretRef"],
    configMaps: ["kubeConfig.configMapRef"],
    serviceAccounts: ["serviceAccountName", "decryption.serviceAccountName"],
    lists: ["postBuild.substituteFrom"],
  },
});
