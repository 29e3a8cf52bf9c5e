/** Descriptions of the spec of a ManifestWork, which is also the template of a ManifestWorkReplicaSet. */
import { descriptionsAt, type FieldDescriptions } from "@flotilla/apimachinery";

const CONFIG = "manifestConfigs[]";
const APPLY = `${CONFIG}.updateStrategy.serverSideApply`;

const identifierDescriptions: FieldDescriptions = {
  group: "The API group of the object; empty for the core group.",
  resource: "The plural name of the kind, such as deployments.",
};

export const manifestWorkSpecDescriptions: FieldDescriptions = {
  workload: "The objects for the cluster.",
  "workload.manifests":
    "The complete objects, each with a name and each once. Together at most 512000 bytes. Objects that are " +
    "removed from the list are deleted on the cluster after the rest is applied.",

  deleteOption: "What happens to the objects when the work is deleted: they are deleted by default.",
  "deleteOption.propagationPolicy":
    "Foreground deletes all objects, Orphan keeps all of them, SelectivelyOrphan keeps those of orphaningRules.",
  "deleteOption.selectivelyOrphans": "The objects to keep, for SelectivelyOrphan.",
  "deleteOption.selectivelyOrphans.orphaningRules": "The objects to keep, one rule for each.",
  ...descriptionsAt("deleteOption.selectivelyOrphans.orphaningRules[]", {
    ...identifierDescriptions,
    namespace: "The namespace of the object; empty for a cluster-scoped one.",
    name: "The name of the object.",
  }),
  "deleteOption.ttlSecondsAfterFinished":
    "Deletes the work so many seconds after its condition Complete is True. Unset: it stays. Ignored for works of a ManifestWorkReplicaSet.",

  executor:
    "The identity that applies the objects; the agent's by default. Naming one needs the permission execute-as on the hub.",
  "executor.subject": "The identity on the cluster.",
  "executor.subject.type": "ServiceAccount.",
  "executor.subject.serviceAccount":
    "The service account on the cluster. An object that it may not write is not applied, and the manifest's status reports it.",
  "executor.subject.serviceAccount.namespace": "The namespace of the service account.",
  "executor.subject.serviceAccount.name": "The name of the service account.",

  manifestConfigs:
    "How objects are updated, and which status is reported. If several entries match an object, each option comes from the first entry that sets it.",
  [`${CONFIG}.resourceIdentifier`]: "The objects that this config applies to; name and namespace may contain *.",
  ...descriptionsAt(`${CONFIG}.resourceIdentifier`, {
    ...identifierDescriptions,
    namespace: "The namespace of the objects, in which * stands for any text; empty for cluster-scoped ones.",
    name: "The name of the objects, in which * stands for any text.",
  }),

  [`${CONFIG}.updateStrategy`]: "How the object is updated; Update by default.",
  [`${CONFIG}.updateStrategy.type`]:
    "Update makes the object match the manifest. CreateOnly creates it and never changes it. " +
    "ServerSideApply writes only the fields of the manifest. ReadOnly never writes it, and only reports " +
    "its status.",
  [APPLY]: "Options of ServerSideApply.",
  [`${APPLY}.force`]:
    "true takes over fields that other managers own. By default they are conflicts, which the manifest's status reports.",
  [`${APPLY}.fieldManager`]: "The field manager. It must start with work-agent.",
  [`${APPLY}.ignoreFields`]:
    "Fields that are left to the cluster, such as replicas for an autoscaler. The others are still repaired.",
  [`${APPLY}.ignoreFields[].condition`]:
    "OnSpokePresent leaves the fields to the cluster once the object exists, OnSpokeChange until the manifest changes.",
  [`${APPLY}.ignoreFields[].jsonPaths`]: "The fields as JSON paths, such as .spec.replicas.",
  [`${APPLY}.ignoreFields[].jsonPointers`]: "The fields as JSON pointers, such as /spec/replicas.",
  [`${APPLY}.ignoreFields[].jqPathExpressions`]:
    "The fields as jq paths. Paths, [], select(path == value) and commas are supported.",

  [`${CONFIG}.feedbackRules`]: "Values of the object's status that are reported in status.resourceStatus.",
  [`${CONFIG}.feedbackRules[].type`]:
    "WellKnownStatus: the usual values of Deployments, StatefulSets, DaemonSets, Jobs, Pods and OpenKruise's workloads. JSONPaths: the values of jsonPaths.",
  [`${CONFIG}.feedbackRules[].jsonPaths`]: "The values, for the type JSONPaths.",
  [`${CONFIG}.feedbackRules[].jsonPaths[].name`]: "The name of the reported value.",
  [`${CONFIG}.feedbackRules[].jsonPaths[].path`]:
    "The JSON path of the value, such as .status.readyReplicas. Objects and lists are reported as JSON, up to 1024 bytes.",
  [`${CONFIG}.feedbackRules[].jsonPaths[].version`]:
    "Reads the value only from objects of this version, such as v1. Unset: of any version.",
  [`${CONFIG}.feedbackScrapeType`]: "Has no effect: objects are always watched, and values are reported at once.",

  [`${CONFIG}.conditionRules`]: "Conditions that are computed from the object.",
  [`${CONFIG}.conditionRules[].condition`]:
    "The type of the condition. Complete ends updates of the objects; Progressing and Degraded determine the state of a rollout.",
  [`${CONFIG}.conditionRules[].type`]:
    "CEL: from celExpressions. WellKnownConditions: Complete of Jobs and Pods; other kinds get no condition.",
  [`${CONFIG}.conditionRules[].celExpressions`]:
    "Expressions over object, for the type CEL. The condition is True if all of them are.",
  [`${CONFIG}.conditionRules[].message`]: "The message of the condition.",
  [`${CONFIG}.conditionRules[].messageExpression`]:
    "An expression over object and result that computes the message. Takes precedence over message.",
};
