/** Labels, annotations and conditions by which OpenKruise and its users recognise CloneSet pods. */
export const INSTANCE_ID_LABEL = "apps.kruise.io/cloneset-instance-id";
export const REVISION_LABEL = "controller-revision-hash";
export const TEMPLATE_HASH_LABEL = "pod-template-hash";
export const SPECIFIED_DELETE_LABEL = "apps.kruise.io/specified-delete";
export const LIFECYCLE_STATE_LABEL = "lifecycle.apps.kruise.io/state";
export const LIFECYCLE_TIMESTAMP_ANNOTATION = "lifecycle.apps.kruise.io/timestamp";
export const IN_PLACE_STATE_ANNOTATION = "apps.kruise.io/inplace-update-state";
/** The key that OpenKruise wrote before 1.0 and still reads. */
export const OLD_IN_PLACE_STATE_ANNOTATION = "inplace-update-state";
export const IN_PLACE_READY = "InPlaceUpdateReady";
export const REVISION_HASH_LABEL = "controller.kubernetes.io/hash";
export const CLAIM_TEMPLATES_HASH_ANNOTATION = "kruise.io/cloneset-volumeclaimtemplate-hash";

/** What comes after the last dash of a revision's name. */
export function shortHash(revision: string): string {
  return revision.slice(revision.lastIndexOf("-") + 1);
}
