import { descriptionsAt, labelSelectorDescriptions, type FieldDescriptions } from "@flotilla/apimachinery";

/** The fields that ImagePullJobs and ImageListPullJobs share. */
export const pullTemplateDescriptions: FieldDescriptions = {
  pullSecrets: "Secrets of the job's namespace with credentials for the registry.",
  selector: "The nodes that pull the image. Unset: all nodes. Not together with podSelector.",
  ...descriptionsAt("selector", withoutRoot(labelSelectorDescriptions)),
  "selector.names": "The names of the nodes. Not together with labels.",
  podSelector: "The nodes of the selected pods of the namespace pull the image.",
  ...descriptionsAt("podSelector", withoutRoot(labelSelectorDescriptions)),
  parallelism: "How many nodes pull at a time; 1 by default. A number, not a percentage. It applies to each member.",
  pullPolicy: "How a node pulls.",
  "pullPolicy.timeoutSeconds": "How long one attempt may take, in seconds; 600 by default.",
  "pullPolicy.backoffLimit": "How many more attempts follow a failed one; 3 by default.",
  completionPolicy: "When the job ends.",
  "completionPolicy.type":
    "Always, the default: when all selected nodes have pulled the image or failed. Never: new nodes pull it as long as the job exists.",
  "completionPolicy.activeDeadlineSeconds":
    "How long the job may take, in seconds; then the nodes that are left count as failed. Only with Always.",
  "completionPolicy.ttlSecondsAfterFinished":
    "Deletes the job so many seconds after it has ended. Only with Always. Unset: it is kept.",
  sandboxConfig: "Labels and annotations of the sandbox in which the image is pulled.",
  "sandboxConfig.labels": "Labels of the sandbox.",
  "sandboxConfig.annotations": "Annotations of the sandbox.",
  imagePullPolicy: "IfNotPresent, the default, or Always to pull the image even if the node has it.",
};

function withoutRoot({ "": _root, ...fields }: FieldDescriptions): FieldDescriptions {
  return fields;
}

export const imagePullJobDescriptions: FieldDescriptions = {
  "": "Pulls an image to nodes in advance. Needs OpenKruise's feature gate ImagePullJobGate on the member.",
  ...descriptionsAt("spec", pullTemplateDescriptions),
  spec: "The image and the nodes. Each member pulls it to its own nodes.",
  "spec.image": "The image to pull.",
  status: "The observed state; on the hub, summed over the members.",
  "status.desired": "Nodes that should pull the image.",
  "status.active": "Nodes that pull it.",
  "status.succeeded": "Nodes that have pulled it.",
  "status.failed": "Nodes that could not pull it.",
  "status.failedNodes": "The names of the nodes that could not pull it; on the hub with their members.",
  "status.message": "The progress, or how the job ended.",
  "status.startTime": "When the job started.",
  "status.completionTime": "When the job ended.",
};
