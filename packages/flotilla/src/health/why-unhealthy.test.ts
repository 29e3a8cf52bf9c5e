import { expect, test } from "vitest";
import type { KubernetesObject } from "@flotilla/apimachinery";
import { heldPods, progressOf, whyBroken, whyUnhealthy } from "./why-unhealthy.ts";

const object = (kind: string, apiVersion: string, spec: object, status: object, metadata: object = {}) => ({
  apiVersion,
  kind,
  metadata: { name: "web", namespace: "shop", generation: 1, ...metadata },
  spec,
  status,
});
const deployment = (spec: object, status: object, metadata?: object) =>
  object("Deployment", "apps/v1", spec, status, metadata);
const READY = { replicas: 2, updatedReplicas: 2, readyReplicas: 2, availableReplicas: 2 };

const cases: Record<string, { of: ReturnType<typeof object>; health?: string; want: string | undefined }> = {
  "a Deployment whose pods are ready is healthy": { of: deployment({ replicas: 2 }, READY), want: undefined },
  "a Deployment that is scaled to zero is healthy": { of: deployment({ replicas: 0 }, {}), want: undefined },
  "a PodDisruptionBudget without pods is not judged": {
    of: object(
      "PodDisruptionBudget",
      "policy/v1",
      { minAvailable: 1 },
      {
        expectedPods: 0,
        currentHealthy: 0,
        desiredHealthy: 1,
        conditions: [{ type: "DisruptionAllowed", status: "False", reason: "InsufficientPods", message: "" }],
      },
    ),
    health: "Unhealthy",
    want: undefined,
  },
  "a ReplicationController without a single ready pod omits the counter": {
    of: object("ReplicationController", "v1", { replicas: 2 }, { replicas: 2 }),
    want: "PodsNotReady: 2 of 2 pods are not ready",
  },
  "a Deployment that is paused before its first pod": {
    of: deployment({ replicas: 2, paused: true }, { unavailableReplicas: 2 }),
    want: "PodsNotReady: 2 of 2 pods are not ready: the rollout is paused, so it has no pods of this template",
  },
  "a surge pod that never starts is reported although the health rule is satisfied": {
    of: deployment({ replicas: 1 }, { replicas: 2, updatedReplicas: 1, readyReplicas: 1, unavailableReplicas: 1 }),
    want: "PodsNotReady: 1 of 2 pods is not ready",
  },
  "a Deployment without a single ready pod omits the counter": {
    of: deployment({ replicas: 1 }, { replicas: 1, unavailableReplicas: 1 }),
    want: "PodsNotReady: 1 of 1 pods is not ready",
  },
  "a missed deadline is quoted": {
    of: deployment(
      { replicas: 2 },
      {
        ...READY,
        replicas: 3,
        conditions: [
          { type: "Progressing", status: "False", reason: "ProgressDeadlineExceeded", message: "timed out" },
        ],
      },
    ),
    want: "PodsNotReady: 1 of 3 pods is not ready: ProgressDeadlineExceeded: timed out",
  },
  "pods that a quota rejects are reported with its message, without the name that differs each time": {
    of: deployment(
      { replicas: 2 },
      {
        conditions: [
          {
            type: "ReplicaFailure",
            status: "True",
            reason: "FailedCreate",
            message: 'pods "web-84fb7c4b64-mzx9k" is forbidden: exceeded quota',
          },
        ],
      },
    ),
    want: 'QuotaForbidsPods: 2 of 2 pods are not ready: FailedCreate: pods "web-84fb7c4b64-…" is forbidden: exceeded quota',
  },
  "a custom kind without the counter is not judged by its replicas": {
    of: object("Widget", "example.com/v1", { replicas: 3 }, { replicas: 3 }),
    want: undefined,
  },
  "nodes without a ready pod of a DaemonSet are counted": {
    of: object("DaemonSet", "apps/v1", {}, { desiredNumberScheduled: 3, numberReady: 1 }),
    want: "PodsNotReady: 2 of 3 pods are not ready",
  },
  "a failed Job is reported with its reason": {
    of: object(
      "Job",
      "batch/v1",
      {},
      {
        failed: 7,
        conditions: [{ type: "Failed", status: "True", reason: "BackoffLimitExceeded", message: "limit reached" }],
      },
    ),
    want: "Failed: it failed: BackoffLimitExceeded: limit reached",
  },
  "active pods of a BroadcastJob, which reports no ready ones, are not judged": {
    of: object("BroadcastJob", "apps.kruise.io/v1alpha1", { replicas: 2 }, { active: 2, desired: 2 }),
    want: undefined,
  },
  "a finished Job is healthy": {
    of: object("Job", "batch/v1", {}, { succeeded: 4, ready: 0, conditions: [{ type: "Complete", status: "True" }] }),
    want: undefined,
  },
  "active pods of a Job that are not ready are counted": {
    of: object("Job", "batch/v1", {}, { active: 2, ready: 0 }),
    want: "PodsNotReady: 2 of 2 pods are not ready",
  },
  "a CronJob whose last run did not succeed is reported": {
    of: object(
      "CronJob",
      "batch/v1",
      {},
      { lastScheduleTime: "2024-05-01T12:02:00Z", lastSuccessfulTime: "2024-05-01T12:01:05Z" },
    ),
    want: "LastRunFailed: its last run did not succeed",
  },
  "a CronJob whose run is active is not judged": {
    of: object("CronJob", "batch/v1", {}, { lastScheduleTime: "2024-05-01T12:02:00Z", active: [{ name: "web-1" }] }),
    want: undefined,
  },
  "a CronJob whose last run succeeded is healthy": {
    of: object(
      "CronJob",
      "batch/v1",
      {},
      { lastScheduleTime: "2024-05-01T12:02:00Z", lastSuccessfulTime: "2024-05-01T12:02:05Z" },
    ),
    want: undefined,
  },
  "a suspended CronJob is not judged": {
    of: object("CronJob", "batch/v1", { suspend: true }, { lastScheduleTime: "2024-05-01T12:02:00Z" }),
    want: undefined,
  },
  "an AdvancedCronJob does not report how its last run ended": {
    of: object("AdvancedCronJob", "apps.kruise.io/v1alpha1", {}, { lastScheduleTime: "2024-05-01T12:02:00Z" }),
    want: undefined,
  },
  "a rollout that is paused midway is reported": {
    of: object(
      "CloneSet",
      "apps.kruise.io/v1alpha1",
      { replicas: 2, updateStrategy: { paused: true } },
      { ...READY, updatedReplicas: 1, expectedUpdatedReplicas: 2 },
    ),
    health: "Unhealthy",
    want: "RolloutPaused: the rollout is paused: 1 of 2 pods is updated",
  },
  "a rollout that stands still is reported": {
    of: deployment({ replicas: 2 }, { ...READY, updatedReplicas: 1 }),
    health: "Unhealthy",
    want: "PodsNotUpdated: 1 of 2 pods is updated",
  },
  "a partition that keeps pods at the old revision is intended": {
    of: object(
      "StatefulSet",
      "apps/v1",
      { replicas: 2, updateStrategy: { rollingUpdate: { partition: 1 } } },
      { ...READY, updatedReplicas: 1 },
    ),
    health: "Unhealthy",
    want: undefined,
  },
  "the update strategy OnDelete is intended": {
    of: object(
      "StatefulSet",
      "apps/v1",
      { replicas: 2, updateStrategy: { type: "OnDelete" } },
      { ...READY, updatedReplicas: 0 },
    ),
    health: "Unhealthy",
    want: undefined,
  },
  "pods that are not ready for minReadySeconds yet are not stuck": {
    of: deployment({ replicas: 2, minReadySeconds: 600 }, { ...READY, availableReplicas: 0 }),
    health: "Unhealthy",
    want: undefined,
  },
  "the phase explains the verdict of a rule": {
    of: object("PersistentVolumeClaim", "v1", {}, { phase: "Pending" }),
    health: "Unhealthy",
    want: "Unhealthy: its kind's health rule says Unhealthy: its phase is Pending",
  },
  "a condition that is not true explains the verdict of a rule": {
    of: object("Widget", "example.com/v1", {}, { conditions: [{ type: "Ready", status: "False", reason: "NoDisk" }] }),
    health: "Unhealthy",
    want: "Unhealthy: its kind's health rule says Unhealthy: Ready is False: NoDisk",
  },
  "an Ingress without an address says so": {
    of: object("Ingress", "networking.k8s.io/v1", {}, { loadBalancer: {} }),
    health: "Unhealthy",
    want: "Unhealthy: its kind's health rule says Unhealthy, and it has no address: no controller on the member has set status.loadBalancer.ingress",
  },
  "a Service without a load balancer needs no address": {
    of: object("Service", "v1", { type: "ClusterIP" }, { loadBalancer: {} }),
    health: "Unhealthy",
    want: "Unhealthy: its kind's health rule says Unhealthy",
  },
  "an image that was not pulled is reported with its nodes": {
    of: object(
      "ImagePullJob",
      "apps.kruise.io/v1beta1",
      { image: "web:broken" },
      { desired: 3, failed: 2, succeeded: 1, failedNodes: ["n1", "n2"], message: "job has completed" },
    ),
    health: "Unhealthy",
    want: "Failed: the image web:broken was not pulled on 2 of 3 nodes (n1, n2)",
  },
  "an ImageListPullJob names its images": {
    of: object(
      "ImageListPullJob",
      "apps.kruise.io/v1beta1",
      {},
      { failedImageStatuses: [{ name: "web:broken", imagePullJob: "web-abc" }] },
    ),
    health: "Unhealthy",
    want: "Failed: 1 image was not pulled on all nodes (web:broken)",
  },
  "a container that was not recreated is reported with its message": {
    of: object(
      "ContainerRecreateRequest",
      "apps.kruise.io/v1alpha1",
      {},
      {
        phase: "Completed",
        containerRecreateStates: [
          { name: "main", phase: "Succeeded" },
          { name: "log", phase: "Failed", message: "container does not exist" },
        ],
      },
    ),
    health: "Unhealthy",
    want: "Failed: containers were not recreated: log: container does not exist",
  },
  "a ContainerRecreateRequest that nothing starts is reported": {
    of: object("ContainerRecreateRequest", "apps.kruise.io/v1alpha1", {}, { phase: "Pending" }),
    want: "NotStarted: it has not started: it waits for another request for the pod, or for the daemon of OpenKruise",
  },
  "a ContainerRecreateRequest in progress is not judged": {
    of: object("ContainerRecreateRequest", "apps.kruise.io/v1alpha1", {}, { phase: "Recreating" }),
    want: undefined,
  },
  "the replicas of an EphemeralJob are not pods that must be ready": {
    of: object("EphemeralJob", "apps.kruise.io/v1alpha1", { replicas: 2 }, { match: 2, running: 2, phase: "Running" }),
    want: undefined,
  },
  "an EphemeralJob whose containers failed is reported": {
    of: object(
      "EphemeralJob",
      "apps.kruise.io/v1alpha1",
      { replicas: 2 },
      { match: 2, failed: 1, running: 1, phase: "Running" },
    ),
    health: "Unhealthy",
    want: "Failed: its containers failed in 1 of 2 pods",
  },
  "an EphemeralJob whose containers do not start is reported": {
    of: object("EphemeralJob", "apps.kruise.io/v1alpha1", {}, { match: 2, waiting: 2, phase: "Waiting" }),
    want: "PodsNotReady: its containers have not started in 2 of 2 pods: check their image",
  },
  "namespaces without a copy of a ResourceDistribution are named": {
    of: object(
      "ResourceDistribution",
      "apps.kruise.io/v1alpha1",
      {},
      {
        desired: 3,
        failed: 1,
        conditions: [
          { type: "CreateFailed", status: "False", reason: "Succeeded" },
          { type: "ConflictOccurred", status: "True", reason: "it exists", failedNamespace: ["shop"] },
        ],
      },
    ),
    health: "Unhealthy",
    want: "NotDistributed: 1 of 3 namespaces have no copy: ConflictOccurred: it exists (shop)",
  },
  "a WorkloadSpread whose subsets are all full is reported": {
    of: object(
      "WorkloadSpread",
      "apps.kruise.io/v1alpha1",
      {},
      { subsetStatuses: [{ name: "a", conditions: [{ type: "Schedulable", status: "False", reason: "Full" }] }] },
    ),
    health: "Unhealthy",
    want: "NoSubset: pods fit into none of its 1 subsets: a: Full",
  },
  "a PodProbeMarker that no controller sees is reported": {
    of: object("PodProbeMarker", "apps.kruise.io/v1alpha1", {}, {}),
    health: "Unhealthy",
    want: "NotObserved: its controller on the member has not observed it: OpenKruise's manager there does not run, or its gate for the kind is off",
  },
  "an object that a finalizer keeps is reported": {
    of: deployment(
      { replicas: 2 },
      { ...READY },
      { deletionTimestamp: "2024-05-01T12:00:00Z", finalizers: ["example.com/hold"] },
    ),
    want: "Terminating: it is being deleted on the member and waits for the finalizer example.com/hold",
  },
};
for (const [behaviour, { of, health = "Healthy", want }] of Object.entries(cases)) {
  test(behaviour, () => {
    const found = whyUnhealthy(of, health);

    expect(found && `${found.reason}: ${found.message}`).toBe(want);
  });
}

