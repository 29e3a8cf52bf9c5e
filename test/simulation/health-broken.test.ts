/**
 * Broken fleets: for each of them `flotilla status`, `why` and `doctor` name the cause within their first three lines.
 * All of them are namespaces of one hub, which runs for two minutes of its own time.
 */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { JsonObject } from "@flotilla/base";
import { Node } from "@flotilla/kubernetes";
import { startHealthFleet, problemsOfStatus, problemsOfWhy } from "./health-fleet.ts";
import type { HealthFleet, Manifest } from "./health-fleet.ts";
import {
  advancedStatefulSet,
  cloneSet,
  daemonSet,
  definition,
  deployment,
  job,
  manifestWork,
  object,
  override,
  policy,
  rules,
  statefulSet,
} from "./health-manifests.ts";

interface Broken {
  /** Creates it in the namespace, on the hub. */
  hub(namespace: string): Manifest[];
  /** Exists on the member `m1` before. */
  member?(namespace: string): Manifest[];
  /** Once the fleet runs. */
  next?(fleet: HealthFleet, namespace: string): Promise<void>;
  /** The argument of `flotilla why`; `deployment/web` if unset. */
  why?: string;
  /** `-n` of `flotilla why`, if it is not the namespace of the case. */
  whyIn?: string;
  /** The cause. */
  cause: RegExp;
  /** `-n` of `flotilla status`, if it is not the namespace of the case. */
  statusIn?: string;
  /** `flotilla status` and `doctor` do not report it. */
  only?: "why";
}

const KINDS = ["Alpha", "Beta", "Gamma", "Delta", "Epsilon", "Zeta", "Orphan", "Vanished"];
const env = (source: JsonObject): JsonObject => ({ env: [{ name: "A", valueFrom: source }] });
const newImage = async ({ patch }: HealthFleet, web: Manifest): Promise<void> =>
  patch("hub", web, {
    spec: { template: { spec: { containers: [{ name: "main", image: "web:broken" }] } } },
  });
const custom = (kind: string, namespace: string): Manifest[] => [
  object("example.com/v1", kind, namespace, "web", { spec: { replicas: 2 } }),
  policy(namespace, kind, { apiVersion: "example.com/v1" }),
];

