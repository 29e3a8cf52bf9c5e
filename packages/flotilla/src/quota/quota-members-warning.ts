/** Warns the writer of a FederatedResourceQuota that assigns a part of it to a cluster that has not joined. */
import { didYouMean } from "@flotilla/base";
import type { AdmissionStep } from "@flotilla/apimachinery";
import { Cluster, FederatedResourceQuota } from "@flotilla/karmada";

export const quotaMembersWarning: AdmissionStep<FederatedResourceQuota> = {
  name: "QuotaMembersWarning",
  for: FederatedResourceQuota,
  on: ["CREATE", "UPDATE"],
  matches: ({ subresource }) => subresource === undefined,
  check({ object, read, warn }) {
    for (const [index, { clusterName }] of (object.spec.staticAssignments ?? []).entries()) {
      if (read.get(Cluster, undefined, clusterName)) continue;
      const joined = read.list(Cluster).map(({ metadata }) => metadata.name);
      warn(
        `spec.staticAssignments[${index}].clusterName: no joined cluster is named ${clusterName}${didYouMean(clusterName, joined)}`,
      );
    }
  },
};