test("more ready or updated pods are progress", () => {
  expect(progressOf({ readyReplicas: 2, updatedReplicas: 1 })).toBe(3);
  expect(progressOf(undefined)).toBe(0);
});

const held: Record<string, { kind: string; spec: object; status: object; want: string | undefined }> = {
  "of a DaemonSet with OnDelete are those that were not deleted yet": {
    kind: "DaemonSet",
    spec: { updateStrategy: { type: "OnDelete" } },
    status: { desiredNumberScheduled: 3, updatedNumberScheduled: 1, numberReady: 3 },
    want: "2 of 3 pods keep the previous template: with OnDelete the member replaces a pod when it is deleted",
  },
  "of a DaemonSet whose status omits that none is updated are all": {
    kind: "DaemonSet",
    spec: { updateStrategy: { type: "OnDelete" } },
    status: { desiredNumberScheduled: 1, numberReady: 1 },
    want: "1 of 1 pods keeps the previous template: with OnDelete the member replaces a pod when it is deleted",
  },
  "of a StatefulSet with a partition are those below it": {
    kind: "StatefulSet",
    spec: { replicas: 4, updateStrategy: { rollingUpdate: { partition: 3 } } },
    status: { updatedReplicas: 1 },
    want: "3 of 4 pods keep the previous template: the partition holds them back",
  },
  "of a rolling update are none": {
    kind: "DaemonSet",
    spec: { updateStrategy: { type: "RollingUpdate" } },
    status: { desiredNumberScheduled: 3, updatedNumberScheduled: 1 },
    want: undefined,
  },
  "are none when all were deleted": {
    kind: "DaemonSet",
    spec: { updateStrategy: { type: "OnDelete" } },
    status: { desiredNumberScheduled: 3, updatedNumberScheduled: 3 },
    want: undefined,
  },
};
for (const [what, { kind, spec, status, want }] of Object.entries(held))
  test(`the pods that are held ${what}`, () => {
    expect(heldPods({ apiVersion: "apps/v1", kind, metadata: { name: "web" }, spec, status } as KubernetesObject)).toBe(
      want,
    );
  });

