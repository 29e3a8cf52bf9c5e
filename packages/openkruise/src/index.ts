export { AdvancedDaemonSet } from "./daemonset/daemonset-kind.ts";
export { AdvancedStatefulSet } from "./statefulset/statefulset-kind.ts";
export type { CloneSetV1alpha1 } from "./cloneset/cloneset-types.ts";
export { CloneSet } from "./cloneset/cloneset-kind.ts";
export { createFeatureGates, parseFeatureGates } from "./api/feature-gates.ts";
export type { FeatureGates } from "./api/feature-gates.ts";
export type { KruiseDependencies } from "./api/kruise-definition.ts";
export { selectorsAgree, selectorsOverlap } from "./api/selector-overlap.ts";
export { SidecarSet } from "./sidecarset/sidecarset-kind.ts";
export { UnitedDeployment } from "./uniteddeployment/uniteddeployment-kind.ts";
export { DivideError } from "./divide/divide-error.ts";
export { failedRollbacks } from "./divide/failed-rollback.ts";
export type { FailedRollback } from "./divide/failed-rollback.ts";
export { kruiseJudgeOf } from "./kruise-problems.ts";
export { heldRollout, openRollout, steppedReturn } from "./divide/held-rollout.ts";
export type { HeldRollout } from "./divide/held-rollout.ts";
export { exceededByCreation, KEPT_TEMPLATE, takeKeptTemplate } from "./divide/member-stage.ts";
export { movingOrdinals } from "./statefulset/moving-ordinals.ts";
export { LEAVING_ORDINALS } from "./statefulset/plan-fleet-ordinals.ts";
export { partitionOf } from "./divide/partitioned.ts";
export { planUpdated } from "./divide/plan-updated.ts";
export { digestOf, ROLLOUT_STAGE } from "./divide/release.ts";
export { keptPods, letThrough } from "./divide/split-partition.ts";
export { containerHashes } from "./in-place/container-hashes.ts";
export { keepCounted, UPDATED_COUNTERS } from "./divide/counted-release.ts";
export { summingNewest } from "./interpreter/newest-items.ts";
export { kruiseDefinitions } from "./kruise-definitions.ts";
export {
  convertsWithoutWebhook,
  createKruiseAdmissions,
  createKruiseControllers,
  expandShorthand,
  fieldsLostIn,
  kruiseAdmissions,
  kruiseKinds,
  kruiseStateMetrics,
  kruiseStates,
} from "./openkruise.ts";
export { CANARY_CLUSTERS, PARTITION_SCOPE, ROLLOUT_ORDER } from "./divide/rollout-annotations.ts";
export { AdvancedCronJob } from "./advancedcronjob/advancedcronjob-kind.ts";
export { kruiseWorkloads } from "./kruise-workloads.ts";
export { ContainerRecreateRequest } from "./containerrecreaterequest/containerrecreaterequest-kind.ts";
export type { ReadonlyRecreateRequest } from "./containerrecreaterequest/containerrecreaterequest-kind.ts";
export { CONTAINERS_ANNOTATION, UNREADY_ACQUIRED } from "./containerrecreaterequest/recreate-names.ts";
export { NodePodProbe } from "./nodepodprobe/nodepodprobe-kind.ts";
export { NodeImage } from "./nodeimage/nodeimage-kind.ts";
export { tagStatusOf, withReports } from "./nodeimage/plan-nodeimage.ts";
export { PREDOWNLOAD_PARALLELISM_ANNOTATION } from "./api/kruise-names.ts";
export { IN_PLACE_STATE_ANNOTATION, RUNTIME_CONTAINERS_ANNOTATION } from "./in-place/state.ts";
export { Rollout } from "./rollout/rollout-kind.ts";
export { IN_PROGRESSING, ROLLBACK_IN_BATCH, ROLLOUT_ID } from "./released-workload/rollout-names.ts";
export { nextStep, routesRequests, routingsOf, stepsOf, styleOf } from "./rollout/rollout-strategy.ts";
