import { descriptionsAt, labelSelectorDescriptions, type FieldDescriptions } from "@flotilla/apimachinery";
import { BUDGET_OF_MEMBERS, HISTORY, priorityDescriptions, scatterDescriptions } from "../api/strategy-descriptions.ts";

const MAY_HAVE = "It may have numbers, percentages, quantities, the four operations, and min or max of two values.";

const resourceDescriptions: FieldDescriptions = {
  cpu: `An expression of cpu, such as max(cpu*50%, 50m). ${MAY_HAVE}`,
  memory: `An expression of memory, such as max(memory*50%, 64Mi). ${MAY_HAVE}`,
};

/** What a sidecar has besides the fields of a container. */
const sidecarDescriptions: FieldDescriptions = {
  podInjectPolicy:
    "BeforeAppContainer puts the sidecar before the containers of the pod, AfterAppContainer after them. The " +
    "default is the former, and for init containers the latter.",
  upgradeStrategy: "How the sidecar is updated in running pods.",
  "upgradeStrategy.upgradeType":
    "ColdUpgrade, the default, restarts the sidecar. HotUpgrade injects two containers, and starts the new " +
    "version in the idle one before the old one stops. It cannot be changed.",
  "upgradeStrategy.hotUpgradeEmptyImage": "The image of the idle container, for HotUpgrade.",
  shareVolumePolicy: "Whether the sidecar mounts the volumes of the pod's containers.",
  "shareVolumePolicy.type": "enabled or disabled, the default.",
  shareVolumeDevicePolicy: "Whether the sidecar gets the block devices of the pod's containers.",
  "shareVolumeDevicePolicy.type": "enabled or disabled.",
  transferEnv: "Environment variables that are copied from containers of the pod.",
  "transferEnv[].sourceContainerName": "The container to copy from.",
  "transferEnv[].sourceContainerNameFrom": "A field of the pod that names the container to copy from.",
  "transferEnv[].sourceContainerNameFrom.fieldRef": "The field: a label or an annotation.",
  "transferEnv[].sourceContainerNameFrom.fieldRef.apiVersion": "The API version of the path; v1 by default.",
  "transferEnv[].sourceContainerNameFrom.fieldRef.fieldPath": "The path of the field, such as metadata.labels['main'].",
  "transferEnv[].envName": "The name of one variable.",
  "transferEnv[].envNames": "The names of several variables.",
  resourcesPolicy:
    "Computes the resources of the sidecar from those of the pod's containers, and replaces resources. If no container matches, the pod is rejected.",
  "resourcesPolicy.targetContainersMode":
    "sum adds the resources of the matching containers, max takes the largest. A limit counts only if all of them have one.",
  "resourcesPolicy.targetContainersNameRegex":
    "A regular expression for the names of the containers. Sidecars of SidecarSets are not counted.",
  "resourcesPolicy.resourcesExpr": "The expressions.",
  "resourcesPolicy.resourcesExpr.limits": "The limits of the sidecar.",
  ...descriptionsAt("resourcesPolicy.resourcesExpr.limits", resourceDescriptions),
  "resourcesPolicy.resourcesExpr.requests": "The requests of the sidecar.",
  ...descriptionsAt("resourcesPolicy.resourcesExpr.requests", resourceDescriptions),
};

export const sidecarSetDescriptions: FieldDescriptions = {
  "": "Containers that are injected into pods on creation, and updated independently.",
  spec: "The sidecars, the pods that get them, and how they are updated.",
  "spec.selector":
    "Selects the pods that get the sidecars when they are created. Pods that exist already do not get them.",
  ...descriptionsAt("spec.selector", labelSelectorDescriptions),
  "spec.namespaceSelector": "Selects the namespaces of the pods by their labels. Unset: all namespaces.",
  ...descriptionsAt("spec.namespaceSelector", labelSelectorDescriptions),
  "spec.namespace": "The namespace of the pods. Empty: all namespaces. In v1beta1 it is a namespaceSelector.",
  "spec.containers":
    "The sidecars. They have the fields of a Kubernetes container, and those below. None can be added later, and only changed images reach running pods.",
  ...descriptionsAt("spec.containers[]", sidecarDescriptions),
  "spec.initContainers":
    "Init containers to inject. They have the fields of a Kubernetes container, and those below. They are not updated in running pods.",
  ...descriptionsAt("spec.initContainers[]", sidecarDescriptions),
  "spec.volumes": "Volumes that the sidecars mount. They are added to the pods.",
  "spec.imagePullSecrets": "Pull secrets that are added to the pods.",
  "spec.imagePullSecrets[].name": "The name of a Secret in the namespace of the pod.",
  "spec.patchPodMetadata":
    "Annotations that are added to the pods. On members an administrator must permit them in the ConfigMap kruise-configuration.",
  "spec.patchPodMetadata[].annotations": "The annotations.",
  "spec.patchPodMetadata[].annotations.*": "The value of the annotation.",
  "spec.patchPodMetadata[].patchPolicy":
    "Retain, the default, keeps an existing value, Overwrite replaces it, MergePatchJson merges both as JSON.",
  "spec.revisionHistoryLimit": HISTORY,
  "spec.customVersion": "Your own name for this revision, for injectionStrategy.revision. In v1alpha1 it is a label.",
  "spec.injectionStrategy": "What new pods get.",
  "spec.injectionStrategy.paused": "true injects nothing into new pods. Running sidecars are still updated.",
  "spec.injectionStrategy.revision": "An older revision for new pods. Unset: the newest one.",
  "spec.injectionStrategy.revision.customVersion":
    "The customVersion of the revision. A new set on the hub that names its own version gets it as customVersion.",
  "spec.injectionStrategy.revision.revisionName":
    "The name of the ControllerRevision. Names differ between members: prefer customVersion.",
  "spec.injectionStrategy.revision.policy":
    "Always: all new pods get the revision. Partial: all while the update is paused, and those that " +
    "updateStrategy.selector does not select; of the others the share that a percentage as partition " +
    "gives, by chance.",
  "spec.updateStrategy": "How a change of images reaches running pods.",
  "spec.updateStrategy.type": "RollingUpdate, the default, updates running pods; NotUpdate only new pods.",
  "spec.updateStrategy.paused": "true stops the update. Pods that are already updated stay so.",
  "spec.updateStrategy.selector": "Selects the pods to update, for a canary. Not together with partition.",
  ...descriptionsAt("spec.updateStrategy.selector", labelSelectorDescriptions),
  "spec.updateStrategy.partition":
    "How many pods keep the old sidecars: a number, or a percentage. 0 by default. It counts the matching pods " +
    "of the fleet; the hub divides it by the pods that members report.",
  "spec.updateStrategy.maxUnavailable": `The largest number of unavailable pods during an update; 1 by default. ${BUDGET_OF_MEMBERS}`,
  ...descriptionsAt("spec.updateStrategy.priorityStrategy", priorityDescriptions),
  ...descriptionsAt("spec.updateStrategy.scatterStrategy", scatterDescriptions),

  status: "The observed state; on the hub, summed over the members.",
  "status.matchedPods": "Pods that have the sidecars.",
  "status.updatedPods": "Pods with the newest sidecars.",
  "status.readyPods": "Pods that are ready.",
  "status.updatedReadyPods": "Pods with the newest sidecars that are ready.",
  "status.latestRevision": "The name of the newest revision.",
  "status.observedGeneration": "The generation that the status reflects.",
  "status.collisionCount": "How often the name of a revision was already taken.",
};
