import { autoscalerBehaviorDescriptions, descriptionsAt, metricSpecDescriptions } from "@flotilla/apimachinery";
import type { FieldDescriptions } from "@flotilla/apimachinery";

export const federatedHpaDescriptions: FieldDescriptions = {
  "": "Scales a template in proportion to what its pods use on all members together. The scheduler divides the replicas.",
  spec: "What is scaled, by which metrics, within which limits.",
  "spec.scaleTargetRef": "The template on the hub whose scale is written.",
  "spec.scaleTargetRef.apiVersion": "The API version of the template.",
  "spec.scaleTargetRef.kind": "The kind of the template. It needs the subresource scale.",
  "spec.scaleTargetRef.name": "The name of the template, in the namespace of this object.",
  "spec.minReplicas": "The fewest replicas of the template. Defaults to 1.",
  "spec.maxReplicas": "The most replicas of the template.",
  "spec.metrics":
    "The metrics; the largest proposal counts. Defaults to 80% of the requested CPU. Pods on members whose " +
    "metrics cannot be read count as unused when the fleet scales up, and when it scales down as at the " +
    "target, or as at all of what they request if the target is a lower utilization.",
  ...descriptionsAt("spec.metrics[]", metricSpecDescriptions),
  ...descriptionsAt("spec.behavior", autoscalerBehaviorDescriptions),
  "spec.behavior": "How fast the template is scaled up and down. Unset: as for a HorizontalPodAutoscaler.",
  status: "What was found and done, as in a HorizontalPodAutoscaler.",
  "status.observedGeneration": "The generation that the status reflects. Not set, as in Karmada.",
  "status.lastScaleTime": "When the template was last scaled by this object.",
  "status.currentReplicas": "The replicas that the template asked for when it was last looked at.",
  "status.desiredReplicas": "The replicas that were last found to be right.",
  "status.currentMetrics": "The metrics as they were last read, over all members.",
  "status.conditions":
    "AbleToScale: the template can be read and written, and is on a member. ScalingActive: the metrics are " +
    "known; its message names members that were not read. ScalingLimited: the limits or the behavior " +
    "changed the result.",
};
