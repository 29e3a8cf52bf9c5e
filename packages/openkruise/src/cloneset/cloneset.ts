/** CloneSet: everything that Flotilla knows about the kind. */
import { exampleOf, exampleWorkload } from "@flotilla/kubernetes";
import { REPLICA_FEEDBACK, UPDATED_FEEDBACK } from "../api/feedback.ts";
import { defineKruiseKind } from "../api/kruise-definition.ts";
import { LIFECYCLE_NOTES } from "../api/lifecycle-notes.ts";
import { createCloneSetController } from "./cloneset-controller.ts";
import { cloneSetInterpreter } from "./cloneset-interpreter.ts";
import { CloneSet } from "./cloneset-kind.ts";
import { cloneSetStates } from "./cloneset-metrics.ts";
import { cloneSetRules } from "./cloneset-rules.ts";
import { expandCloneSet } from "./cloneset-shorthand.ts";
import { missingInVersion } from "./cloneset-versions.ts";

export const cloneSet = defineKruiseKind({
  kind: CloneSet,
  summary: "A Deployment with in-place updates, a partition, and pods that can be selected for deletion.",
  example: exampleOf(CloneSet, { spec: exampleWorkload }),
  rules: cloneSetRules,
  fieldsMissingIn: missingInVersion,
  expandShorthand: expandCloneSet,
  interpreter: cloneSetInterpreter,
  controllers: (deps) => [createCloneSetController(deps)],
  states: cloneSetStates,
  progress: "health",
  feedback: {
    values: [
      ...REPLICA_FEEDBACK,
      UPDATED_FEEDBACK,
      ["UpdatedReadyReplicas", ".status.updatedReadyReplicas"],
      ["ExpectedUpdatedReplicas", ".status.expectedUpdatedReplicas"],
    ],
  },
  fieldNotes: {
    ...LIFECYCLE_NOTES,
    "spec.replicas": "Divided over the members.",
    "spec.scaleStrategy.podsToDelete": "Names of pods that are deleted first on scale-down.",
    "spec.scaleStrategy.maxUnavailable":
      "Maximum number of unavailable pods during scale-up. Divided over the members.",
    "spec.updateStrategy.rollingUpdate.podUpdatePolicy":
      "Recreate pods, update them in place if possible, or only in place.",
    "spec.updateStrategy.rollingUpdate.partition":
      "How many pods keep the old template. Counts the pods of the fleet; raising it rolls pods back.",
    "spec.updateStrategy.rollingUpdate.maxUnavailable":
      "Maximum number of unavailable pods during an update. Divided over the members.",
    "spec.updateStrategy.rollingUpdate.maxSurge":
      "Maximum number of additional pods during an update. Divided over the members.",
    "spec.updateStrategy.rollingUpdate.paused": "Pauses the update.",
    "spec.updateStrategy.rollingUpdate.priorityStrategy": "Which pods are updated first.",
    "spec.updateStrategy.rollingUpdate.scatterStrategy": "Spreads the update over pods with these labels.",
    "spec.volumeClaimTemplates": "PersistentVolumeClaims of each pod.",
    "status.updatedReplicas": "Pods of the latest template, over all members.",
    "status.expectedUpdatedReplicas": "The number of updated pods that the partition requires.",
  },
});
