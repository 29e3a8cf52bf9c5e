/** ManifestWork: objects for one member, in the hub's namespace of that member, and what became of them there. */
import type { IgnoreField as IgnoreFieldFacts, ManifestConfigOption as ManifestConfigOptionFacts, ManifestWork as ManifestWorkFacts, ManifestWorkSpec as ManifestWorkSpecFacts, ServerSideApplyConfig as ServerSideApplyConfigFacts, UpdateStrategy as UpdateStrategyFacts } from "../facts/work-ocm-v1.ts";
import type { Kind } from "../kind.ts";
import { conditionColumn, OCM_AGE } from "./columns.ts";
import { WORK_GROUP } from "./names.ts";
import { extendedKind, type NewerFields } from "./newer-fields.ts";

export interface IgnoreField extends Omit<IgnoreFieldFacts, "jsonPaths"> {
  jsonPaths?: string[];
  /** As in RFC 6901: `/spec/replicas`. */
  jsonPointers?: string[];
  jqPathExpressions?: string[];
}

export interface ServerSideApplyConfig extends Omit<ServerSideApplyConfigFacts, "ignoreFields"> {
  ignoreFields?: IgnoreField[];
}

export interface UpdateStrategy extends Omit<UpdateStrategyFacts, "serverSideApply"> {
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

/** What a ManifestWork's spec has more, which may also be the template of a ManifestWorkReplicaSet. */
export const newerWorkFields = (...spec: string[]): NewerFields => ({
  at: [...spec, "manifestConfigs", "[]", "updateStrategy", "serverSideApply", "ignoreFields", "[]"],
  properties: { jsonPointers: strings, jqPathExpressions: strings },
  optional: ["jsonPaths"],
});

export const ManifestWork: Kind<ManifestWork> = extendedKind<ManifestWork>(
  {
    group: WORK_GROUP,
    storageVersion: "v1",
    kind: "ManifestWork",
    plural: "manifestworks",
    // Upstream has neither a short name nor columns, for which people ask.
    shortNames: ["mw"],
    scope: "Namespaced",
    facts: "manifestworks.work.open-cluster-management.io",
    columns: [conditionColumn("Applied", "Applied"), conditionColumn("Available", "Available"), OCM_AGE],
    subresources: { status: true },
  },
  [newerWorkFields("spec")],
);
