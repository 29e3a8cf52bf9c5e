/**
 * Labels and annotations that the pipeline stages write for each other. They differ between copies and are of no
 * interest to users.
 */
import { LAST_APPLIED_ANNOTATION } from "@flotilla/apimachinery";
import { KEPT_TEMPLATE, ROLLOUT_STAGE } from "@flotilla/openkruise";
import { CLAIM_ANNOTATIONS, CLAIM_LABELS } from "../propagation/match/plan-match.ts";
import { ACTIVATED_TEMPLATE, PODS_TO_DELETE, RELEASE_STEP } from "../flotilla-names.ts";
import {
  BINDING_ID,
  BINDING_NAME,
  BINDING_NAMESPACE,
  CLUSTER_BINDING_ID,
  CLUSTER_BINDING_NAME,
  CONFLICT_RESOLUTION,
  MANAGED_ANNOTATIONS,
  MANAGED_LABEL,
  MANAGED_LABELS,
  TEMPLATE_GENERATION,
  TEMPLATE_UID,
  WORK_ID,
  WORK_NAME,
  WORK_NAMESPACE,
} from "@flotilla/karmada";

const LABELS = new Set([...CLAIM_LABELS, BINDING_ID, CLUSTER_BINDING_ID, WORK_ID, MANAGED_LABEL]);
const ANNOTATIONS = new Set([
  ...CLAIM_ANNOTATIONS,
  ACTIVATED_TEMPLATE,
  BINDING_NAMESPACE,
  BINDING_NAME,
  CLUSTER_BINDING_NAME,
  WORK_NAMESPACE,
  WORK_NAME,
  TEMPLATE_UID,
  MANAGED_LABELS,
  MANAGED_ANNOTATIONS,
  TEMPLATE_GENERATION,
  KEPT_TEMPLATE,
  ROLLOUT_STAGE,
  PODS_TO_DELETE,
  RELEASE_STEP,
  // kubectl's last-applied annotation repeats the whole object.
  LAST_APPLIED_ANNOTATION,
]);

const PATHS = new Set([
  ...[...LABELS].map((key) => `metadata.labels[${key}]`),
  ...[...ANNOTATIONS].map((key) => `metadata.annotations[${key}]`),
]);

/** Whether a path from `compareFields` is one of these labels or annotations. */
export function isBookkeeping(path: string): boolean {
  return PATHS.has(path);
}

/** On a new copy the conflict-resolution annotation is not a difference either. */
export const isStamp = (path: string): boolean =>
  isBookkeeping(path) || path === `metadata.annotations[${CONFLICT_RESOLUTION}]`;