const condition = (type: string, status: string, reason = "", message = "") => ({ type, status, reason, message });
const broken: Record<string, { kind: string; conditions: object[]; want: string | undefined }> = {
  "an autoscaler without its target": {
    kind: "HorizontalPodAutoscaler",
    conditions: [condition("AbleToScale", "False", "FailedGetScale", 'deployments.apps "gone" not found')],
    want: 'AbleToScale is False: FailedGetScale: deployments.apps "gone" not found',
  },
  "an autoscaler whose target has no replicas is not broken": {
    kind: "HorizontalPodAutoscaler",
    conditions: [condition("AbleToScale", "True"), condition("ScalingActive", "False", "ScalingDisabled", "zero")],
    want: undefined,
  },
  "an autoscaler at its limit is not broken": {
    kind: "HorizontalPodAutoscaler",
    conditions: [condition("ScalingActive", "True"), condition("ScalingLimited", "False", "DesiredWithinRange")],
    want: undefined,
  },
  "a definition whose names are taken": {
    kind: "CustomResourceDefinition",
    conditions: [condition("Established", "False", "NotAccepted"), condition("NamesAccepted", "False", "Conflict")],
    want: "Established is False: NotAccepted",
  },
  "an API service that does not answer": {
    kind: "APIService",
    conditions: [condition("Available", "False", "FailedDiscoveryCheck", "no route")],
    want: "Available is False: FailedDiscoveryCheck: no route",
  },
  "an object whose controller gave up": {
    kind: "Widget",
    conditions: [condition("Ready", "False", "Broken"), condition("Stalled", "True", "Invalid", "no such chart")],
    want: "Stalled is True: Invalid: no such chart",
  },
  "an object that its controller does not know yet is not broken": {
    kind: "Widget",
    conditions: [condition("Ready", "Unknown")],
    want: undefined,
  },
};
for (const [behaviour, { kind, conditions, want }] of Object.entries(broken))
  test(`without a health rule, ${behaviour}`, () => {
    expect(whyBroken(object(kind, "example.com/v1", {}, { conditions }))?.message).toBe(want);
  });
