/**
 * Flux HelmRelease. Failures are the sum of the members' current counts: Karmada adds them to the previous sum, so that
 * they grow with every aggregation, and only when the template already has a number.
 *
 * Controllers since `v2beta2` keep a history and name the successful action in the reason; earlier ones used one reason
 * for all. The version of the copy does not determine which controller runs on a member, as each serves the older
 * versions too.
 */
import type { KindInterpreter } from "@flotilla/kubernetes";
import { fluxInterpreter, type FluxObject } from "../flux.ts";
import { isConditionReady } from "@flotilla/kubernetes";

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
  isHealthy: ({ status }) => isConditionReady(status, Array.isArray(status?.["history"]) ? undefined : READY_REASONS),
};
