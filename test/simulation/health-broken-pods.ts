/** Workloads whose pods do not run. */
import type { Broken, HealthFleet, Manifest } from "./health-fleet.ts";
import {
  advancedStatefulSet,
  cloneSet,
  daemonSet,
  deployment,
  env,
  object,
  policy,
  statefulSet,
} from "./health-manifests.ts";

const newImage = async ({ patch }: HealthFleet, web: Manifest, image = "web:broken"): Promise<void> =>
  patch("hub", web, {
    spec: { template: { spec: { containers: [{ name: "main", image }] } } },
  });

export const brokenPods: Record<string, Broken> = {
  "a Deployment with a wrong image": {
    hub: (ns) => [deployment(ns, { image: "web:broken" }), policy(ns, "Deployment")],
    cause: /2 pods wait on m1: ImagePullBackOff: image web:broken/,
  },
  "a Deployment whose new image is wrong, behind pods that still run": {
    hub: (ns) => [deployment(ns, { replicas: 1 }), policy(ns, "Deployment", { clusters: ["m1", "m2"] })],
    next: (fleet, ns) => newImage(fleet, deployment(ns)),
    cause: /2 pods wait on m1, m2: ImagePullBackOff: image web:broken/,
  },
  "a CloneSet whose partition lets a wrong image through": {
    hub: (ns) => [
      cloneSet(ns, { replicas: 4, spec: { updateStrategy: { partition: 2 } } }),
      policy(ns, "CloneSet", { apiVersion: "apps.kruise.io/v1alpha1" }),
    ],
    next: (fleet, ns) => newImage(fleet, cloneSet(ns)),
    why: "cloneset/web",
    cause: /1 pod waits on m1: ImagePullBackOff: image web:broken/,
  },
  "a StatefulSet with a wrong image": {
    hub: (ns) => [statefulSet(ns, { image: "web:broken" }), policy(ns, "StatefulSet")],
    why: "statefulset.apps/web",
    cause: /1 pod waits on m1: ImagePullBackOff/,
  },
  "an Advanced StatefulSet with a wrong image": {
    hub: (ns) => [
      advancedStatefulSet(ns, { image: "web:broken" }),
      policy(ns, "StatefulSet", { apiVersion: "apps.kruise.io/v1beta1" }),
    ],
    why: "statefulset.apps.kruise.io/web",
    cause: /1 pod waits on m1: ImagePullBackOff/,
  },
  "a StatefulSet whose image was corrected, which does not replace the pod": {
    hub: (ns) => [statefulSet(ns, { image: "web:broken" }), policy(ns, "StatefulSet")],
    next: (fleet, ns) => newImage(fleet, statefulSet(ns), "web:2"),
    why: "statefulset.apps/web",
    cause: /1 pod of an older revision waits on m1: ImagePullBackOff/,
  },
  "an Advanced StatefulSet whose image was corrected, which does not replace the pod": {
    hub: (ns) => [
      advancedStatefulSet(ns, { image: "web:broken" }),
      policy(ns, "StatefulSet", { apiVersion: "apps.kruise.io/v1beta1" }),
    ],
    next: (fleet, ns) => newImage(fleet, advancedStatefulSet(ns), "web:2"),
    why: "statefulset.apps.kruise.io/web",
    cause: /1 pod of an older revision waits on m1: ImagePullBackOff/,
  },
  "a DaemonSet with a wrong image": {
    hub: (ns) => [daemonSet(ns, { image: "web:broken" }), policy(ns, "DaemonSet")],
    why: "daemonset/web",
    cause: /2 pods wait on m1: ImagePullBackOff/,
  },
  "a missing Secret": {
    hub: (ns) => [
      deployment(ns, { container: env({ secretKeyRef: { name: "db", key: "password" } }) }),
      policy(ns, "Deployment"),
    ],
    cause: /2 pods wait on m1: CreateContainerConfigError: secret "db" not found/,
  },
  "a missing ConfigMap": {
    hub: (ns) => [
      deployment(ns, { container: { envFrom: [{ configMapRef: { name: "settings" } }] } }),
      policy(ns, "Deployment"),
    ],
    cause: /2 pods wait on m1: CreateContainerConfigError: configmap "settings" not found/,
  },
  "a missing Secret in a volume": {
    hub: (ns) => [
      deployment(ns, { pod: { volumes: [{ name: "v", secret: { secretName: "db" } }] } }),
      policy(ns, "Deployment"),
    ],
    cause: /2 pods wait on m1: ContainerCreating: MountVolume.SetUp failed for volume "v" : secret "db" not found/,
  },
  "a ConfigMap that is missing in the volume of a scheduled run": {
    hub: (ns) => [
      object("batch/v1", "CronJob", ns, "web", {
        spec: {
          schedule: "* * * * *",
          jobTemplate: {
            spec: {
              template: {
                spec: {
                  restartPolicy: "Never",
                  containers: [{ name: "main", image: "web:1" }],
                  volumes: [{ name: "v", configMap: { name: "settings" } }],
                },
              },
            },
          },
        },
      }),
      policy(ns, "CronJob", { apiVersion: "batch/v1" }),
    ],
    why: "cronjob/web",
    cause:
      /1 pod waits on m1: ContainerCreating: MountVolume.SetUp failed for volume "v" : configmap "settings" not found/,
  },
  "a quota that a Deployment exceeds": {
    member: (ns) => [
      object("v1", "Namespace", "", ns),
      object("v1", "ResourceQuota", ns, "small", { spec: { hard: { pods: "1" } } }),
    ],
    hub: (ns) => [deployment(ns, { replicas: 3 }), policy(ns, "Deployment")],
    cause: /exceeded quota: small/,
  },
  "a quota that a CloneSet exceeds": {
    member: (ns) => [
      object("v1", "Namespace", "", ns),
      object("v1", "ResourceQuota", ns, "small", { spec: { hard: { pods: "1" } } }),
    ],
    hub: (ns) => [cloneSet(ns, { replicas: 3 }), policy(ns, "CloneSet", { apiVersion: "apps.kruise.io/v1alpha1" })],
    why: "cloneset/web",
    cause: /exceeded quota: small/,
  },
  "a missing ServiceAccount": {
    hub: (ns) => [deployment(ns, { pod: { serviceAccountName: "robot" } }), policy(ns, "Deployment")],
    cause: /serviceaccount "robot" not found/,
  },
  "a missing PriorityClass": {
    hub: (ns) => [deployment(ns, { pod: { priorityClassName: "urgent" } }), policy(ns, "Deployment")],
    cause: /no PriorityClass with name urgent/,
  },
  "no node with room": {
    hub: (ns) => [deployment(ns, { container: { resources: { requests: { cpu: "500" } } } }), policy(ns, "Deployment")],
    cause: /2 pods wait on m1: Unschedulable: 0\/2 nodes are available: 2 Insufficient cpu/,
  },
  "a node selector that matches no node": {
    hub: (ns) => [deployment(ns, { pod: { nodeSelector: { disk: "fast" } } }), policy(ns, "Deployment")],
    cause: /Unschedulable: 0\/2 nodes are available: .*node affinity\/selector/,
  },
  "nodes with a taint that the pods do not tolerate": {
    hub: (ns) => [deployment(ns), policy(ns, "Deployment", { clusters: ["tainted"] })],
    cause: /2 pods wait on tainted: Unschedulable: 0\/2 nodes are available: 2 node\(s\) had untolerated taint/,
  },
  "cordoned nodes": {
    hub: (ns) => [deployment(ns), policy(ns, "Deployment", { clusters: ["cordoned"] })],
    cause: /2 pods wait on cordoned: Unschedulable: 0\/2 nodes are available: 2 node\(s\) were unschedulable/,
  },
  "a missing StorageClass": {
    hub: (ns) => [
      statefulSet(ns, {
        spec: {
          volumeClaimTemplates: [
            {
              metadata: { name: "data" },
              spec: {
                accessModes: ["ReadWriteOnce"],
                storageClassName: "fast",
                resources: { requests: { storage: "1Gi" } },
              },
            },
          ],
        },
      }),
      policy(ns, "StatefulSet"),
    ],
    why: "statefulset.apps/web",
    cause: /ProvisioningFailed: storageclass.storage.k8s.io "fast" not found/,
  },
  "a PersistentVolumeClaim that stays pending": {
    hub: (ns) => [
      object("v1", "PersistentVolumeClaim", ns, "data", {
        spec: {
          accessModes: ["ReadWriteOnce"],
          storageClassName: "fast",
          resources: { requests: { storage: "1Gi" } },
        },
      }),
      policy(ns, "PersistentVolumeClaim", { apiVersion: "v1" }),
    ],
    why: "persistentvolumeclaim/data",
    cause: /ProvisioningFailed: storageclass.storage.k8s.io "fast" not found/,
  },
  "a crash loop": {
    hub: (ns) => [deployment(ns, { simulate: { fault: "crash-loop", "exit-code": "3" } }), policy(ns, "Deployment")],
    cause: /2 pods wait on m1: CrashLoopBackOff: container main exited with code 3/,
  },
  "an init container that fails": {
    hub: (ns) => [
      deployment(ns, {
        pod: { initContainers: [{ name: "setup", image: "setup:1", command: ["sh", "-c", "exit 2"] }] },
      }),
      policy(ns, "Deployment"),
    ],
    cause: /2 pods wait on m1: CrashLoopBackOff: container setup exited with code 2/,
  },
  "pods that never become ready": {
    hub: (ns) => [deployment(ns, { simulate: { fault: "never-ready" } }), policy(ns, "Deployment")],
    cause: /2 pods are not ready on m1: container main runs, but its readiness probe does not succeed/,
  },
  "a UnitedDeployment with a wrong image": {
    hub: (ns) => [
      object("apps.kruise.io/v1alpha1", "UnitedDeployment", ns, "web", {
        spec: {
          replicas: 2,
          selector: { matchLabels: { app: "web" } },
          template: {
            cloneSetTemplate: {
              metadata: { labels: { app: "web" } },
              spec: {
                selector: { matchLabels: { app: "web" } },
                template: {
                  metadata: { labels: { app: "web" } },
                  spec: { containers: [{ name: "main", image: "web:broken" }] },
                },
              },
            },
          },
          topology: { subsets: [{ name: "a" }] },
        },
      }),
      policy(ns, "UnitedDeployment", { apiVersion: "apps.kruise.io/v1alpha1" }),
    ],
    why: "uniteddeployment/web",
    cause: /2 pods wait on m1: ImagePullBackOff/,
  },
  "a copy that a finalizer keeps from being deleted": {
    hub: (ns) => [deployment(ns), policy(ns, "Deployment")],
    next: async ({ patch, remove }, ns) => {
      await patch("m1", deployment(ns), { metadata: { finalizers: ["example.com/hold"] } });
      await remove("m1", deployment(ns));
    },
    cause: /being deleted on the member and waits for the finalizer example.com\/hold/,
  },
  "a CloneSet that is paused midway": {
    hub: (ns) => [cloneSet(ns), policy(ns, "CloneSet", { apiVersion: "apps.kruise.io/v1alpha1" })],
    next: ({ patch }, ns) =>
      patch("hub", cloneSet(ns), {
        spec: {
          updateStrategy: { paused: true },
          template: { spec: { containers: [{ name: "main", image: "web:2" }] } },
        },
      }),
    why: "cloneset/web",
    cause: /the rollout is paused: 0 of 2 pods are updated/,
  },
  "a Deployment that is paused midway": {
    hub: (ns) => [deployment(ns), policy(ns, "Deployment")],
    next: ({ patch }, ns) =>
      patch("hub", deployment(ns), {
        spec: { paused: true, template: { spec: { containers: [{ name: "main", image: "web:2" }] } } },
      }),
    cause: /the rollout is paused: 0 of 2 pods are updated/,
  },
  "a PodUnavailableBudget that blocks an update": {
    member: (ns) => [
      object("v1", "Namespace", "", ns),
      object("policy.kruise.io/v1alpha1", "PodUnavailableBudget", ns, "none", {
        spec: { selector: { matchLabels: { app: "web" } }, maxUnavailable: 0 },
      }),
    ],
    hub: (ns) => [
      cloneSet(ns, { spec: { updateStrategy: { type: "ReCreate" } } }),
      policy(ns, "CloneSet", { apiVersion: "apps.kruise.io/v1alpha1" }),
    ],
    next: ({ patch }, ns) =>
      patch("hub", cloneSet(ns), { spec: { template: { spec: { containers: [{ name: "main", image: "web:2" }] } } } }),
    why: "cloneset/web",
    cause: /podunavailablebudget.policy.kruise.io "none" is forbidden/,
  },
};
