/** The types of a SidecarSet. Its CRD leaves the spec optional, but a set without a spec is rejected. */
import type { SidecarSet as SidecarSetV1alpha1Facts } from "../facts/apps-kruise-v1alpha1.ts";
import type { SidecarSetSpec, SidecarSetStatus } from "../facts/apps-kruise-v1beta1.ts";
import type { KubernetesObject } from "../meta.ts";

export type {
  SidecarContainer,
  SidecarSetPatchPodMetadata,
  SidecarSetSpec,
  SidecarSetStatus,
  SidecarSetUpdateStrategy,
  TransferEnvVar,
} from "../facts/apps-kruise-v1beta1.ts";
export type SidecarSetV1alpha1 = SidecarSetV1alpha1Facts;

export interface SidecarSet extends KubernetesObject {
  spec: SidecarSetSpec;
  status?: SidecarSetStatus;
}
