/** Flux GitRepository. Unlike in Karmada, the Secret of its proxy and its service account are dependencies. */
import { fluxInterpreter } from "../flux.ts";

export const gitRepositoryInterpreter = fluxInterpreter({
  group: "source.toolkit.fluxcd.io",
  kind: "GitRepository",
  readyReasons: ["Succeeded"],
  status: { last: ["artifact"], others: ["observedIgnore", "observedRecurseSubmodules"] },
  references: { secrets: ["secretRef", "verify.secretRef", "proxySecretRef"], serviceAccounts: ["serviceAccountName"] },
});
