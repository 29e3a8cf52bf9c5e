/**
 * A logical cluster that is a member of the fleet cannot be deleted: its workloads would be lost, and the scheduler
 * would still select it.
 */
import { Cluster } from "@flotilla/karmada";
import { LogicalCluster } from "@flotilla/apiserver";
import { refusal } from "@flotilla/apimachinery";
import type { AdmissionStep } from "@flotilla/apimachinery";

export const joinedClusters: AdmissionStep<LogicalCluster> = {
  name: "JoinedClusters",
  for: LogicalCluster,
  on: ["DELETE"],
  check(review) {
    if (review.read.get(Cluster, undefined, review.object.metadata.name))
      throw refusal(review, "it is a member of the fleet; unjoin it first (delete its Cluster)");
  },
};
