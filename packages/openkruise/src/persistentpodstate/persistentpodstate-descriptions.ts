import type { FieldDescriptions } from "@flotilla/apimachinery";

export const persistentPodStateDescriptions: FieldDescriptions = {
  "": "Records where the pods of a StatefulSet run, so that a pod that is created again returns there.",
  spec: "The StatefulSet, and what is recorded.",
  "spec.targetRef":
    "The StatefulSet of Kubernetes or of OpenKruise, in the same namespace. It cannot be changed, and may have one PersistentPodState.",
  "spec.targetRef.apiVersion": "apps/v1 or apps.kruise.io/v1beta1.",
  "spec.targetRef.kind": "StatefulSet.",
  "spec.targetRef.name": "The name of the StatefulSet.",
  "spec.persistentPodAnnotations": "Annotations of the pods that are recorded.",
  "spec.persistentPodAnnotations[].key": "The key of an annotation.",
  "spec.requiredPersistentTopology": "Labels of the node that a pod needs again: it waits until such a node has room.",
  "spec.requiredPersistentTopology.nodeTopologyKeys": "Keys of node labels, such as kubernetes.io/hostname.",
  "spec.preferredPersistentTopology": "Labels of the node that a pod prefers.",
  "spec.preferredPersistentTopology[].weight": "The weight of the preference, 1 to 100.",
  "spec.preferredPersistentTopology[].preference": "The labels.",
  "spec.preferredPersistentTopology[].preference.nodeTopologyKeys":
    "Keys of node labels, such as topology.kubernetes.io/zone.",
  "spec.persistentPodStateRetentionPolicy":
    "WhenScaled, the default, forgets a pod when the StatefulSet is scaled below its ordinal. WhenDeleted remembers it until the StatefulSet is deleted.",
  status: "What was recorded. Each member records its own pods; the hub shows none.",
  "status.observedGeneration": "The generation of the spec that the status belongs to.",
  "status.podStates": "The records by name of the pod.",
  "status.podStates.*.nodeName": "The node on which the pod was ready last.",
  "status.podStates.*.nodeTopologyLabels": "The recorded labels of that node.",
  "status.podStates.*.annotations": "The recorded annotations of the pod.",
};
