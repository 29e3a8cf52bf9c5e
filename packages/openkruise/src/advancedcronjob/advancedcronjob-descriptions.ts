import { descriptionsAt, labelSelectorDescriptions, type FieldDescriptions } from "@flotilla/apimachinery";
import { broadcastJobSpecDescriptions } from "../broadcastjob/broadcastjob-descriptions.ts";

const PULL = "spec.template.imageListPullJobTemplate";

const pullDescriptions: FieldDescriptions = {
  "": "The images, and the nodes that pull them.",
  images: "The images, up to 255, each once.",
  imagePullPolicy: "IfNotPresent, the default, or Always.",
  pullSecrets: "Names of Secrets with credentials for the registries.",
  selector: "Selects the nodes by name or by labels. Unset: all nodes. Not together with podSelector.",
  ...descriptionsAt("selector", labelSelectorDescriptions),
  "selector.names": "Names of nodes. Not together with labels.",
  podSelector: "Selects the nodes that run matching pods of the namespace.",
  ...descriptionsAt("podSelector", labelSelectorDescriptions),
  parallelism: "How many nodes pull an image at a time: a number, or a percentage.",
  pullPolicy: "The limits of a pull.",
  "pullPolicy.timeoutSeconds": "The time limit of one attempt, in seconds; 600 by default.",
  "pullPolicy.backoffLimit": "How often a failed pull is tried again; 3 by default.",
  completionPolicy: "When the run ends.",
  "completionPolicy.type": "Always, the default: when all nodes have pulled. Never: it also pulls on new nodes.",
  "completionPolicy.activeDeadlineSeconds": "How long the run may take, in seconds. Only with Always.",
  "completionPolicy.ttlSecondsAfterFinished": "Deletes the run so many seconds after it has ended. Only with Always.",
  sandboxConfig: "The sandbox with which the container runtime pulls.",
  "sandboxConfig.labels": "Labels of the sandbox.",
  "sandboxConfig.labels.*": "The value of the label.",
  "sandboxConfig.annotations": "Annotations of the sandbox.",
  "sandboxConfig.annotations.*": "The value of the annotation.",
};

export const advancedCronJobDescriptions: FieldDescriptions = {
  "": "Runs a Job, a BroadcastJob or an ImageListPullJob on a schedule.",
  spec: "The schedule, and what runs.",
  "spec.schedule":
    "The schedule in cron format. Every member that a policy selects runs it; select one member if it must run once.",
  "spec.timeZone": "The time zone of the schedule, such as Europe/Berlin; UTC by default.",
  "spec.startingDeadlineSeconds": "How late a missed run may start, in seconds. Unset: at any time.",
  "spec.concurrencyPolicy":
    "What happens if the previous run is still active. Allow starts another one, Forbid skips it, Replace " +
    "deletes the previous run. The default is Allow, and Replace for image pulls, which do not support " +
    "Allow.",
  "spec.paused": "true starts no runs. Active ones continue.",
  "spec.successfulJobsHistoryLimit": "How many completed runs are kept; 3 by default.",
  "spec.failedJobsHistoryLimit": "How many failed runs are kept; 1 by default.",
  "spec.template": "What a run creates: exactly one of the templates. It cannot be changed, except for image pulls.",
  "spec.template.jobTemplate": "A Job. It has the fields of a Kubernetes job template.",
  "spec.template.broadcastJobTemplate": "A BroadcastJob.",
  "spec.template.broadcastJobTemplate.metadata": "Labels and annotations of the BroadcastJobs.",
  ...descriptionsAt("spec.template.broadcastJobTemplate.spec", broadcastJobSpecDescriptions),
  [PULL]: "An ImageListPullJob, which pulls images on nodes. Simulated members do not run it.",
  [`${PULL}.metadata`]: "Labels and annotations of the ImageListPullJobs.",
  ...descriptionsAt(`${PULL}.spec`, pullDescriptions),

  status: "The observed state; on the hub, of all members together.",
  "status.type": "The kind of the runs.",
  "status.active": "The active runs.",
  "status.lastScheduleTime": "When a run last started.",
};
