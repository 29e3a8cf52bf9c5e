/** ManifestWorkReplicaSet: one ManifestWork for every cluster that its Placements chose, brought there step by step. */
import type {
  ManifestWorkReplicaSet as ManifestWorkReplicaSetFacts,
  ManifestWorkReplicaSetSpec as ManifestWorkReplicaSetSpecFacts,
} from "../facts/work-ocm-v1alpha1.ts";
import type { Kind } from "../kind.ts";
import { conditionColumn } from "./columns.ts";
import { newerWorkFields, type ManifestWorkSpec } from "./manifest-work.ts";
import { WORK_GROUP } from "./names.ts";
import { ocmKind } from "./ocm-kind.ts";

export interface ManifestWorkReplicaSetSpec extends Omit<ManifestWorkReplicaSetSpecFacts, "manifestWorkTemplate"> {
  manifestWorkTemplate: ManifestWorkSpec;
}

export interface ManifestWorkReplicaSet extends Omit<ManifestWorkReplicaSetFacts, "spec"> {
  spec: ManifestWorkReplicaSetSpec;
}

const STRATEGY = "spec.placementRefs[].rolloutStrategy";

/** What a strategy says that goes through clusters step by step. */
const describesSteps = (strategy: "progressive" | "progressivePerGroup"): Record<string, string> => ({
  [`${STRATEGY}.${strategy}.minSuccessTime`]:
    "How long a cluster has to stay as it should be before it counts as through.",
  [`${STRATEGY}.${strategy}.progressDeadline`]:
    "How long a cluster may take, or its refusal may last, before it has failed: 10m, or None.",
  [`${STRATEGY}.${strategy}.maxFailures`]:
    "With more failures than this no other cluster is started: a number, or a percentage.",
  [`${STRATEGY}.${strategy}.mandatoryDecisionGroups`]:
    "Groups that go first, one after the other and without any failure.",
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
    "": "One ManifestWork for every cluster that its Placements selected.",
    "spec.manifestWorkTemplate": "The spec of the ManifestWorks.",
    "spec.placementRefs": "Placements of this namespace, each with the way in which its clusters are gone through.",
    "spec.placementRefs[].name": "The Placement; one that is named twice counts once.",
    [STRATEGY]: "How a change of the template goes to the clusters; to all of them at once by default.",
    [`${STRATEGY}.type`]:
      "All goes everywhere at once, Progressive to a number of clusters at a time, ProgressivePerGroup to one decision group after the other.",
    [`${STRATEGY}.all`]: "For the type All. A deadline only says who has failed; nobody waits for anybody.",
    [`${STRATEGY}.progressive`]: "For the type Progressive.",
    [`${STRATEGY}.progressive.maxConcurrency`]:
      "How many clusters are on their way at a time: a number, or a percentage of all. All of them by default.",
    [`${STRATEGY}.progressivePerGroup`]: "For the type ProgressivePerGroup.",
    ...describesSteps("progressive"),
    ...describesSteps("progressivePerGroup"),
    "spec.cascadeDeletionPolicy": "Whether the set goes at once when it is deleted, or after its works.",
    "status.summary": "How many works there are, and how they fare.",
    "status.placementSummary": "The same for each Placement.",
  },
});
