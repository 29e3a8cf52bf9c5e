/** ManifestWorkReplicaSet: one ManifestWork for every cluster that its Placements chose, brought there step by step. */
import type { ManifestWorkReplicaSet as ManifestWorkReplicaSetFacts, ManifestWorkReplicaSetSpec as ManifestWorkReplicaSetSpecFacts } from "../facts/work-ocm-v1alpha1.ts";
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
    "spec.cascadeDeletionPolicy": "Whether the set goes at once when it is deleted, or after its works.",
    "status.summary": "How many works there are, and how they fare.",
    "status.placementSummary": "The same for each Placement.",
  },
});
