/** The types of an Advanced DaemonSet, under names distinct from the DaemonSet of Kubernetes. */
export type { DaemonSet as AdvancedDaemonSetV1alpha1 } from "../facts/apps-kruise-v1alpha1.ts";
export type {
  DaemonSet as AdvancedDaemonSet,
  DaemonSetScaleStrategy as AdvancedDaemonSetScaleStrategy,
  DaemonSetSpec as AdvancedDaemonSetSpec,
  DaemonSetStatus as AdvancedDaemonSetStatus,
  DaemonSetUpdateStrategy as AdvancedDaemonSetUpdateStrategy,
  RollingUpdateDaemonSet as AdvancedDaemonSetRollingUpdate,
} from "../facts/apps-kruise-v1beta1.ts";
