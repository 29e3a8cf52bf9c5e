/**
 * Labels and annotations that the pipeline stages write for each other. They differ between copies and are of no
 * interest to users.
 */
import { MANAGED_LABEL } from "../delivery/index.ts";
import { KEPT_TEMPLATE, ROLLOUT_STAGE, TEMPLATE_GENERATION } from "../interpreter/index.ts";
import { CLAIM_ANNOTATIONS, CLAIM_LABELS, wellKnown } from "../propagation/index.ts";

const LABELS = new Set([
  ...CLAIM_LABELS,
  wellKnown.BINDING_ID,
  wellKnown.CLUSTER_BINDING_ID,
  wellKnown.WORK_ID,
  MANAGED_LABEL,
]);
const ANNOTATIONS = new Set([
  ...CLAIM_ANNOTATIONS,
  wellKnown.ACTIVATED_TEMPLATE,
  wellKnown.BINDING_NAMESPACE,
  wellKnown.BINDING_NAME,
  wellKnown.CLUSTER_BINDING_NAME,
  wellKnown.WORK_NAMESPACE,
  wellKnown.WORK_NAME,
  wellKnown.TEMPLATE_UID,
  wellKnown.MANAGED_LABELS,
  wellKnown.MANAGED_ANNOTATIONS,
  TEMPLATE_GENERATION,
  KEPT_TEMPLATE,
  ROLLOUT_STAGE,
  // kubectl's last-applied annotation repeats the whole object.
  "kubectl.kubernetes.io/last-applied-configuration",
]);

const PATHS = new Set([
  ...[...LABELS].map((key) => `metadata.labels[${key}]`),
  ...[...ANNOTATIONS].map((key) => `metadata.annotations[${key}]`),
]);

/** Whether a path from `compareFields` is one of these labels or annotations. */
export function isBookkeeping(path: string): boolean {
  return PATHS.has(path);
}
