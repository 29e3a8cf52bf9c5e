/** The spec of a ManifestWork, which is also the template of a ManifestWorkReplicaSet, with the fields of newer versions. */
import type {
  IgnoreField as IgnoreFieldFacts,
  ManifestConfigOption as ManifestConfigOptionFacts,
  ManifestWorkSpec as ManifestWorkSpecFacts,
  ServerSideApplyConfig as ServerSideApplyConfigFacts,
  UpdateStrategy as UpdateStrategyFacts,
} from "@flotilla/apimachinery/facts/work-ocm-v1.ts";
import type { NewerFields } from "../kind-builder/ocm-kind.ts";

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

const strings = { type: "array", items: { type: "string" } } as const;

/** Newer fields of the spec at a path. */
export const newerWorkFields = (spec: string): NewerFields => ({
  at: `${spec}.manifestConfigs[].updateStrategy.serverSideApply.ignoreFields[]`,
  properties: { jsonPointers: strings, jqPathExpressions: strings },
  optional: ["jsonPaths"],
});
