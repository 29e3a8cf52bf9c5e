/**
 * Flux OCIRepository. Karmada fails on one without a service account; here the service account is optional. The Secret
 * of its proxy is a dependency.
 */
import { fluxInterpreter } from "../flux.ts";

export const ociRepositoryInterpreter = fluxInterpreter({
  group: "source.toolkit.fluxcd.io",
  kind: "OCIRepository",
  readyReasons: ["Succeeded"],
  status: { last: ["artifact", "url"], others: ["observedIgnore", "observedLayerSelector"] },
  references: {
    secrets: ["secretRef", "verify.secretRef", "certSecretRef", "proxySecretRef"],
    serviceAccounts: ["serviceAccountName"],
  },
});
