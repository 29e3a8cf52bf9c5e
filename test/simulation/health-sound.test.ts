/**
 * Sound fleets: `flotilla status`, `why` and `doctor` report no problem. Some look broken: pods that are
 * kept at an old revision, Jobs that have ended, workloads without pods, rollouts that have just started.
 */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { JsonObject } from "@flotilla/base";
import { hasProblems, readFirst, startHealthFleet } from "./health-fleet.ts";
import type { Examination, HealthFleet, Manifest } from "./health-fleet.ts";
import {
  advancedCronJob,
  advancedStatefulSet,
  broadcastJob,
  cloneSet,
  cronJob,
  daemonSet,
  definition,
  deployment,
  dividedCloneSets,
  ephemeral,
  federatedHpa,
  job,
  kruise,
  manifestWork,
  object,
  override,
  policy,
  quota,
  released,
  rules,
  runSpec,
  statefulSet,
  strategy,
} from "./health-manifests.ts";

interface Sound {
  hub(namespace: string): Manifest[];
  /** Once the fleet runs; two minutes before it is looked at. */
  next?(fleet: HealthFleet, namespace: string): Promise<void>;
  /** Twenty seconds before it is looked at. */
  late?(fleet: HealthFleet, namespace: string): Promise<void>;
  /** The argument of `flotilla why`; `deployment/web` if unset, none if null. */
  why?: string | null;
  whyIn?: string;
  /** A warning of `flotilla doctor` about what users may have intended. */
  warning?: RegExp;
}

const core = (namespace: string, kind: string, apiVersion = "v1"): Manifest => policy(namespace, kind, { apiVersion });
const image = (web: string): JsonObject => ({
  spec: { template: { spec: { containers: [{ name: "main", image: web }] } } },
});
const setBinding = (namespace: string): Manifest =>
  object("cluster.open-cluster-management.io/v1beta2", "ManagedClusterSetBinding", namespace, "default", {
    spec: { clusterSet: "default" },
  });
const claim = (namespace: string): Manifest =>
  object("v1", "PersistentVolumeClaim", namespace, "data", {
    spec: { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "1Gi" } } },
  });
const divided = (namespace: string): Manifest =>
  policy(namespace, "Deployment", {
    clusters: ["m1", "m2"],
    placement: { replicaScheduling: { replicaSchedulingType: "Divided", replicaDivisionPreference: "Weighted" } },
  });
const autoscaler = (namespace: string): Manifest =>
  object("autoscaling/v2", "HorizontalPodAutoscaler", namespace, "web", {
    spec: {
      scaleTargetRef: { apiVersion: "apps/v1", kind: "Deployment", name: "web" },
      minReplicas: 4,
      maxReplicas: 4,
    },
  });
const disruptionBudget = (namespace: string, minAvailable: number): Manifest =>
  object("policy/v1", "PodDisruptionBudget", namespace, "web", {
    spec: { minAvailable, selector: { matchLabels: { app: "web" } } },
  });
const inWork = (namespace: string, ...manifests: Manifest[]): Manifest[] => [
  manifestWork("m1", namespace, object("v1", "Namespace", "", namespace), ...manifests),
];

const FINE = "example.com/v1";
const placed = (namespace: string, placement: JsonObject): Manifest[] => [
  object(FINE, "Fine", namespace, "web", { spec: { replicas: 2 } }),
  object("policy.karmada.io/v1alpha1", "PropagationPolicy", namespace, "all", {
    spec: { resourceSelectors: [{ apiVersion: FINE, kind: "Fine" }], placement },
  }),
];

