/** Reads the state of manifests from a work's status. Pure. */
import type { ManifestResourceMeta } from "@flotilla/apimachinery/facts/work-ocm-v1.ts";
import type { ManifestWork } from "@flotilla/ocm";
import type { DeepReadonly } from "@flotilla/base";
import { findCondition, isConditionTrue } from "@flotilla/apimachinery";

type Work = DeepReadonly<ManifestWork>;
type Meta = DeepReadonly<ManifestResourceMeta>;
type Conditions = NonNullable<
  NonNullable<NonNullable<Work["status"]>["resourceStatus"]>["manifests"]
>[number]["conditions"];

/** Flotilla's own reason: in OCM two writers overwrite each other. */
export const CONFLICT_REASON = "AppliedManifestConflict";

function conditionsOf({ status }: Work, meta: Meta): Conditions {
  const isSame = (given: Meta): boolean => {
    const { group = "", version, kind, resource, namespace = "", name } = given;
    return (
      kind === meta.kind &&
      name === meta.name &&
      namespace === (meta.namespace ?? "") &&
      group === (meta.group ?? "") &&
      version === meta.version &&
      resource === meta.resource
    );
  };
  return status?.resourceStatus?.manifests?.find(({ resourceMeta }) => isSame(resourceMeta))?.conditions ?? [];
}

/** Whether the manifest is complete and not touched again. */
export const isComplete = (work: Work, meta: Meta): boolean => isConditionTrue(conditionsOf(work, meta), "Complete");

/** Whether this generation was delivered, or would have been without a conflict with another owner. */
export function isDelivered(work: Work, meta: Meta): boolean {
  const applied = findCondition(conditionsOf(work, meta), "Applied");
  return (
    applied !== undefined &&
    applied.observedGeneration === work.metadata.generation &&
    (applied.status === "True" || applied.reason === CONFLICT_REASON)
  );
}
