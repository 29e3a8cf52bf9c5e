import { descriptionsAt, type FieldDescriptions } from "@flotilla/apimachinery";
import { TEMPLATE, kruiseConditionsDescriptions } from "../api/strategy-descriptions.ts";

/** The spec, which is also a template of AdvancedCronJobs. */
export const broadcastJobSpecDescriptions: FieldDescriptions = {
  "": "The pods, and when the job ends.",
  template: `${TEMPLATE} The restart policy is Never or OnFailure.`,
  parallelism:
    "How many pods run at a time: a number, or a percentage of the nodes. Unset: all. On the hub a policy may " +
    "divide a number over the members; a percentage applies to each member.",
  paused: "true starts no further pods. Running pods continue.",
  completionPolicy: "When the job ends.",
  "completionPolicy.type":
    "Always, the default: when the pods of all nodes have ended. Never: new nodes get a pod as long as the job exists.",
  "completionPolicy.activeDeadlineSeconds":
    "How long the job may run, in seconds; then its pods are deleted and it fails. Only with Always.",
  "completionPolicy.ttlSecondsAfterFinished":
    "Deletes the job so many seconds after it has ended. Only with Always. Unset: it is kept.",
  failurePolicy: "What a failed pod does to the job.",
  "failurePolicy.type":
    "FailFast, the default, ends the job and deletes its running pods; Continue runs the other pods; Pause starts no further pods.",
  "failurePolicy.restartLimit":
    "How often the containers of a pod with the restart policy OnFailure may restart before the pod counts as " +
    "failed. 0 by default: the first restart fails it.",
};

export const broadcastJobDescriptions: FieldDescriptions = {
  "": "Runs a pod to completion on every node.",
  ...descriptionsAt("spec", broadcastJobSpecDescriptions),
  status: "The observed state; on the hub, summed over the members.",
  "status.desired": "Nodes that must run a pod.",
  "status.active": "Pods that run.",
  "status.succeeded": "Pods that succeeded.",
  "status.failed": "Pods that failed.",
  "status.phase": "running, paused, completed or failed.",
  "status.startTime": "When the job started.",
  "status.completionTime": "When the job ended.",
  "status.conditions": "Complete or Failed.",
  ...descriptionsAt("status.conditions", kruiseConditionsDescriptions),
};
