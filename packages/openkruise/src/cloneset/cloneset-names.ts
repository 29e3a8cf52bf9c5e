/** Labels and annotations by which OpenKruise and its users identify the objects of a CloneSet. */
import { REVISION_LABEL, shortHash, TEMPLATE_HASH_LABEL } from "@flotilla/kubernetes";
import type { ReadonlyPod } from "@flotilla/kubernetes";
import type { FeatureGates } from "../api/feature-gates.ts";

export const INSTANCE_ID_LABEL = "apps.kruise.io/cloneset-instance-id";
/** On a revision: the hash of the volume claim templates, which alone never create a revision. */
export const CLAIM_TEMPLATES_HASH_ANNOTATION = "kruise.io/cloneset-volumeclaimtemplate-hash";
/** v1alpha1 has no field for it. */
export const EXCLUDE_PREPARING_DELETE_LABEL = "apps.kruise.io/cloneset-scaling-exclude-preparing-delete";

/** Labels with the revision of a pod. */
export function revisionLabels(revision: string, gates: FeatureGates): Record<string, string> {
  const hash = shortHash(revision);
  return { [REVISION_LABEL]: gates.isOn("CloneSetShortHash") ? hash : revision, [TEMPLATE_HASH_LABEL]: hash };
}

/** A pod may carry the full name of its revision or only the hash. */
export function hasRevision({ metadata }: ReadonlyPod, revision: string): boolean {
  const label = metadata.labels?.[REVISION_LABEL] ?? "";
  return label === revision || shortHash(label) === shortHash(revision);
}
