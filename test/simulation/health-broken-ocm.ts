/** Open Cluster Management's kinds. */
import type { Broken } from "./health-fleet.ts";
import { broadcastJob, cronJob, denies, deployment, env, job, manifestWork, object } from "./health-manifests.ts";

export const brokenOcm: Record<string, Broken> = {
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
  "a ManifestWorkReplicaSet whose pods crash": {
    hub: (ns) => [
      object("cluster.open-cluster-management.io/v1beta2", "ManagedClusterSetBinding", ns, "default", {
        spec: { clusterSet: "default" },
      }),
      object("cluster.open-cluster-management.io/v1beta1", "Placement", ns, "web", {
        spec: {
          predicates: [
            { requiredClusterSelector: { celSelector: { celExpressions: ['managedCluster.metadata.name == "m1"'] } } },
          ],
        },
      }),
      object("work.open-cluster-management.io/v1alpha1", "ManifestWorkReplicaSet", ns, "web", {
        spec: {
          manifestWorkTemplate: {
            workload: {
              manifests: [
                object("v1", "Namespace", "", `${ns}-pods`),
                deployment(`${ns}-pods`, { simulate: { fault: "crash-loop" } }),
              ],
            },
          },
          placementRefs: [{ name: "web" }],
        },
      }),
    ],
    why: "manifestworkreplicaset/web",
    doctorAbout: /ManifestWork m1\/web\b/,
    cause: /2 pods wait on m1: CrashLoopBackOff: container main exited with code 1/,
  },
  "a ManifestWorkReplicaSet whose work the hub denies for one of its clusters": {
    hub: (ns) => [
      ...denies(ns, {
        resources: { apiGroups: ["work.open-cluster-management.io"], resources: ["manifestworks"] },
        operations: ["CREATE", "UPDATE"],
        expression: `request.namespace != 'm1' || object.metadata.name != 'set-${ns}'`,
        message: "change freeze on m1",
      }),
      object("cluster.open-cluster-management.io/v1beta2", "ManagedClusterSetBinding", ns, "default", {
        spec: { clusterSet: "default" },
      }),
      object("cluster.open-cluster-management.io/v1beta1", "Placement", ns, "web", {
        spec: {
          predicates: [
            {
              requiredClusterSelector: {
                celSelector: { celExpressions: ['managedCluster.metadata.name in ["m1", "m2"]'] },
              },
            },
          ],
        },
      }),
      object("work.open-cluster-management.io/v1alpha1", "ManifestWorkReplicaSet", ns, `set-${ns}`, {
        spec: {
          manifestWorkTemplate: { workload: { manifests: [object("v1", "Namespace", "", `${ns}-pods`)] } },
          placementRefs: [{ name: "web" }],
        },
      }),
    ],
    cause: /the hub cannot write the ManifestWork of m1: ValidatingAdmissionPolicy 'freeze-b\d+'/,
    only: ["status", "doctor"],
  },
  "a ManifestWork whose BroadcastJob has a wrong image": {
    hub: (ns) => [manifestWork("m1", ns, object("v1", "Namespace", "", ns), broadcastJob(ns, { image: "web:broken" }))],
    why: "manifestwork",
    whyIn: "m1",
    cause: /2 pods wait on m1: ImagePullBackOff: image web:broken/,
  },
  "a ManifestWork whose CronJob failed": {
    hub: (ns) => [
      manifestWork("m1", ns, object("v1", "Namespace", "", ns), cronJob(ns, { simulate: { "exit-code": "7" } })),
    ],
    why: "manifestwork",
    whyIn: "m1",
    cause: /m1: the last run failed: BackoffLimitExceeded/,
  },
};
