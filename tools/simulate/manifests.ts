/** The objects that simulated users apply: one of each kind, in one namespace. */
import { CloneSet } from "@flotilla/openkruise";
import { ClusterPropagationPolicy, OverridePolicy, ClusterOverridePolicy, PropagationPolicy } from "@flotilla/karmada";
import type { Kind } from "@flotilla/apimachinery";
import type { JsonObject } from "@flotilla/base";
import { defined } from "@flotilla/base";
import { ClusterRole, ConfigMap, Deployment, Job, StatefulSet } from "@flotilla/kubernetes";
import type { Placement, WorkloadKind } from "./plan-run.ts";

export const NAMESPACE = "shop";

export type Manifest = JsonObject & {
  apiVersion: string;
  kind: string;
  metadata: JsonObject & { name: string; namespace?: string };
};

export interface Target {
  kind: Kind;
  apiVersion: string;
  name: string;
  namespace: string | undefined;
  /** The key of the store without the cluster: `/apps/deployments/` and `shop/web`. */
  table: string;
  path: string;
}

const target = (kind: object, apiVersion: string, table: string, name: string, isNamespaced = true): Target => ({
  kind: kind as Kind,
  apiVersion,
  name,
  namespace: isNamespaced ? NAMESPACE : undefined,
  table,
  path: isNamespaced ? `${NAMESPACE}/${name}` : name,
});

export const TARGETS: Readonly<Record<WorkloadKind, Target>> = {
  Deployment: target(Deployment, "apps/v1", "/apps/deployments/", "web"),
  CloneSet: target(CloneSet, "apps.kruise.io/v1beta1", "/apps.kruise.io/clonesets/", "shop"),
  StatefulSet: target(StatefulSet, "apps/v1", "/apps/statefulsets/", "db"),
  Job: target(Job, "batch/v1", "/batch/jobs/", "seed"),
  ConfigMap: target(ConfigMap, "v1", "/core/configmaps/", "settings"),
  ClusterRole: target(
    ClusterRole,
    "rbac.authorization.k8s.io/v1",
    "/rbac.authorization.k8s.io/clusterroles/",
    "reader",
    false,
  ),
};

export const RULES = [{ apiGroups: [""], resources: ["configmaps"], verbs: ["get"] }];

export function makeTemplate(
  kind: WorkloadKind,
  { replicas, image, partition, token }: { replicas: number; image: string; partition: number; token: string },
): Manifest {
  const { apiVersion, name, namespace } = TARGETS[kind];
  const labels = { app: name };
  const metadata = { name, ...defined({ namespace }), labels, annotations: { "sim/token": token } };
  const containers = [{ name: "main", image }];
  const template = { metadata: { labels }, spec: { containers } };
  const base = { apiVersion, kind, metadata };
  switch (kind) {
    case "Deployment":
      return { ...base, spec: { replicas, selector: { matchLabels: labels }, template } };
    case "StatefulSet":
      return {
        ...base,
        spec: {
          replicas,
          serviceName: name,
          podManagementPolicy: "Parallel",
          selector: { matchLabels: labels },
          template,
        },
      };
    case "CloneSet":
      return {
        ...base,
        spec: {
          replicas,
          selector: { matchLabels: labels },
          template,
          updateStrategy: {
            type: "RollingUpdate",
            rollingUpdate: { podUpdatePolicy: "ReCreate", partition, maxUnavailable: 2, maxSurge: 0 },
          },
        },
      };
    case "Job":
      return {
        ...base,
        spec: {
          completions: replicas,
          parallelism: Math.max(1, Math.min(replicas, 3)),
          template: {
            metadata: { labels, annotations: { "sim/run": "5" } },
            spec: { restartPolicy: "Never", containers },
          },
        },
      };
    case "ConfigMap":
      return { ...base, data: { image } };
    default:
      return { ...base, rules: RULES };
  }
}

export const policyKindOf = (kind: WorkloadKind): Kind =>
  kind === "ClusterRole" ? ClusterPropagationPolicy : PropagationPolicy;

export function makePlacement(kind: WorkloadKind, { type, weights }: Placement): Manifest {
  const { apiVersion, name, namespace } = TARGETS[kind];
  const clusterNames = Object.keys(weights);
  const divided = {
    replicaSchedulingType: "Divided",
    replicaDivisionPreference: "Weighted",
    weightPreference: {
      staticWeightList: clusterNames.map((cluster) => ({
        targetCluster: { clusterNames: [cluster] },
        weight: weights[cluster] ?? 1,
      })),
    },
  };
  return {
    apiVersion: "policy.karmada.io/v1alpha1",
    kind: namespace ? "PropagationPolicy" : "ClusterPropagationPolicy",
    metadata: { name: `place-${name}`, ...defined({ namespace }) },
    spec: {
      resourceSelectors: [{ apiVersion, kind, name, ...defined({ namespace }) }],
      placement: {
        clusterAffinity: { clusterNames },
        replicaScheduling: type === "Divided" ? divided : { replicaSchedulingType: "Duplicated" },
      },
    },
  };
}

export const overrideKindOf = (kind: WorkloadKind): Kind =>
  kind === "ClusterRole" ? ClusterOverridePolicy : OverridePolicy;

/** Sets a label on one member's copy. */
export function makeOverride(kind: WorkloadKind, member: string, value: string): Manifest {
  const { apiVersion, name, namespace } = TARGETS[kind];
  return {
    apiVersion: "policy.karmada.io/v1alpha1",
    kind: namespace ? "OverridePolicy" : "ClusterOverridePolicy",
    metadata: { name: `override-${name}`, ...defined({ namespace }) },
    spec: {
      resourceSelectors: [{ apiVersion, kind, name, ...defined({ namespace }) }],
      overrideRules: [
        {
          targetCluster: { clusterNames: [member] },
          overriders: { labelsOverrider: [{ operator: "add", value: { flavour: value } }] },
        },
      ],
    },
  };
}

export function makeManifestWork(member: string, value: string): Manifest {
  return {
    apiVersion: "work.open-cluster-management.io/v1",
    kind: "ManifestWork",
    metadata: { name: "notes", namespace: member },
    spec: {
      workload: {
        manifests: [
          { apiVersion: "v1", kind: "Namespace", metadata: { name: "notes" } },
          { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "notes", namespace: "notes" }, data: { value } },
        ],
      },
    },
  };
}
