/** Descriptions of Kubernetes' types that kinds of several projects have. Our own kinds have the same. */
import { descriptionsAt, descriptionsOf } from "./descriptions.ts";
import type { FieldDescriptions } from "./field-descriptions.ts";
import { conditions, labelSelector } from "./schema-builder.ts";

export const labelSelectorDescriptions: FieldDescriptions = descriptionsOf(labelSelector("").schema);
/** For a list of conditions. */
export const conditionsDescriptions: FieldDescriptions = descriptionsOf(conditions("").schema);

/** For a NodeSelectorTerm. */
export const nodeSelectorTermDescriptions: FieldDescriptions = Object.fromEntries(
  [
    ["matchExpressions", "Requirements on the labels of a node."],
    ["matchFields", "Requirements on fields of a node; metadata.name is the only one."],
  ].flatMap(([list = "", text = ""]) => [
    [list, text],
    [`${list}[].key`, list === "matchFields" ? "metadata.name." : "The name of the label."],
    [`${list}[].operator`, "In, NotIn, Exists, DoesNotExist, Gt or Lt."],
    [
      `${list}[].values`,
      "For In and NotIn, the values of which one must match, or none; for Gt and Lt, a whole number to compare with.",
    ],
  ]),
);

/** For a NodeSelector. */
export const nodeSelectorDescriptions: FieldDescriptions = {
  nodeSelectorTerms: "A node must match one of the terms.",
  ...descriptionsAt("nodeSelectorTerms[]", nodeSelectorTermDescriptions),
};

/** For a Toleration of a pod. */
export const tolerationDescriptions: FieldDescriptions = {
  key: "The key of the taint. Unset with the operator Exists: every taint.",
  operator: "Equal, the default: the taint has this value. Exists: it may have any.",
  value: "The value of the taint, for the operator Equal.",
  effect: "NoSchedule, PreferNoSchedule or NoExecute. Unset: every effect.",
  tolerationSeconds: "For NoExecute, how long the pod stays on a node with the taint. Unset: for ever.",
};

const metricTarget = (at: string): FieldDescriptions => ({
  [at]: "The value to reach.",
  [`${at}.type`]: "Utilization, Value or AverageValue.",
  [`${at}.averageUtilization`]: "For Utilization: the usage of all pods in percent of what they request.",
  [`${at}.averageValue`]: "For AverageValue: the metric divided by the number of pods.",
  [`${at}.value`]: "For Value: the metric itself.",
});
const metricName = (at: string): FieldDescriptions => ({
  [at]: "The metric.",
  [`${at}.name`]: "The name of the metric.",
  ...descriptionsAt(`${at}.selector`, labelSelectorDescriptions),
  [`${at}.selector`]: "Chooses among the series of the metric by their labels.",
});

/** For a MetricSpec of an autoscaler. */
export const metricSpecDescriptions: FieldDescriptions = {
  type: "Resource, ContainerResource, Pods, Object or External; the field of the same name has the metric.",
  resource: "CPU or memory of the pods.",
  "resource.name": "cpu or memory.",
  ...metricTarget("resource.target"),
  containerResource: "CPU or memory of one container of the pods.",
  "containerResource.name": "cpu or memory.",
  "containerResource.container": "The name of the container.",
  ...metricTarget("containerResource.target"),
  pods: "A custom metric that each pod has.",
  ...metricName("pods.metric"),
  ...metricTarget("pods.target"),
  object: "A custom metric of another object.",
  "object.describedObject": "The object.",
  "object.describedObject.apiVersion": "The API version of the object.",
  "object.describedObject.kind": "The kind of the object.",
  "object.describedObject.name": "The name of the object.",
  ...metricName("object.metric"),
  ...metricTarget("object.target"),
  external: "A metric of something outside of the cluster, such as a queue.",
  ...metricName("external.metric"),
  ...metricTarget("external.target"),
};

const scalingRules = (at: string, text: string, window: string): FieldDescriptions => ({
  [at]: text,
  [`${at}.stabilizationWindowSeconds`]: window,
  [`${at}.selectPolicy`]:
    "Of several policies: Max, the default, allows the largest change, Min the smallest, Disabled none.",
  [`${at}.policies`]: "How much may change within a time.",
  [`${at}.policies[].type`]: "Pods: a number of pods. Percent: a part of the present replicas.",
  [`${at}.policies[].value`]: "The number of pods, or the percentage.",
  [`${at}.policies[].periodSeconds`]: "The time, 1 to 1800 seconds.",
  [`${at}.tolerance`]: "How far the metric may be from its target without a change, as a fraction. Defaults to 0.1.",
});

/** For a HorizontalPodAutoscalerBehavior. */
export const autoscalerBehaviorDescriptions: FieldDescriptions = {
  ...scalingRules(
    "scaleUp",
    "How fast replicas are added.",
    "The smallest proposal of so many seconds counts. Defaults to 0.",
  ),
  ...scalingRules(
    "scaleDown",
    "How fast replicas are removed.",
    "The largest proposal of so many seconds counts. Defaults to 300.",
  ),
};
