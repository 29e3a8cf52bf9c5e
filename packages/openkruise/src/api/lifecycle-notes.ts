/** Descriptions of the fields that OpenKruise's workloads share, for the reference pages. */
export const LIFECYCLE_NOTES: Readonly<Record<string, string>> = {
  "spec.lifecycle":
    "Labels or finalizers that hold a pod before it is deleted, updated in place, or considered normal, until another controller removes them.",
};