const cases: Record<string, Broken> = {
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
  "a policy that names a member that left": {
    hub: (ns) => [deployment(ns), policy(ns, "Deployment", { clusters: ["gone"] })],
    cause: /0\/6 clusters are available: 6 cluster\(s\) did not match the placement cluster affinity/,
  },
  "a policy whose labels match no cluster": {
    hub: (ns) => [
      deployment(ns),
      policy(ns, "Deployment", {
        placement: { clusterAffinity: { labelSelector: { matchLabels: { tier: "gold" } } } },
      }),
    ],
    cause: /0\/6 clusters are available: 6 cluster\(s\) did not match the placement cluster affinity/,
  },
  "a member with a taint that the policy does not tolerate": {
    hub: (ns) => [deployment(ns), policy(ns, "Deployment", { clusters: ["reserved"] })],
    cause: /1 cluster\(s\) had untolerated taint \{gpu:NoSchedule\}/,
  },
  "an override with a wrong path": {
    hub: (ns) => [override(ns, "/spec/nowhere/deep", 1), deployment(ns), policy(ns, "Deployment")],
    cause: /cannot replace \/spec\/nowhere\/deep: the object has no such path/,
  },
  "an override that the member rejects": {
    hub: (ns) => [override(ns, "/spec/replicas", -1), deployment(ns), policy(ns, "Deployment")],
    cause: /spec\.replicas: Invalid value: -1/,
  },
  "a health rule that throws": {
    hub: (ns) => custom("Alpha", ns),
    why: "alpha/web",
    cause: /InterpretHealth .*with key 'nowhere'/,
  },
  "a health rule that returns the wrong type": {
    hub: (ns) => custom("Beta", ns),
    why: "beta/web",
    cause: /InterpretHealth .*result type 3 is not bool/,
  },
  "a replica rule that throws": {
    hub: (ns) => custom("Gamma", ns),
    why: "gamma/web",
    cause: /InterpretReplica .*with key 'count'/,
  },
  "an aggregation rule that throws": {
    hub: (ns) => custom("Delta", ns),
    why: "delta/web",
    cause: /AggregateStatus .*with key 'sum'/,
  },
  "a status rule that throws": {
    hub: (ns) => custom("Epsilon", ns),
    why: "epsilon/web",
    cause: /InterpretStatus .*with key 'part'/,
  },
  "a dependency rule that throws": {
    hub: (ns) => [
      object("example.com/v1", "Zeta", ns, "web", { spec: { replicas: 2 } }),
      policy(ns, "Zeta", { apiVersion: "example.com/v1", spec: { propagateDeps: true } }),
    ],
    why: "zeta/web",
    cause: /InterpretDependency .*with key 'name'/,
  },
  "a kind that the member does not serve": {
    hub: (ns) => custom("Orphan", ns),
    why: "orphan/web",
    cause: /1 cluster\(s\) did not have the API resource/,
  },
  "a kind whose CRD was deleted on the member": {
    hub: (ns) => custom("Vanished", ns),
    next: ({ remove }) => remove("m1", definition("Vanished")),
    why: "vanished/web",
    cause: /cluster m1 does not serve Vanished in example.com\/v1/,
  },
  "a namespace that is being deleted on the member": {
    member: (ns) => [
      object("v1", "Namespace", "", ns),
      {
        apiVersion: "v1",
        kind: "ConfigMap",
        metadata: { name: "held", namespace: ns, finalizers: ["example.com/hold"] },
      },
    ],
    hub: () => [],
    next: async ({ create, remove, fleet }, ns) => {
      await remove("m1", object("v1", "Namespace", "", ns));
      await fleet.run(2_000);
      await create("hub", deployment(ns), policy(ns, "Deployment"));
    },
    cause: /unable to create new content in namespace b\d+ because it is being terminated/,
  },
  "an object that already exists on the member": {
    member: (ns) => [object("v1", "Namespace", "", ns), deployment(ns, { image: "other:1" })],
    hub: (ns) => [deployment(ns), policy(ns, "Deployment")],
    cause: /already exists in the cluster m1/,
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
  "dispatching that is suspended": {
    hub: (ns) => [deployment(ns), policy(ns, "Deployment", { spec: { suspension: { dispatching: true } } })],
    cause: /dispatching is suspended/,
  },
  "dispatching that is suspended for a member": {
    hub: (ns) => [
      deployment(ns),
      policy(ns, "Deployment", {
        clusters: ["m1", "m2"],
        spec: { suspension: { dispatchingOnClusters: { clusterNames: ["m2"] } } },
      }),
    ],
    cause: /dispatching to m2 is suspended/,
  },
  "a member that is unreachable": {
    hub: (ns) => [deployment(ns), policy(ns, "Deployment", { clusters: ["away"] })],
    cause: /away.*(is not ready|Ready is False)/,
  },
  "a policy that waits for its PriorityClass": {
    hub: (ns) => [
      deployment(ns),
      policy(ns, "Deployment", {
        spec: { schedulePriority: { priorityClassSource: "KubePriorityClass", priorityClassName: "absent" } },
      }),
    ],
    cause: /waiting for PriorityClass absent/,
  },
  "a workload without a policy": {
    hub: (ns) => [deployment(ns)],
    cause: /no policy selects it/,
    // Objects without a policy are usual.
    only: "why",
  },
  "a ManifestWork with a wrong image": {
    hub: (ns) => [manifestWork("m1", ns, object("v1", "Namespace", "", ns), deployment(ns, { image: "web:broken" }))],
    why: "manifestwork",
    whyIn: "m1",
    cause: /2 pods wait on m1: ImagePullBackOff: image web:broken/,
  },
  "a ManifestWork whose Secret is missing": {
    hub: (ns) => [
      manifestWork(
        "m1",
        ns,
        object("v1", "Namespace", "", ns),
        deployment(ns, { container: env({ secretKeyRef: { name: "db", key: "password" } }) }),
      ),
    ],
    why: "manifestwork",
    whyIn: "m1",
    cause: /CreateContainerConfigError: secret "db" not found/,
  },
  "a ManifestWork whose Job failed": {
    hub: (ns) => [
      manifestWork("m1", ns, object("v1", "Namespace", "", ns), job(ns, { simulate: { "exit-code": "7" } })),
    ],
    why: "manifestwork",
    whyIn: "m1",
    cause: /exited with code 7/,
  },
  "a ManifestWork without the namespace of its objects": {
    hub: (ns) => [manifestWork("m1", ns, deployment("absent"))],
    why: "manifestwork",
    whyIn: "m1",
    statusIn: "absent",
    cause: /namespaces "absent" not found/,
  },
  "a ManifestWork with a kind that the member does not serve": {
    hub: (ns) => [manifestWork("m1", ns, object("example.com/v1", "Orphan", ns, "web"))],
    why: "manifestwork",
    whyIn: "m1",
    cause: /the server doesn't have a resource type "Orphan"/,
  },
  "a ManifestWork in a namespace without a cluster": {
    hub: (ns) => [manifestWork(ns, "lost", deployment(ns))],
    why: "manifestwork/lost",
    cause: /there is no cluster named b\d+/,
  },
  "a Placement that no cluster matches": {
    hub: (ns) => [
      object("cluster.open-cluster-management.io/v1beta2", "ManagedClusterSetBinding", ns, "default", {
        spec: { clusterSet: "default" },
      }),
      object("cluster.open-cluster-management.io/v1beta1", "Placement", ns, "web", {
        spec: {
          predicates: [{ requiredClusterSelector: { labelSelector: { matchLabels: { tier: "gold" } } } }],
        },
      }),
    ],
    why: "placement/web",
    cause: /No ManagedCluster matches any of the cluster predicate/,
  },
  "a Placement whose ManagedClusterSet is not bound": {
    hub: (ns) => [
      object("cluster.open-cluster-management.io/v1beta1", "Placement", ns, "web", {
        spec: { clusterSets: ["gold"] },
      }),
    ],
    why: "placement/web",
    cause: /No valid ManagedClusterSetBindings found/,
  },
  "a ManifestWorkReplicaSet without its Placement": {
    hub: (ns) => [
      object("work.open-cluster-management.io/v1alpha1", "ManifestWorkReplicaSet", ns, "web", {
        spec: {
          manifestWorkTemplate: { workload: { manifests: [object("v1", "ConfigMap", "default", "c")] } },
          placementRefs: [{ name: "absent" }],
        },
      }),
    ],
    why: "manifestworkreplicaset/web",
    cause: /Placement absent does not exist/,
  },
};

const namespaceOf = (behaviour: string): string => `b${Object.keys(cases).indexOf(behaviour) + 1}`;
let world: HealthFleet;
let findings: Awaited<ReturnType<HealthFleet["doctor"]>>;

beforeAll(async () => {
  world = await startHealthFleet({ members: ["m1", "m2", "tainted", "cordoned", "reserved", "away"], nodes: 2 });
  const { create, patch, fleet } = world;
  for (const kind of KINDS) {
    await create("hub", definition(kind));
    if (kind !== "Orphan") await create("m1", definition(kind));
  }
  const bad = (name: string, body: string): string => `function ${name}(o, x) ${body} end`;
  await create(
    "hub",
    rules("Alpha", { healthInterpretation: bad("InterpretHealth", "return o.status.nowhere.ready") }),
    rules("Beta", { healthInterpretation: bad("InterpretHealth", "return 'yes'") }),
    rules("Gamma", { replicaResource: bad("GetReplicas", "return o.spec.nowhere.count, nil") }),
    rules("Delta", { statusAggregation: bad("AggregateStatus", "return o.spec.nowhere.sum") }),
    rules("Epsilon", { statusReflection: bad("ReflectStatus", "return o.spec.nowhere.part") }),
    rules("Zeta", { dependencyInterpretation: bad("GetDependencies", "return o.spec.nowhere.name") }),
  );
  const cluster = (name: string): Manifest => object("cluster.karmada.io/v1alpha1", "Cluster", "", name);
  await patch("hub", cluster("reserved"), { spec: { taints: [{ key: "gpu", effect: "NoSchedule" }] } });
  const spoiled: Record<string, JsonObject> = {
    tainted: { taints: [{ key: "gpu", effect: "NoSchedule" }] },
    cordoned: { unschedulable: true },
  };
  for (const [member, spec] of Object.entries(spoiled))
    for (const { metadata } of (await fleet.client.list(Node, { cluster: member })).items)
      await patch(member, object("v1", "Node", "", metadata.name), { spec });
  for (const [behaviour, { hub, member }] of Object.entries(cases)) {
    const namespace = namespaceOf(behaviour);
    if (member) await create("m1", ...member(namespace));
    await create("hub", object("v1", "Namespace", "", namespace), ...hub(namespace));
  }
  await fleet.run(20_000);
  await patch("hub", cluster("away"), {
    metadata: { annotations: { "simulation.flotilla.dev/fault": "unreachable" } },
  });
  for (const [behaviour, { next }] of Object.entries(cases)) await next?.(world, namespaceOf(behaviour));
  await fleet.run(130_000);
  findings = await world.doctor();
}, 60_000);
afterAll(() => world.fleet.stop());

describe("a broken fleet is reported with its cause:", () => {
  for (const [behaviour, { why = "deployment/web", whyIn, statusIn, cause, only }] of Object.entries(cases)) {
    test(behaviour, async () => {
      const namespace = namespaceOf(behaviour);
      const target = why === "manifestwork" ? `manifestwork/${namespace}` : why;

      const explained = await world.run("why", target, "-n", whyIn ?? namespace);
      const status = await world.run("status", "-n", statusIn ?? namespace);

      expect(problemsOfWhy(explained).join("\n"), explained).toMatch(cause);
      if (only) return;
      expect(problemsOfStatus(status).join("\n"), status).toMatch(cause);
      // One finding may be about several objects, of which it names the first.
      const own = findings.filter(({ about, seen, commands }) =>
        new RegExp(`\\b(${namespace}|${statusIn ?? namespace}|member away)\\b`).test(
          `${about} ${seen} ${commands.join(" ")}`,
        ),
      );
      expect(own.map(({ about, seen }) => `${about}: ${seen}`).join("\n")).toMatch(cause);
    });
  }
});

test("a workload of another namespace is found by its name", async () => {
  await expect(world.run("why", "cloneset/web")).rejects.toThrow(
    /namespace b\d+, .* has one: run 'flotilla why cloneset\/web -n b/,
  );
});
