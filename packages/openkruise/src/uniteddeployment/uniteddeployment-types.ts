/**
 * The types of a UnitedDeployment. v1alpha1 is generated from the published module; v1beta1 comes with OpenKruise's
 * next release and is declared here as differences from v1alpha1.
 */
import type {
  SubsetTemplate as AlphaTemplate,
  UnitedDeploymentSpec as AlphaSpec,
  UnitedDeploymentStatus as AlphaStatus,
} from "@flotilla/apimachinery/facts/apps-kruise-v1alpha1.ts";
import type { KubernetesObject, ObjectMeta } from "@flotilla/apimachinery";
import type { CloneSetSpec } from "../cloneset/cloneset-types.ts";

export type {
  Subset as UnitedDeploymentSubset,
  Topology as UnitedDeploymentTopology,
} from "@flotilla/apimachinery/facts/apps-kruise-v1alpha1.ts";

export interface UnitedDeployment extends KubernetesObject {
  spec: UnitedDeploymentSpec;
  status?: UnitedDeploymentStatus;
}

export interface UnitedDeploymentSpec extends Omit<AlphaSpec, "template"> {
  template?: UnitedDeploymentTemplate;
}

export interface UnitedDeploymentTemplate extends Omit<AlphaTemplate, "cloneSetTemplate"> {
  cloneSetTemplate?: { metadata?: Partial<ObjectMeta>; spec: CloneSetSpec };
}

/** Replicas and partitions of subsets are in `subsetStatuses`. */
interface UnitedDeploymentStatus extends Omit<AlphaStatus, "subsetReplicas" | "updateStatus"> {
  updatedRevision?: string;
}
