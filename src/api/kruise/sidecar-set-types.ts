/** The types of a SidecarSet. Its definition leaves the spec open, but none is accepted without one. */
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
