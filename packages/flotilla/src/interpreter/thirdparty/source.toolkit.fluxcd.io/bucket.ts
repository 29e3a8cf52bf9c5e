/**
 * Flux Bucket. Unlike in Karmada, the Secrets of its certificates, proxy and token service, and its service account,
 * are dependencies.
 */
import { fluxInterpreter } from "../flux.ts";

export const bucketInterpreter = fluxInterpreter({
  group: "source.toolkit.fluxcd.io",
  kind: "Bucket",
  readyReasons: ["Succeeded"],
  status: { last: ["artifact", "url"], others: ["observedIgnore"] },
  references: {
    secrets: ["secretRef", "certSecretRef", "proxySecretRef", "sts.secretRef", "sts.certSecretRef"],
    serviceAccounts: ["serviceAccountName"],
  },
});
