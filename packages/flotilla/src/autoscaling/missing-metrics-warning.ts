/** Warns the writer of a FederatedHPA whose annotation about missing metrics has no effect. */
import type { AdmissionStep } from "@flotilla/apimachinery";
import { FederatedHpa } from "@flotilla/karmada";
import { MISSING_METRICS } from "../flotilla-names.ts";
import { MISSING_METRICS_POLICIES } from "./plan-federated-scaling.ts";

export const missingMetricsWarning: AdmissionStep<FederatedHpa> = {
  name: "MissingMetricsWarning",
  for: FederatedHpa,
  on: ["CREATE", "UPDATE"],
  matches: ({ subresource }) => subresource === undefined,
  check({ object: { metadata }, warn }) {
    const value = metadata.annotations?.[MISSING_METRICS];
    if (value === undefined || MISSING_METRICS_POLICIES.some((policy) => policy === value)) return;
    warn(
      `metadata.annotations[${MISSING_METRICS}]: ${JSON.stringify(value)} is not one of ${MISSING_METRICS_POLICIES.join(", ")}; conservative is used`,
    );
  },
};