const cases: Record<string, Sound> = {
  "an object whose policy has a fallback to a member without the kind": {
    hub: (ns) =>
      placed(ns, {
        clusterAffinities: [
          { affinityName: "first", clusterNames: ["m1"] },
          { affinityName: "fallback", clusterNames: ["m2"] },
        ],
      }),
    why: "fine/web",
  },
  "an object whose policy has an empty label selector, while a member has not got the kind": {
    hub: (ns) => placed(ns, { clusterAffinity: { labelSelector: {} } }),
    why: "fine/web",
  },
  "an empty namespace": { hub: () => [], why: null },
  "a Deployment": { hub: (ns) => [deployment(ns), policy(ns, "Deployment")] },
  "a Deployment that is divided": { hub: (ns) => [deployment(ns, { replicas: 5 }), divided(ns)] },
  "a Deployment on two members": {
    hub: (ns) => [deployment(ns), policy(ns, "Deployment", { clusters: ["m1", "m2"] })],
  },
  "a Deployment that is aggregated on few members": {
    hub: (ns) => [
      deployment(ns, { replicas: 3 }),
      policy(ns, "Deployment", {
        clusters: ["m1", "m2"],
        placement: { replicaScheduling: { replicaSchedulingType: "Divided", replicaDivisionPreference: "Aggregated" } },
      }),
    ],
  },
  "a Deployment that is scaled to zero": {
    hub: (ns) => [deployment(ns, { replicas: 0 }), policy(ns, "Deployment")],
  },
  "a Deployment that was scaled down": {
    hub: (ns) => [deployment(ns, { replicas: 5 }), policy(ns, "Deployment")],
    next: ({ patch }, ns) => patch("hub", deployment(ns), { spec: { replicas: 1 } }),
  },
  "a Deployment that was scaled up": {
    hub: (ns) => [deployment(ns, { replicas: 1 }), policy(ns, "Deployment")],
    next: ({ patch }, ns) => patch("hub", deployment(ns), { spec: { replicas: 4 } }),
  },
  "a Deployment that was updated": {
    hub: (ns) => [deployment(ns), policy(ns, "Deployment")],
    next: ({ patch }, ns) => patch("hub", deployment(ns), image("web:2")),
  },
  "a Deployment that is paused with nothing to update": {
    hub: (ns) => [deployment(ns, { spec: { paused: true } }), policy(ns, "Deployment")],
    // A Deployment that is paused from the start creates no pods.
    next: ({ patch }, ns) => patch("hub", deployment(ns), { spec: { paused: null } }),
    late: ({ patch }, ns) => patch("hub", deployment(ns), { spec: { paused: true } }),
  },
  "a Deployment that recovered from a wrong image": {
    hub: (ns) => [deployment(ns, { image: "web:broken" }), policy(ns, "Deployment")],
    next: ({ patch }, ns) => patch("hub", deployment(ns), image("web:2")),
  },
  "a Deployment that was just created": {
    hub: (ns) => [policy(ns, "Deployment")],
    late: ({ create }, ns) => create("hub", deployment(ns, { simulate: { "start-seconds": "40" } })),
  },
  "a Deployment that is in the middle of an update": {
    hub: (ns) => [deployment(ns, { replicas: 4, simulate: { "start-seconds": "15" } }), policy(ns, "Deployment")],
    late: ({ patch }, ns) => patch("hub", deployment(ns), image("web:2")),
  },
  "a Deployment whose update is slow but makes progress": {
    hub: (ns) => [deployment(ns, { replicas: 8, simulate: { "start-seconds": "15" } }), policy(ns, "Deployment")],
    next: ({ patch }, ns) => patch("hub", deployment(ns), image("web:2")),
  },
  "a Deployment with an override": {
    hub: (ns) => [override(ns, "/spec/replicas", 3), deployment(ns), policy(ns, "Deployment")],
  },
  "a Deployment with its dependencies": {
    hub: (ns) => [
      object("v1", "ConfigMap", ns, "settings", { data: { a: "1" } }),
      deployment(ns, { container: { envFrom: [{ configMapRef: { name: "settings" } }] } }),
      policy(ns, "Deployment", { spec: { propagateDeps: true } }),
    ],
  },
  "a Deployment with failover": {
    hub: (ns) => [
      deployment(ns),
      policy(ns, "Deployment", {
        spec: { propagateDeps: true, failover: { application: { decisionConditions: { tolerationSeconds: 30 } } } },
      }),
    ],
  },
  "a Deployment that is spread over clusters": {
    hub: (ns) => [
      deployment(ns),
      policy(ns, "Deployment", {
        clusters: ["m1", "m2"],
        placement: { spreadConstraints: [{ spreadByField: "cluster", minGroups: 1, maxGroups: 2 }] },
      }),
    ],
  },
  "a Deployment whose change on the member was reverted": {
    hub: (ns) => [deployment(ns), policy(ns, "Deployment")],
    next: ({ patch }, ns) => patch("m1", deployment(ns), { spec: { replicas: 5 } }),
    warning: /Reverted \S+ ago: Deployment web: spec\.replicas was 5 instead of 2/,
  },
  "a Deployment that is released": {
    hub: (ns) => [deployment(ns), policy(ns, "Deployment")],
    next: ({ patch }, ns) =>
      patch("hub", deployment(ns), { metadata: { annotations: { "flotilla.dev/unmanaged": "true" } } }),
    warning: /It is unmanaged/,
  },
  "a Deployment that an autoscaler on the member scales": {
    hub: (ns) => [deployment(ns), policy(ns, "Deployment")],
    next: ({ create }, ns) => create("m1", autoscaler(ns)),
  },
  "a Deployment that retains the replicas of its member, and an autoscaler there": {
    hub: (ns) => [
      {
        ...deployment(ns),
        metadata: { name: "web", namespace: ns, labels: { "resourcetemplate.karmada.io/retain-replicas": "true" } },
      },
      policy(ns, "Deployment"),
    ],
    next: ({ create }, ns) => create("m1", autoscaler(ns)),
  },
  "a Deployment with a PodDisruptionBudget that allows disruptions": {
    hub: (ns) => [deployment(ns), policy(ns, "Deployment")],
    next: ({ create }, ns) => create("m1", disruptionBudget(ns, 1)),
  },
  "a Deployment that is updated under a PodDisruptionBudget that allows none": {
    hub: (ns) => [deployment(ns), policy(ns, "Deployment")],
    next: async ({ create, patch, fleet }, ns) => {
      await create("m1", disruptionBudget(ns, 2));
      await fleet.run(2_000);
      // It blocks the eviction of pods, which neither a rollout nor the hub uses.
      await patch("hub", deployment(ns), image("web:2"));
    },
  },
  "a Deployment with minReadySeconds": {
    hub: (ns) => [deployment(ns, { spec: { minReadySeconds: 500 } }), policy(ns, "Deployment")],
  },
  "a CloneSet": { hub: (ns) => [cloneSet(ns), kruise(ns, "CloneSet")], why: "cloneset/web" },
  "a CloneSet that is scaled to zero": {
    hub: (ns) => [cloneSet(ns, { replicas: 0 }), kruise(ns, "CloneSet")],
    why: "cloneset/web",
  },
  "a CloneSet whose partition keeps pods at the old revision": {
    hub: (ns) => [cloneSet(ns, { replicas: 4, spec: { updateStrategy: { partition: 2 } } }), kruise(ns, "CloneSet")],
    next: ({ patch }, ns) => patch("hub", cloneSet(ns), image("web:2")),
    why: "cloneset/web",
  },
  "a CloneSet whose partition keeps all pods at the old revision": {
    hub: (ns) => [cloneSet(ns, { spec: { updateStrategy: { partition: "100%" } } }), kruise(ns, "CloneSet")],
    next: ({ patch }, ns) => patch("hub", cloneSet(ns), image("web:2")),
    why: "cloneset/web",
  },
  "a CloneSet that is paused with nothing to update": {
    hub: (ns) => [cloneSet(ns, { spec: { updateStrategy: { paused: true } } }), kruise(ns, "CloneSet")],
    why: "cloneset/web",
  },
  "a CloneSet that is in the middle of an update": {
    hub: (ns) => [cloneSet(ns, { simulate: { "start-seconds": "15" } }), kruise(ns, "CloneSet")],
    late: ({ patch }, ns) => patch("hub", cloneSet(ns), image("web:2")),
    why: "cloneset/web",
  },
  "a StatefulSet": { hub: (ns) => [statefulSet(ns), policy(ns, "StatefulSet")], why: "statefulset.apps/web" },
  "a StatefulSet with volumes": {
    hub: (ns) => [
      statefulSet(ns, {
        spec: {
          volumeClaimTemplates: [
            {
              metadata: { name: "data" },
              spec: { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "1Gi" } } },
            },
          ],
        },
      }),
      policy(ns, "StatefulSet"),
    ],
    why: "statefulset.apps/web",
  },
  "a StatefulSet whose partition keeps pods at the old revision": {
    hub: (ns) => [
      statefulSet(ns, { spec: { updateStrategy: { type: "RollingUpdate", rollingUpdate: { partition: 1 } } } }),
      policy(ns, "StatefulSet"),
    ],
    next: ({ patch }, ns) => patch("hub", statefulSet(ns), image("web:2")),
    why: "statefulset.apps/web",
  },
  "a StatefulSet that updates pods when they are deleted": {
    hub: (ns) => [statefulSet(ns, { spec: { updateStrategy: { type: "OnDelete" } } }), policy(ns, "StatefulSet")],
    next: ({ patch }, ns) => patch("hub", statefulSet(ns), image("web:2")),
    why: "statefulset.apps/web",
  },
  "an Advanced StatefulSet": {
    hub: (ns) => [advancedStatefulSet(ns), policy(ns, "StatefulSet", { apiVersion: "apps.kruise.io/v1beta1" })],
    why: "statefulset.apps.kruise.io/web",
  },
  "a DaemonSet": { hub: (ns) => [daemonSet(ns), policy(ns, "DaemonSet")], why: "daemonset/web" },
  "a DaemonSet that matches no node": {
    hub: (ns) => [daemonSet(ns, { pod: { nodeSelector: { disk: "fast" } } }), policy(ns, "DaemonSet")],
    why: "daemonset/web",
  },
  "a DaemonSet that updates pods when they are deleted": {
    hub: (ns) => [daemonSet(ns, { spec: { updateStrategy: { type: "OnDelete" } } }), policy(ns, "DaemonSet")],
    next: ({ patch }, ns) => patch("hub", daemonSet(ns), image("web:2")),
    why: "daemonset/web",
  },
  "a Job that is complete": { hub: (ns) => [job(ns), core(ns, "Job", "batch/v1")], why: "job/web" },
  "a Job that runs for long": {
    hub: (ns) => [job(ns, { simulate: { run: "forever" } }), core(ns, "Job", "batch/v1")],
    why: "job/web",
  },
  "a Job that is suspended": {
    hub: (ns) => [job(ns, { spec: { suspend: true } }), core(ns, "Job", "batch/v1")],
    why: "job/web",
  },
  "a CronJob that is suspended": {
    hub: (ns) => [
      object("batch/v1", "CronJob", ns, "web", {
        spec: { schedule: "0 0 * * *", suspend: true, jobTemplate: { spec: job(ns)["spec"] as JsonObject } },
      }),
      core(ns, "CronJob", "batch/v1"),
    ],
    why: "cronjob/web",
  },
  "a CronJob whose runs succeed": {
    hub: (ns) => [cronJob(ns), core(ns, "CronJob", "batch/v1")],
    why: "cronjob/web",
  },
  "a CronJob whose run takes long": {
    hub: (ns) => [
      cronJob(ns, { simulate: { run: "forever" }, spec: { concurrencyPolicy: "Forbid" } }),
      core(ns, "CronJob", "batch/v1"),
    ],
    why: "cronjob/web",
  },
  "a CronJob that has not run yet": {
    hub: (ns) => [cronJob(ns, { spec: { schedule: "0 0 1 1 *" } }), core(ns, "CronJob", "batch/v1")],
    why: "cronjob/web",
  },
  "an AdvancedCronJob whose runs succeed": {
    hub: (ns) => [advancedCronJob(ns, { jobTemplate: { spec: runSpec() } }), kruise(ns, "AdvancedCronJob")],
    why: "advancedcronjob/web",
  },
  "a PodDisruptionBudget of a Deployment that is scaled to zero": {
    hub: (ns) => [
      deployment(ns, { replicas: 0 }),
      policy(ns, "Deployment"),
      disruptionBudget(ns, 1),
      {
        ...core(ns, "PodDisruptionBudget", "policy/v1"),
        metadata: { name: "pdb", namespace: ns },
      },
    ],
    why: "pdb/web",
  },
  "a Workflow that is complete": {
    hub: (ns) => [
      object("argoproj.io/v1alpha1", "Workflow", ns, "web", {
        spec: {
          entrypoint: "main",
          templates: [
            {
              name: "main",
              container: { image: "web:1" },
              metadata: { annotations: { "simulation.flotilla.dev/run": "1" } },
            },
          ],
        },
      }),
      core(ns, "Workflow", "argoproj.io/v1alpha1"),
    ],
    why: "workflow/web",
  },
  "a HorizontalPodAutoscaler that scales": {
    hub: (ns) => [
      deployment(ns, { container: { resources: { requests: { cpu: "100m" } } } }),
      policy(ns, "Deployment"),
      autoscaler(ns),
      { ...core(ns, "HorizontalPodAutoscaler", "autoscaling/v2"), metadata: { name: "hpa", namespace: ns } },
    ],
    why: "hpa/web",
  },
  "a BroadcastJob that is complete": {
    hub: (ns) => [broadcastJob(ns), kruise(ns, "BroadcastJob")],
    why: "broadcastjob/web",
  },
  "a BroadcastJob that runs for long": {
    hub: (ns) => [broadcastJob(ns, { simulate: { run: "forever" } }), kruise(ns, "BroadcastJob")],
    why: "broadcastjob/web",
  },
  "a BroadcastJob whose pods are starting": {
    hub: (ns) => [kruise(ns, "BroadcastJob")],
    late: ({ create }, ns) => create("hub", broadcastJob(ns, { simulate: { "start-seconds": "40" } })),
    why: "broadcastjob/web",
  },
  "a ManifestWork whose CronJob succeeds": { hub: (ns) => inWork(ns, cronJob(ns)), why: "manifestwork", whyIn: "m1" },
  "a ConfigMap": {
    hub: (ns) => [object("v1", "ConfigMap", ns, "web", { data: { a: "1" } }), core(ns, "ConfigMap")],
    why: "configmap/web",
  },
  "a Secret": {
    hub: (ns) => [object("v1", "Secret", ns, "web", { stringData: { a: "1" } }), core(ns, "Secret")],
    why: "secret/web",
  },
  "a Service": {
    hub: (ns) => [
      object("v1", "Service", ns, "web", { spec: { selector: { app: "web" }, ports: [{ port: 80 }] } }),
      core(ns, "Service"),
    ],
    why: "service/web",
  },
  "a PersistentVolumeClaim that is bound": {
    hub: (ns) => [claim(ns), core(ns, "PersistentVolumeClaim")],
    why: "persistentvolumeclaim/data",
  },
  "a Role": {
    hub: (ns) => [
      object("rbac.authorization.k8s.io/v1", "Role", ns, "web", { rules: [] }),
      core(ns, "Role", "rbac.authorization.k8s.io/v1"),
    ],
    why: "role/web",
  },
  "a PodDisruptionBudget": {
    hub: (ns) => [
      deployment(ns),
      object("policy/v1", "PodDisruptionBudget", ns, "web", {
        spec: { maxUnavailable: 1, selector: { matchLabels: { app: "web" } } },
      }),
      policy(ns, "Deployment", {
        spec: {
          resourceSelectors: [
            { apiVersion: "apps/v1", kind: "Deployment" },
            { apiVersion: "policy/v1", kind: "PodDisruptionBudget" },
          ],
        },
      }),
    ],
    why: "poddisruptionbudget/web",
  },
  "a kind with rules of its own": {
    hub: (ns) => [
      object("example.com/v1", "Fine", ns, "web", { spec: { replicas: 2 } }),
      core(ns, "Fine", "example.com/v1"),
    ],
    why: "fine/web",
  },
  "a policy for all members, of which one serves the kind": {
    hub: (ns) => [
      object("example.com/v1", "Fine", ns, "web", { spec: { replicas: 2 } }),
      policy(ns, "Fine", { apiVersion: "example.com/v1", placement: { clusterAffinity: {} } }),
    ],
    why: "fine/web",
  },
  "a CloneSet that was deleted on the member during a release": {
    hub: (ns) => [cloneSet(ns, { replicas: 4 }), kruise(ns, "CloneSet")],
    next: async ({ patch, remove, fleet }, ns) => {
      const { spec } = image("web:2") as { spec: JsonObject };
      await patch("hub", cloneSet(ns), { spec: { ...spec, updateStrategy: { partition: 3 } } });
      await fleet.run(20_000);
      await remove("m1", cloneSet(ns));
    },
    why: "cloneset/web",
  },
  "a release that succeeded": {
    hub: (ns) => [strategy(ns), released(ns), dividedCloneSets(ns)],
    next: ({ patch }, ns) => patch("hub", released(ns), image("web:2")),
    why: "cloneset/web",
  },
  "a release that soaks": {
    hub: (ns) => [strategy(ns, {}, { before: [{ soak: "1h" }] }), released(ns), dividedCloneSets(ns)],
    next: ({ patch }, ns) => patch("hub", released(ns), image("web:2")),
    why: "cloneset/web",
  },
  "a release that failed before the one that succeeded": {
    hub: (ns) => [strategy(ns, { failure: { action: "Rollback" } }), released(ns), dividedCloneSets(ns)],
    next: async ({ patch, fleet }, ns) => {
      await patch("hub", released(ns), image("web:broken"));
      await fleet.run(30_000);
      await patch("hub", released(ns), image("web:2"));
    },
    why: "cloneset/web",
  },
  "a release that was rolled back before its strategy was deleted and the template corrected": {
    hub: (ns) => [strategy(ns, { failure: { action: "Rollback" } }), released(ns), dividedCloneSets(ns)],
    next: async ({ patch, remove, fleet }, ns) => {
      await patch("hub", released(ns), image("web:broken"));
      await fleet.run(40_000);
      await remove("hub", strategy(ns));
      await fleet.run(1_000);
      await patch("hub", released(ns), image("web:2"));
    },
    why: "cloneset/web",
  },
  "an EphemeralJob whose containers run, and a PodProbeMarker": {
    hub: (ns) => [
      deployment(ns),
      object("apps.kruise.io/v1alpha1", "EphemeralJob", ns, "debug", {
        spec: {
          replicas: 2,
          selector: { matchLabels: { app: "web" } },
          template: { ephemeralContainers: [ephemeral("debug:1")] },
        },
      }),
      object("apps.kruise.io/v1alpha1", "PodProbeMarker", ns, "idle", {
        spec: {
          selector: { matchLabels: { app: "web" } },
          probes: [
            {
              name: "idle",
              containerName: "main",
              probe: { exec: { command: ["true"] } },
              podConditionType: "game.kruise.io/idle",
            },
          ],
        },
      }),
      policy(ns, "Deployment", {
        spec: {
          resourceSelectors: [
            { apiVersion: "apps/v1", kind: "Deployment" },
            { apiVersion: "apps.kruise.io/v1alpha1", kind: "EphemeralJob" },
            { apiVersion: "apps.kruise.io/v1alpha1", kind: "PodProbeMarker" },
          ],
        },
      }),
    ],
    why: "ephemeraljob/debug",
  },
  "a FederatedHPA that scales, below a quota": {
    hub: (ns) => [
      quota(ns, { overall: { cpu: "4" } }),
      deployment(ns, { container: { resources: { requests: { cpu: "500m" } } } }),
      policy(ns, "Deployment"),
      federatedHpa(ns),
    ],
  },
  "a FederatedHPA whose target is scaled to zero": {
    hub: (ns) => [deployment(ns, { replicas: 0 }), policy(ns, "Deployment"), federatedHpa(ns)],
  },
  "a FederatedHPA that was just created": {
    hub: (ns) => [deployment(ns), policy(ns, "Deployment")],
    late: ({ create }, ns) => create("hub", federatedHpa(ns)),
  },
  "a workload that was deleted": {
    hub: (ns) => [deployment(ns), policy(ns, "Deployment"), object("v1", "ConfigMap", ns, "web")],
    next: ({ remove }, ns) => remove("hub", deployment(ns)),
    late: ({ create }, ns) => create("hub", deployment(ns)),
  },
  "a ManifestWork with a Deployment": {
    hub: (ns) => inWork(ns, deployment(ns)),
    why: "manifestwork",
    whyIn: "m1",
  },
  "a Deployment of a ManifestWork": { hub: (ns) => inWork(ns, deployment(ns)) },
  "a ManifestWork with a CloneSet": { hub: (ns) => inWork(ns, cloneSet(ns)), why: "manifestwork", whyIn: "m1" },
  "a ManifestWork with a ConfigMap": {
    hub: (ns) => inWork(ns, object("v1", "ConfigMap", ns, "web")),
    why: "manifestwork",
    whyIn: "m1",
  },
  "a ManifestWork whose Job is complete": { hub: (ns) => inWork(ns, job(ns)), why: "manifestwork", whyIn: "m1" },
  "a ManifestWork whose Job runs for long": {
    hub: (ns) => inWork(ns, job(ns, { simulate: { run: "forever" } })),
    why: "manifestwork",
    whyIn: "m1",
  },
  "a ManifestWork that was just created": {
    hub: () => [],
    late: ({ create }, ns) => create("hub", ...inWork(ns, deployment(ns, { simulate: { "start-seconds": "40" } }))),
    why: "manifestwork",
    whyIn: "m1",
  },
  "a Placement that selects clusters": {
    hub: (ns) => [
      setBinding(ns),
      object("cluster.open-cluster-management.io/v1beta1", "Placement", ns, "web", { spec: {} }),
    ],
    why: "placement/web",
  },
  "a ManifestWorkReplicaSet that is rolled out": {
    hub: (ns) => [
      setBinding(ns),
      object("cluster.open-cluster-management.io/v1beta1", "Placement", ns, "web", { spec: {} }),
      object("work.open-cluster-management.io/v1alpha1", "ManifestWorkReplicaSet", ns, "web", {
        spec: {
          manifestWorkTemplate: { workload: { manifests: [object("v1", "ConfigMap", "default", "c")] } },
          placementRefs: [{ name: "web" }],
        },
      }),
    ],
    why: "manifestworkreplicaset/web",
  },
};

