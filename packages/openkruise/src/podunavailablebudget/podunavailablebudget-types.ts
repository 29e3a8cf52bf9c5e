/**
 * The types of a PodUnavailableBudget. v1alpha1 is generated from the published module; v1beta1 comes with OpenKruise's
 * next release and is declared here as differences from v1alpha1.
 */
import type {
  PodUnavailableBudgetSpec as AlphaSpec,
  PodUnavailableBudgetStatus,
} from "@flotilla/apimachinery/facts/policy-kruise-v1alpha1.ts";
import type { LabelSelector } from "@flotilla/apimachinery/facts/meta-v1.ts";
import type { KubernetesObject } from "@flotilla/apimachinery";

export type { TargetReference as PodUnavailableBudgetTarget } from "@flotilla/apimachinery/facts/policy-kruise-v1alpha1.ts";

export type PubOperation = "DELETE" | "UPDATE" | "EVICT" | "RESIZE";

export interface PodUnavailableBudget extends KubernetesObject {
  spec: PodUnavailableBudgetSpec;
  status?: PodUnavailableBudgetStatus;
}

export interface PodUnavailableBudgetSpec extends AlphaSpec {
  /** Unset: delete, update and evict. */
  protectOperations?: PubOperation[];
  /** Replaces the replica count of a workload when it cannot be determined. */
  protectTotalReplicas?: number;
  /** Pods that no budget protects. */
  ignoredPodSelector?: LabelSelector;
}
