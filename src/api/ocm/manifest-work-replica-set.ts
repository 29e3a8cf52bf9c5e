/** ManifestWorkReplicaSet: one ManifestWork for every cluster that its Placements chose, brought there step by step. */
import type { ManifestWorkReplicaSet as ManifestWorkReplicaSetFacts, ManifestWorkReplicaSetSpec as ManifestWorkReplicaSetSpecFacts } from "../facts/work-ocm-v1alpha1.ts";
import type { Kind } from "../kind.ts";
import { conditionColumn } from "./columns.ts";
import { newerWorkFields, type ManifestWorkSpec } from "./manifest-work.ts";
import { WORK_GROUP } from "./names.ts";
import { extendedKind } from "./newer-fields.ts";

export interface ManifestWorkReplicaSetSpec extends Omit<ManifestWorkReplicaSetSpecFacts, "manifestWorkTemplate"> {
  manifestWorkTemplate: ManifestWorkSpec;
}

export interface ManifestWorkReplicaSet extends Omit<ManifestWorkReplicaSetFacts, "spec"> {
  spec: ManifestWorkReplicaSetSpec;
}

export const ManifestWorkReplicaSet: Kind<ManifestWorkReplicaSet> = extendedKind<ManifestWorkReplicaSet>(
  {
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
  },
  [newerWorkFields("spec", "manifestWorkTemplate")],
);
