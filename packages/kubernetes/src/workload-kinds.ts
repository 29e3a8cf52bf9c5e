/** Kubernetes' kinds that users create to run pods, without their controllers. A test compares it with the definitions. */
import type { Kind } from "@flotilla/apimachinery";
import { CronJob } from "./cronjob/cronjob-kind.ts";
import { DaemonSet } from "./daemonset/daemonset-kind.ts";
import { Deployment } from "./deployment/deployment-kind.ts";
import { Job } from "./job/job-kind.ts";
import { StatefulSet } from "./statefulset/statefulset-kind.ts";

export const kubernetesWorkloads = [Deployment, StatefulSet, DaemonSet, Job, CronJob] as unknown as readonly Kind[];
