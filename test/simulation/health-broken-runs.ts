/** Jobs, and what starts them on a schedule. */
import type { JsonObject } from "@flotilla/base";
import type { Broken } from "./health-fleet.ts";
import { advancedCronJob, broadcastJob, cronJob, env, job, kruise, policy, runSpec } from "./health-manifests.ts";

export const brokenRuns: Record<string, Broken> = {
  "a Job that reached its backoff limit": {
    hub: (ns) => [job(ns, { simulate: { "exit-code": "7" } }), policy(ns, "Job", { apiVersion: "batch/v1" })],
    why: "job/web",
    cause: /exited with code 7/,
  },
  "a Job whose pods cannot start": {
    hub: (ns) => [job(ns, { image: "web:broken" }), policy(ns, "Job", { apiVersion: "batch/v1" })],
    why: "job/web",
    cause: /1 pod waits on m1: ImagePullBackOff/,
  },
  "a Job whose Secret is missing": {
    hub: (ns) => [
      job(ns, { container: env({ secretKeyRef: { name: "db", key: "password" } }) }),
      policy(ns, "Job", { apiVersion: "batch/v1" }),
    ],
    why: "job/web",
    cause: /1 pod waits on m1: CreateContainerConfigError: secret "db" not found/,
  },
  "a BroadcastJob with a wrong image": {
    hub: (ns) => [broadcastJob(ns, { image: "web:broken" }), kruise(ns, "BroadcastJob")],
    why: "broadcastjob/web",
    cause: /2 pods wait on m1: ImagePullBackOff: image web:broken/,
  },
  "a BroadcastJob whose Secret is missing": {
    hub: (ns) => [
      broadcastJob(ns, { container: env({ secretKeyRef: { name: "db", key: "password" } }) }),
      kruise(ns, "BroadcastJob"),
    ],
    why: "broadcastjob/web",
    cause: /2 pods wait on m1: CreateContainerConfigError: secret "db" not found/,
  },
  "a BroadcastJob that failed": {
    hub: (ns) => [
      broadcastJob(ns, { simulate: { "exit-code": "7" }, spec: { failurePolicy: { type: "FailFast" } } }),
      kruise(ns, "BroadcastJob"),
    ],
    why: "broadcastjob/web",
    cause: /exited with code 7/,
  },
  "a CronJob whose last run failed": {
    hub: (ns) => [cronJob(ns, { simulate: { "exit-code": "7" } }), policy(ns, "CronJob", { apiVersion: "batch/v1" })],
    why: "cronjob/web",
    cause: /m1: the last run failed: BackoffLimitExceeded/,
  },
  "a CronJob whose pods cannot start": {
    hub: (ns) => [cronJob(ns, { image: "web:broken" }), policy(ns, "CronJob", { apiVersion: "batch/v1" })],
    why: "cronjob/web",
    cause: /1 pod waits on m1: ImagePullBackOff: image web:broken/,
  },
  "an AdvancedCronJob whose last run failed": {
    hub: (ns) => [
      advancedCronJob(ns, { jobTemplate: { spec: runSpec({ simulate: { "exit-code": "7" } }) } }),
      kruise(ns, "AdvancedCronJob"),
    ],
    why: "advancedcronjob/web",
    cause: /m1: the last run failed: BackoffLimitExceeded/,
  },
  "an AdvancedCronJob whose pods cannot start": {
    hub: (ns) => [
      advancedCronJob(ns, {
        broadcastJobTemplate: { spec: broadcastJob(ns, { image: "web:broken" })["spec"] as JsonObject },
      }),
      kruise(ns, "AdvancedCronJob"),
    ],
    why: "advancedcronjob/web",
    cause: /2 pods wait on m1: ImagePullBackOff: image web:broken/,
  },
};
