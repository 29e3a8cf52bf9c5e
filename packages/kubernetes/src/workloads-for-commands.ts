/**
 * Kubernetes' kinds that users create to run pods, as commands read them. `kubernetes-definitions.ts` is the registry: it has the
 * controllers of every kind, and loading these takes as long again as a command like `flotilla status` needs to start.
 * Nothing about a kind is stated here: what it is stands in the `workload` of its `Kind`, and
 * `run-to-completion.test.ts` fails if a kind of the registry that has one is missing.
 */
import type { Kind } from "@flotilla/apimachinery";
import { CronJob } from "./cronjob/cronjob-kind.ts";
import { DaemonSet } from "./daemonset/daemonset-kind.ts";
import { Deployment } from "./deployment/deployment-kind.ts";
import { Job } from "./job/job-kind.ts";
import { StatefulSet } from "./statefulset/statefulset-kind.ts";

export const kubernetesWorkloads = [Deployment, StatefulSet, DaemonSet, Job, CronJob] as unknown as readonly Kind[];
