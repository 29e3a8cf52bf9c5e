/** The types of an Advanced DaemonSet, under names distinct from the DaemonSet of Kubernetes. */
export type {
  DaemonSet as AdvancedDaemonSet,
  DaemonSetSpec as AdvancedDaemonSetSpec,
  DaemonSetUpdateStrategy as AdvancedDaemonSetUpdateStrategy,
  RollingUpdateDaemonSet as AdvancedDaemonSetRollingUpdate,
} from "@flotilla/apimachinery/facts/apps-kruise-v1beta1.ts";
