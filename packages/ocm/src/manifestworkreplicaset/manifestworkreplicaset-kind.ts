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
import { WORK_GROUP } from "../ocm-names.ts";
import { ocmKind } from "../kind-builder/ocm-kind.ts";
import { manifestWorkReplicaSetDescriptions } from "./manifestworkreplicaset-descriptions.ts";

interface ManifestWorkReplicaSetSpec extends Omit<ManifestWorkReplicaSetSpecFacts, "manifestWorkTemplate"> {
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
  descriptions: manifestWorkReplicaSetDescriptions,
});
