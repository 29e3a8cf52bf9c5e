/** The types of an Advanced StatefulSet, under names distinct from the StatefulSet of Kubernetes. */
export type {
  RollingUpdateStatefulSetStrategy as AdvancedStatefulSetRollingUpdate,
  StatefulSet as AdvancedStatefulSet,
  StatefulSetSpec as AdvancedStatefulSetSpec,
  StatefulSetUpdateStrategy as AdvancedStatefulSetUpdateStrategy,
} from "@flotilla/apimachinery/facts/apps-kruise-v1beta1.ts";
