/** ManifestWork: objects for one member, in the hub namespace of that member, and their status there. */
import type { ManifestWork as ManifestWorkFacts } from "@flotilla/apimachinery/facts/work-ocm-v1.ts";
import type { Kind } from "@flotilla/apimachinery";
import { conditionColumn, OCM_AGE } from "../kind-builder/columns.ts";
import { newerWorkFields, type ManifestWorkSpec } from "../manifests/manifest-work-spec.ts";
import { WORK_GROUP } from "../ocm-names.ts";
import { ocmKind } from "../kind-builder/ocm-kind.ts";
import { manifestWorkDescriptions } from "./manifestwork-descriptions.ts";

export interface ManifestWork extends Omit<ManifestWorkFacts, "spec"> {
  spec: ManifestWorkSpec;
}

export const ManifestWork: Kind<ManifestWork> = ocmKind<ManifestWork>({
  group: WORK_GROUP,
  storageVersion: "v1",
  kind: "ManifestWork",
  plural: "manifestworks",
  // Upstream has neither a short name nor columns, which users request.
  shortNames: ["mw"],
  scope: "Namespaced",
  facts: "manifestworks.work.open-cluster-management.io",
  columns: [conditionColumn("Applied", "Applied"), conditionColumn("Available", "Available"), OCM_AGE],
  subresources: { status: true },
  newer: [newerWorkFields("spec")],
  descriptions: manifestWorkDescriptions,
});
