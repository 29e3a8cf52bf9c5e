/**
 * Warns the writer of a FederatedResourceQuota about parts without an effect: limits that count nothing, and parts of
 * it for a cluster that has not joined.
 */
import { didYouMean } from "@flotilla/base";
import type { AdmissionStep } from "@flotilla/apimachinery";
import { Cluster, FederatedResourceQuota } from "@flotilla/karmada";
import { uncountedKeys, uncountedText } from "./uncounted-keys.ts";

export const quotaWarnings: AdmissionStep<FederatedResourceQuota> = {
  name: "QuotaWarnings",
  for: FederatedResourceQuota,
  on: ["CREATE", "UPDATE"],
  matches: ({ subresource }) => subresource === undefined,
  check({ object, read, warn }) {
    for (const uncounted of uncountedKeys(object.spec)) {
      const { what, try: remedy } = uncountedText(uncounted);
      warn(`spec.overall[${uncounted.key}]: ${what}; ${remedy}`);
    }
    for (const [index, { clusterName }] of (object.spec.staticAssignments ?? []).entries()) {
      if (read.get(Cluster, undefined, clusterName)) continue;
      const joined = read.list(Cluster).map(({ metadata }) => metadata.name);
      warn(
        `spec.staticAssignments[${index}].clusterName: no joined cluster is named ${clusterName}${didYouMean(clusterName, joined)}`,
      );
    }
  },
};
