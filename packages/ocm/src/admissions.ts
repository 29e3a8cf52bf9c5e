/** The admissions of Open Cluster Management's kinds. */
import type { AnyAdmission } from "@flotilla/apimachinery";
import { managedClusterAdmissions } from "./managed-cluster-rules.ts";
import { managedClusterSetBindingAdmissions } from "./managed-cluster-set-binding-rules.ts";
import { manifestWorkReplicaSetAdmissions } from "./manifest-work-replica-set-rules.ts";
import { manifestWorkAdmissions } from "./manifest-work-rules.ts";
import { placementDecisionAdmissions } from "./placement-decision-rules.ts";
import { placementAdmissions } from "./placement-rules.ts";

export const ocmAdmissions: readonly AnyAdmission[] = [
  ...managedClusterAdmissions,
  ...managedClusterSetBindingAdmissions,
  ...placementAdmissions,
  ...placementDecisionAdmissions,
  ...manifestWorkAdmissions,
  ...manifestWorkReplicaSetAdmissions,
];
