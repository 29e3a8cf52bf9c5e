/**
 * Two shorthand annotations on a ManifestWork restrict it to its cluster only while the cluster has certain labels.
 * Open Cluster Management has no such feature; there a Placement selects clusters by label, and a
 * ManifestWorkReplicaSet creates works for them.
 */
import type { DeepReadonly } from "@flotilla/base";
import {
  ApiError,
  field,
  matchesLabels,
  parseLabelSelector,
  type FieldError,
  type LabelSelector,
} from "@flotilla/apimachinery";
export const CONDITIONAL_DEPLOYMENT_ANNOTATION = "ocm.io/conditional-deployment";
export const REQUIRED_LABELS_ANNOTATION = "ocm.io/required-labels";

type Annotations = DeepReadonly<Record<string, string>> | undefined;

/**
 * The labels that a cluster must have for a work with these annotations; undefined for an unconditional work. Throws
 * for an invalid selector.
 */
function requiredLabels(annotations: Annotations): LabelSelector | undefined {
  if (annotations?.[CONDITIONAL_DEPLOYMENT_ANNOTATION] !== "true") return undefined;
  const { [REQUIRED_LABELS_ANNOTATION]: text = "" } = annotations;
  return parseLabelSelector(text);
}

/** Whether a work with these annotations applies to a cluster with these labels. */
export function isDeployedTo(annotations: Annotations, labels: Readonly<Record<string, string>> | undefined): boolean {
  const selector = requiredLabels(annotations);
  return selector === undefined || matchesLabels(selector, labels);
}

/** An invalid selector would keep a work from its cluster forever. */
export function checkConditionalDeployment(annotations: Annotations): FieldError[] {
  try {
    requiredLabels(annotations);
    return [];
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    return [
      field.invalid(
        `metadata.annotations[${REQUIRED_LABELS_ANNOTATION}]`,
        annotations?.[REQUIRED_LABELS_ANNOTATION],
        error.message,
      ),
    ];
  }
}

export function conditionalDeploymentWarnings(annotations: Annotations): string[] {
  if (annotations?.[CONDITIONAL_DEPLOYMENT_ANNOTATION] !== "true") return [];
  return [
    `metadata.annotations: ${CONDITIONAL_DEPLOYMENT_ANNOTATION} is only supported by Flotilla; the canonical ` +
      "form is a ManifestWorkReplicaSet with a Placement that selects clusters by label",
  ];
}
