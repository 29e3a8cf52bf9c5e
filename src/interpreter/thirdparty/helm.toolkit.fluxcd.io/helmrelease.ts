/**
 * Flux HelmRelease. Failures are the sum of what the members count now: Karmada adds them to the sum before, so that
 * they grow with every look, and only when the template has a number already.
 *
 * Controllers since `v2beta2` keep a history and tell in the reason which action succeeded; before, one reason stood
 * for all. Which of them runs on a member does not follow from the version of the copy, as each serves the older
 * versions too.
 */
import type { KindInterpreter } from "../../kind-interpreter.ts";
import { fluxInterpreter, type FluxObject } from "../flux.ts";
import { isReady } from "../joined-conditions.ts";

const READY_REASONS = ["ReconciliationSucceeded"];

export const helmReleaseInterpreter: KindInterpreter<FluxObject> = {
  ...fluxInterpreter({
    group: "helm.toolkit.fluxcd.io",
    kind: "HelmRelease",
    readyReasons: READY_REASONS,
    status: {
      kept: [
        "lastAttemptedRevision",
        "lastAppliedRevision",
        "lastAttemptedValuesChecksum",
        "lastAttemptedConfigDigest",
        "helmChart",
        "lastReleaseRevision",
      ],
      summed: ["failures", "upgradeFailures", "installFailures"],
    },
    references: {
      secrets: ["chart.spec.verify.secretRef", "kubeConfig.secretRef"],
      configMaps: ["kubeConfig.configMapRef"],
      serviceAccounts: ["serviceAccountName"],
      lists: ["valuesFrom"],
    },
  }),
  isHealthy: ({ status }) => isReady(status, Array.isArray(status?.["history"]) ? undefined : READY_REASONS),
};
