/**
 * Flux Kustomization. Other than in Karmada, the ConfigMaps and Secrets whose variables it puts into manifests come
 * along.
 */
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
