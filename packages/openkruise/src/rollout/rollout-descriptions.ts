import { descriptionsAt, type FieldDescriptions } from "@flotilla/apimachinery";
import { podMetadataDescriptions, rolloutConditionDescriptions } from "../released-workload/release-descriptions.ts";
import { stepMatchDescriptions, trafficReferenceDescriptions } from "../trafficrouting/traffic-descriptions.ts";

const stepDescriptions: FieldDescriptions = {
  "": "The steps, in order. On the hub a step is about the pods of the whole fleet.",
  "[].replicas":
    "How many pods run the new revision after the step, earlier steps included: a number, or a percentage " +
    "rounded up. On the hub it counts the pods of all members.",
  "[].pause": "What the release waits for after the step. The last step does not wait if it updates 100%.",
  "[].pause.duration": "How long the release waits, in seconds. Unset: until someone approves the step.",
  "[].traffic":
    "The share of requests that the new revision gets, such as 20%. A Rollout that leads the fleet cannot have one.",
  ...descriptionsAt("[]", stepMatchDescriptions),
};

const strategyDescriptions = (what: string): FieldDescriptions => ({
  "": what,
  ...descriptionsAt("steps", stepDescriptions),
  ...descriptionsAt("trafficRoutings", trafficReferenceDescriptions),
  trafficRoutings: "The service and its routes. At most one. A Rollout that leads the fleet cannot have one.",
  failureThreshold:
    "How many updated pods of a step may be unavailable: a number, or a percentage of the updated pods. On the hub, of all pods of the fleet.",
  trafficRoutingRef: "The TrafficRouting that is switched on while a release is in progress.",
  disableGenerateCanaryService: "true creates no service for the new revision; its pods share the stable one.",
});

const commonStatusDescriptions: FieldDescriptions = {
  observedWorkloadGeneration: "The generation of the workload that the status is about.",
  observedRolloutID: "The release, by the label of the workload or its revision.",
  rolloutHash: "A hash of the steps. On the hub, empty.",
  stableRevision: "The revision before. On the hub, a FleetRollout.",
  podTemplateHash: "The label value of pods of the new revision.",
  currentStepIndex: "The step, from 1.",
  nextStepIndex:
    "The step after this one. Another number lets the release jump there. On the hub it can only jump ahead.",
  finalisingStep: "What the end of the release is doing.",
  currentStepState:
    "BeforeStepUpgrade, StepUpgrade, StepTrafficRouting, StepMetricsAnalysis, StepPaused, StepReady or " +
    "Completed. Writing StepReady while it is StepPaused approves the step.",
  message: "What the step does.",
  lastUpdateTime: "When the state last changed.",
};

export const rolloutDescriptions: FieldDescriptions = {
  "":
    "Releases a new template of a workload step by step. On the hub, a Rollout that no policy selects leads " +
    "the release over the fleet; one that a policy selects is copied to the members, and each releases its " +
    "own pods.",
  spec: "The workload and the strategy.",
  "spec.workloadRef":
    "A CloneSet, Deployment, StatefulSet or DaemonSet in the same namespace. A workload has at most one Rollout.",
  "spec.workloadRef.apiVersion": "The API version of the workload.",
  "spec.workloadRef.kind": "The kind of the workload.",
  "spec.workloadRef.name": "The name of the workload.",
  "spec.objectRef": "The workload.",
  ...descriptionsAt("spec.objectRef.workloadRef", {
    "": "A CloneSet, Deployment, StatefulSet or DaemonSet in the same namespace. A workload has at most one Rollout.",
    apiVersion: "The API version of the workload.",
    kind: "The kind of the workload.",
    name: "The name of the workload.",
  }),
  "spec.rolloutID":
    "Deprecated and without effect: the label rollouts.kruise.io/rollout-id of the workload names a release.",
  "spec.disabled":
    "true ends the influence on the workload: a release in progress is completed without further waiting.",
  "spec.strategy": "The steps, as a canary or as blue-green.",
  "spec.strategy.paused": "true stops a release where it is.",
  ...descriptionsAt(
    "spec.strategy.canary",
    strategyDescriptions("Updates the pods of the workload part by part, or runs a canary beside it."),
  ),
  "spec.strategy.canary.steps[].weight":
    "The share of requests that the new revision gets, in percent; also the pods if replicas is unset.",
  "spec.strategy.canary.enableExtraWorkloadForCanary":
    "true runs the new revision in a copy of the Deployment until the release is complete. Without effect for " +
    "other kinds. A Rollout that leads the fleet cannot have it for a Deployment.",
  ...descriptionsAt("spec.strategy.canary.patchPodTemplateMetadata", podMetadataDescriptions),
  ...descriptionsAt(
    "spec.strategy.blueGreen",
    strategyDescriptions(
      "Runs the new revision beside the old one, with all pods of both, until the release is complete. A Rollout that leads the fleet cannot have it.",
    ),
  ),
  status: "Where the release is. On the hub, that of the fleet.",
  "status.observedGeneration": "The generation that the status is about.",
  "status.phase": "Initial, Healthy, Progressing, Terminating, Disabling or Disabled.",
  "status.message": "What happens now.",
  "status.currentStepIndex": "The step, from 1.",
  "status.currentStepState": "The state of the step, as in the status of the strategy.",
  "status.conditions":
    "Progressing with the part of the release as its reason, Succeeded after it, Terminating. On the hub " +
    "also FleetWide: whether the Rollout leads the release over the fleet, and what of it cannot be " +
    "carried over.",
  ...descriptionsAt("status.conditions", rolloutConditionDescriptions),
  ...descriptionsAt("status.canaryStatus", {
    "": "The release of a canary strategy.",
    ...commonStatusDescriptions,
    canaryRevision: "The new revision. On the hub, a FleetRollout.",
    canaryReplicas: "Pods that run the new revision.",
    canaryReadyReplicas: "Of these, pods that are available.",
  }),
  ...descriptionsAt("status.blueGreenStatus", {
    "": "The release of a blue-green strategy.",
    ...commonStatusDescriptions,
    updatedRevision: "The new revision.",
    updatedReplicas: "Pods that run the new revision.",
    updatedReadyReplicas: "Of these, pods that are available.",
  }),
};
