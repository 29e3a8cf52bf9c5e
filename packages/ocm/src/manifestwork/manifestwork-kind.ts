/** ManifestWork: objects for one member, in the hub namespace of that member, and their status there. */
import type { ManifestWork as ManifestWorkFacts } from "@flotilla/apimachinery/facts/work-ocm-v1.ts";
import type { Kind } from "@flotilla/apimachinery";
import { conditionColumn, OCM_AGE } from "../kind-builder/columns.ts";
import { newerWorkFields, type ManifestWorkSpec } from "../manifests/manifest-work-spec.ts";
import { WORK_GROUP } from "../names.ts";
import { ocmKind } from "../kind-builder/ocm-kind.ts";

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
  describes: {
    "": "Objects for one cluster, in the namespace of that cluster, and their status there.",
    "spec.workload.manifests": "The complete objects. Together at most 512000 bytes.",
    "spec.deleteOption": "What happens to the objects when the work is deleted: they are deleted by default.",
    "spec.executor": "The service account on the cluster that applies them; the agent's by default.",
    "spec.manifestConfigs": "How objects are updated, and which status is reported.",
    "spec.manifestConfigs[].resourceIdentifier":
      "The objects that this config applies to; name and namespace may contain *.",
    "spec.manifestConfigs[].updateStrategy": "Update by default; CreateOnly, ServerSideApply or ReadOnly.",
    "spec.manifestConfigs[].feedbackRules": "Status values that are reported to the hub.",
    "spec.manifestConfigs[].conditionRules": "Conditions computed from the object. Complete stops further updates.",
    "status.conditions": "Applied, Available and those of condition rules, over all objects.",
    "status.resourceStatus": "The same for each object, with the requested values.",
  },
});
