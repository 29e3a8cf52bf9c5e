/** Jobs, what starts them on a schedule, and what OpenKruise does once. */
import type { JsonObject } from "@flotilla/base";
import type { Broken } from "./health-fleet.ts";
import {
  advancedCronJob,
  broadcastJob,
  cronJob,
  deployment,
  env,
  ephemeral,
  job,
  kruise,
  object,
  policy,
  runSpec,
} from "./health-manifests.ts";

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
  "an ImagePullJob on a member whose gate for it is off": {
    hub: (ns) => [
      object("apps.kruise.io/v1alpha1", "ImagePullJob", ns, "web", {
        spec: {
          image: "web:1",
          completionPolicy: { type: "Always" },
        },
      }),
      kruise(ns, "ImagePullJob"),
    ],
    why: "imagepulljob/web",
    cause: /feature-gate ImagePullJobGate is not enabled/,
  },
  "ephemeral containers that do not start": {
    hub: (ns) => [
      deployment(ns),
      object("apps.kruise.io/v1alpha1", "EphemeralJob", ns, "debug", {
        spec: {
          replicas: 2,
          selector: { matchLabels: { app: "web" } },
          template: { ephemeralContainers: [ephemeral("debug:broken")] },
        },
      }),
      policy(ns, "Deployment", {
        spec: {
          resourceSelectors: [
            { apiVersion: "apps/v1", kind: "Deployment" },
            { apiVersion: "apps.kruise.io/v1alpha1", kind: "EphemeralJob" },
          ],
        },
      }),
    ],
    why: "ephemeraljob/debug",
    cause: /its containers (?:have not started|failed) in [12] of 2 pods/,
  },
};
