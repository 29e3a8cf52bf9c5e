/**
 * ManifestWorkReplicaSet: creates one ManifestWork for every cluster that its Placements select, rolled out
 * progressively.
 */
import type {
  ManifestWorkReplicaSet as ManifestWorkReplicaSetFacts,
  ManifestWorkReplicaSetSpec as ManifestWorkReplicaSetSpecFacts,
} from "@flotilla/apimachinery/facts/work-ocm-v1alpha1.ts";
import type { Kind } from "@flotilla/apimachinery";
import { conditionColumn } from "../kind-builder/columns.ts";
import { newerWorkFields, type ManifestWorkSpec } from "../manifests/manifest-work-spec.ts";
import { WORK_GROUP } from "../names.ts";
import { ocmKind } from "../kind-builder/ocm-kind.ts";

interface ManifestWorkReplicaSetSpec extends Omit<ManifestWorkReplicaSetSpecFacts, "manifestWorkTemplate"> {
  manifestWorkTemplate: ManifestWorkSpec;
}

export interface ManifestWorkReplicaSet extends Omit<ManifestWorkReplicaSetFacts, "spec"> {
  spec: ManifestWorkReplicaSetSpec;
}

const STRATEGY = "spec.placementRefs[].rolloutStrategy";

/** Descriptions shared by the progressive strategies. */
const describesSteps = (strategy: "progressive" | "progressivePerGroup"): Record<string, string> => ({
  [`${STRATEGY}.${strategy}.minSuccessTime`]:
    "How long a cluster must stay in the desired state before it counts as done.",
  [`${STRATEGY}.${strategy}.progressDeadline`]:
    "How long a cluster may take, or keep failing, before it counts as failed: 10m, or None.",
  [`${STRATEGY}.${strategy}.maxFailures`]: "With more failures than this the rollout stops: a number, or a percentage.",
  [`${STRATEGY}.${strategy}.mandatoryDecisionGroups`]:
    "Groups that are rolled out first, one after the other and without any failure.",
});

export const ManifestWorkReplicaSet: Kind<ManifestWorkReplicaSet> = ocmKind<ManifestWorkReplicaSet>({
  group: WORK_GROUP,
  storageVersion: "v1alpha1",
  kind: "ManifestWorkReplicaSet",
  plural: "manifestworkreplicasets",
  shortNames: ["mwrs"],
  scope: "Namespaced",
  facts: "manifestworkreplicasets.work.open-cluster-management.io",
  columns: [
    conditionColumn("Placement", "PlacementVerified", "reason"),
    conditionColumn("Found", "PlacementVerified"),
    conditionColumn("ManifestWorks", "ManifestworkApplied", "reason"),
    conditionColumn("Applied", "ManifestworkApplied"),
  ],
  subresources: { status: true },
  newer: [newerWorkFields("spec.manifestWorkTemplate")],
  describes: {
    "": "Creates one ManifestWork for every cluster that its Placements select.",
    "spec.manifestWorkTemplate": "The spec of the ManifestWorks.",
    "spec.placementRefs": "Placements of this namespace, each with its rollout strategy.",
    "spec.placementRefs[].name": "The name of the Placement; duplicates are ignored.",
    [STRATEGY]: "How a change of the template is rolled out; to all clusters at once by default.",
    [`${STRATEGY}.type`]:
      "All updates all clusters at once, Progressive a number of clusters at a time, ProgressivePerGroup one decision group after the other.",
    [`${STRATEGY}.all`]:
      "For the type All. The deadline only determines which clusters have failed; the rollout does not wait.",
    [`${STRATEGY}.progressive`]: "For the type Progressive.",
    [`${STRATEGY}.progressive.maxConcurrency`]:
      "How many clusters are updated at a time: a number, or a percentage of all. All of them by default.",
    [`${STRATEGY}.progressivePerGroup`]: "For the type ProgressivePerGroup.",
    ...describesSteps("progressive"),
    ...describesSteps("progressivePerGroup"),
    "spec.cascadeDeletionPolicy": "Whether the set is deleted immediately, or after its works.",
    "status.summary": "The number of works, by state.",
    "status.placementSummary": "The same for each Placement.",
  },
});
