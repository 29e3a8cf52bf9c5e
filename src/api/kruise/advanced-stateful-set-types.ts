/** The types of an Advanced StatefulSet, under names distinct from the StatefulSet of Kubernetes. */
export type { StatefulSet as AdvancedStatefulSetV1alpha1 } from "../facts/apps-kruise-v1alpha1.ts";
export type {
  RollingUpdateStatefulSetStrategy as AdvancedStatefulSetRollingUpdate,
  StatefulSet as AdvancedStatefulSet,
  StatefulSetPersistentVolumeClaimRetentionPolicy as AdvancedStatefulSetClaimRetentionPolicy,
  StatefulSetSpec as AdvancedStatefulSetSpec,
  StatefulSetStatus as AdvancedStatefulSetStatus,
  StatefulSetUpdateStrategy as AdvancedStatefulSetUpdateStrategy,
  VolumeClaimStatus as AdvancedStatefulSetVolumeClaimStatus,
} from "../facts/apps-kruise-v1beta1.ts";