const namespaceOf = (behaviour: string): string => `s${Object.keys(cases).indexOf(behaviour) + 1}`;
let world: HealthFleet;
let examined: Examination;

beforeAll(async () => {
  world = await startHealthFleet({ members: ["m1", "m2"], nodes: 2 });
  const { create, fleet } = world;
  for (const cluster of ["hub", "m1"]) await create(cluster, definition("Fine"));
  await create("hub", rules("Fine", { healthInterpretation: "function InterpretHealth(o) return true end" }));
  const each = Object.entries(cases).map(([behaviour, found]) => ({ ...found, namespace: namespaceOf(behaviour) }));
  for (const { namespace, hub } of each)
    await create("hub", object("v1", "Namespace", "", namespace), ...hub(namespace));
  await fleet.run(30_000);
  for (const { namespace, next } of each) await next?.(world, namespace);
  await fleet.run(120_000);
  for (const { namespace, late } of each) await late?.(world, namespace);
  await fleet.run(20_000);
  examined = await world.doctor();
}, 120_000);
afterAll(() => world.fleet.stop());

describe("a sound fleet has no problem:", () => {
  for (const [behaviour, { why = "deployment/web", whyIn, warning }] of Object.entries(cases)) {
    test(behaviour, async () => {
      const namespace = namespaceOf(behaviour);
      const target = why === "manifestwork" ? `manifestwork/${namespace}` : why;

      const status = await world.run("status", "-n", namespace);
      const explained = target === null ? "" : await world.run("why", target, "-n", whyIn ?? namespace);

      const doctor = await examined.print(new RegExp(`\\b${namespace}\\b`));

      expect(hasProblems(status), status).toBe(false);
      expect(status).toMatch(/No problems found in namespace s\d+: the hub, 2 members, /);
      expect(hasProblems(explained), explained).toBe(false);
      expect(hasProblems(doctor), doctor).toBe(warning !== undefined);
      expect(readFirst(doctor), doctor).toMatch(warning ?? /^CHECK RESULT SEEN/);
      expect(doctor).not.toMatch(/^PROBLEM/m);
    });
  }
});

test("the fleet as a whole has no problem, and what was checked is stated", async () => {
  const text = await world.run("status");

  expect(hasProblems(text), text).toBe(false);
  expect(text).toMatch(
    new RegExp(
      "No problems found: the hub, 2 members, \\d+ policies, \\d+ bindings, \\d+ Works, \\d+ ManifestWorks, 2 Placements, " +
        "1 ManifestWorkReplicaSet, 3 FederatedHPAs, 1 FederatedResourceQuota, releases, interpreter rules, " +
        "pods of workloads that are not ready\\.",
    ),
  );
  expect(examined.findings.filter(({ severity }) => severity === "problem")).toEqual([]);
});

test("the workloads of ManifestWorks and finished Jobs have a row", async () => {
  const text = await world.run("status", "--all");
  const rowOf = (behaviour: string): string =>
    text.split("\n").find((line) => line.startsWith(`${namespaceOf(behaviour)} `)) ?? "";

  expect(rowOf("a Job that is complete")).toMatch(/web +Job +1\/1 Complete +True +m1/);
  expect(rowOf("a ManifestWork with a Deployment")).toMatch(
    /web +Deployment +UpToDate +True +m1 \(ManifestWork s\d+\)/,
  );
});
