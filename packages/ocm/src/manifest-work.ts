/** ManifestWork: objects for one member, in the hub namespace of that member, and their status there. */
import type {
  IgnoreField as IgnoreFieldFacts,
  ManifestConfigOption as ManifestConfigOptionFacts,
  ManifestWork as ManifestWorkFacts,
  ManifestWorkSpec as ManifestWorkSpecFacts,
  ServerSideApplyConfig as ServerSideApplyConfigFacts,
  UpdateStrategy as UpdateStrategyFacts,
} from "@flotilla/apimachinery/facts/work-ocm-v1.ts";
import type { Kind } from "@flotilla/apimachinery";
import { conditionColumn, OCM_AGE } from "./columns.ts";
import { WORK_GROUP } from "./names.ts";
import { ocmKind, type NewerFields } from "./ocm-kind.ts";

export interface IgnoreField extends Omit<IgnoreFieldFacts, "jsonPaths"> {
  jsonPaths?: string[];
  /** As in RFC 6901: `/spec/replicas`. */
  jsonPointers?: string[];
  jqPathExpressions?: string[];
}

interface ServerSideApplyConfig extends Omit<ServerSideApplyConfigFacts, "ignoreFields"> {
  ignoreFields?: IgnoreField[];
}

interface UpdateStrategy extends Omit<UpdateStrategyFacts, "serverSideApply"> {
  serverSideApply?: ServerSideApplyConfig;
}

export interface ManifestConfigOption extends Omit<ManifestConfigOptionFacts, "updateStrategy"> {
  updateStrategy?: UpdateStrategy;
}

export interface ManifestWorkSpec extends Omit<ManifestWorkSpecFacts, "manifestConfigs"> {
  manifestConfigs?: ManifestConfigOption[];
}

export interface ManifestWork extends Omit<ManifestWorkFacts, "spec"> {
  spec: ManifestWorkSpec;
}

const strings = { type: "array", items: { type: "string" } } as const;

/** Newer fields of a ManifestWork's spec, which is also the template of a ManifestWorkReplicaSet. */
export const newerWorkFields = (spec: string): NewerFields => ({
  at: `${spec}.manifestConfigs[].updateStrategy.serverSideApply.ignoreFields[]`,
  properties: { jsonPointers: strings, jqPathExpressions: strings },
  optional: ["jsonPaths"],
});

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
