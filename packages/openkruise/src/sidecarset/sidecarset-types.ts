/** The types of a SidecarSet. Its CRD leaves the spec optional, but a set without a spec is rejected. */
import type { SidecarSetSpec, SidecarSetStatus } from "@flotilla/apimachinery/facts/apps-kruise-v1beta1.ts";
import type { KubernetesObject } from "@flotilla/apimachinery";

export type {
  SidecarContainer,
  SidecarSetPatchPodMetadata,
  SidecarSetSpec,
  SidecarSetUpdateStrategy,
  TransferEnvVar,
} from "@flotilla/apimachinery/facts/apps-kruise-v1beta1.ts";

export interface SidecarSet extends KubernetesObject {
  spec: SidecarSetSpec;
  status?: SidecarSetStatus;
}
