/**
 * The minimal valid object of each kind, in its storage version: the example in the kind's definition, or its fields
 * here. The suites cover all of them.
 */
import {
  AddOnPlacementScore,
  AppliedManifestWork,
  ClusterClaim,
  ManagedCluster,
  ManagedClusterSet,
  ManagedClusterSetBinding,
  ManifestWork,
  ManifestWorkReplicaSet,
  OcmPlacement,
  PlacementDecision,
} from "@flotilla/ocm";
import { kruiseDefinitions } from "@flotilla/openkruise";
import { Eviction, TokenRequest, isServed, kubernetesDefinitions } from "@flotilla/kubernetes";
import {
  Cluster,
  ClusterOverridePolicy,
  ClusterPropagationPolicy,
  ClusterResourceBinding,
  ClusterTaintPolicy,
  OverridePolicy,
  PropagationPolicy,
  ResourceBinding,
  ResourceInterpreterCustomization,
  ResourceInterpreterWebhookConfiguration,
  Work,
  WorkloadRebalancer,
} from "@flotilla/karmada";
import { LogicalCluster } from "@flotilla/apiserver";
import { Workflow } from "@flotilla/argo";
import { formatApiVersion } from "@flotilla/apimachinery";
import type { Kind } from "@flotilla/apimachinery";
import type { JsonObject } from "@flotilla/base";

const manifestWork: JsonObject = {
  workload: { manifests: [{ apiVersion: "v1", kind: "ConfigMap", metadata: { name: "web", namespace: "shop" } }] },
};
const deploymentSelector: JsonObject = { apiVersion: "apps/v1", kind: "Deployment" };

const fields = new Map<Kind, JsonObject>([
  [Eviction, {}],
  [TokenRequest, { spec: { audiences: [] } }],
  [LogicalCluster, { spec: { profile: "empty" } }],
  [Cluster, { spec: { syncMode: "Push" } }],
  [PropagationPolicy, { spec: { resourceSelectors: [deploymentSelector], placement: { replicaScheduling: {} } } }],
  [ClusterPropagationPolicy, { spec: { resourceSelectors: [deploymentSelector] } }],
  [
    OverridePolicy,
    {
      spec: {
        resourceSelectors: [deploymentSelector],
        overrideRules: [{ overriders: { labelsOverrider: [{ operator: "add", value: { a: "b" } }] } }],
      },
    },
  ],
  [ClusterOverridePolicy, { spec: {} }],
  [ClusterTaintPolicy, { spec: { taints: [{ key: "a", effect: "NoSchedule" }] } }],
  [WorkloadRebalancer, { spec: { workloads: [{ apiVersion: "apps/v1", kind: "Deployment", name: "web" }] } }],
  [ResourceBinding, { spec: { resource: { apiVersion: "apps/v1", kind: "Deployment", name: "web" } } }],
  [
    ClusterResourceBinding,
    { spec: { resource: { apiVersion: "rbac.authorization.k8s.io/v1", kind: "ClusterRole", name: "viewer" } } },
  ],
  [Work, { spec: {} }],
  [
    ResourceInterpreterCustomization,
    {
      spec: {
        target: { apiVersion: "apps/v1", kind: "Deployment" },
        customizations: {
          healthInterpretation: { luaScript: "function InterpretHealth(observedObj) return true end" },
        },
      },
    },
  ],
  [
    ResourceInterpreterWebhookConfiguration,
    {
      webhooks: [
        {
          name: "workloads.example.com",
          clientConfig: { url: "https://interpreter.example.com" },
          interpreterContextVersions: ["v1alpha1"],
        },
      ],
    },
  ],
  [ManagedCluster, { spec: { managedClusterClientConfigs: [{ url: "https://web.example.com" }] } }],
  [ManagedClusterSet, { spec: {} }],
  [ManagedClusterSetBinding, { spec: { clusterSet: "web" } }],
  [
    OcmPlacement,
    {
      spec: {
        predicates: [
          { requiredClusterSelector: { celSelector: { celExpressions: ["managedCluster.metadata.name != ''"] } } },
        ],
      },
    },
  ],
  [PlacementDecision, {}],
  [AddOnPlacementScore, {}],
  [ManifestWork, { spec: manifestWork }],
  [ManifestWorkReplicaSet, { spec: { manifestWorkTemplate: manifestWork, placementRefs: [{ name: "all" }] } }],
  [ClusterClaim, { spec: { value: "a" } }],
  [AppliedManifestWork, { spec: { hubHash: "abc", manifestWorkName: "web" } }],
  [Workflow, { spec: { entrypoint: "main", templates: [{ name: "main", container: { image: "web:1" } }] } }],
]);

const examples = new Map(
  [...kubernetesDefinitions, ...kruiseDefinitions].flatMap(({ kind, example }) =>
    isServed(kind) && example ? [[kind, example]] : [],
  ),
);

export const kinds: readonly Kind[] = [...examples.keys(), ...fields.keys()];

const UID = "00000000-0000-4000-8000-000000000001";

export function minimalObject(kind: Kind): JsonObject {
  const example = examples.get(kind);
  if (example) return { ...example, metadata: { ...example.metadata, uid: UID } } as unknown as JsonObject;
  const apiVersion = formatApiVersion(kind.group, kind.storageVersion);
  return {
    apiVersion,
    kind: kind.kind,
    metadata: {
      name: "web",
      uid: UID,
      ...(kind.scope === "Namespaced" && { namespace: "shop" }),
    },
    ...fields.get(kind),
  };
}
