/**
 * The minimal valid object of each kind, in its storage version. A new kind adds itself here and is covered by the
 * suites.
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
import { isServed } from "@flotilla/kubernetes";
import { kruiseDefinitions } from "@flotilla/openkruise";
import {
  Binding,
  CSIDriver,
  CSINode,
  CSIStorageCapacity,
  CertificateSigningRequest,
  ClusterRole,
  ClusterRoleBinding,
  ConfigMap,
  ControllerRevision,
  CronJob,
  CustomResourceDefinition,
  DaemonSet,
  Deployment,
  DeviceClass,
  EndpointSlice,
  Endpoints,
  Event,
  EventsEvent,
  Eviction,
  HorizontalPodAutoscaler,
  IPAddress,
  Ingress,
  IngressClass,
  Job,
  Lease,
  LimitRange,
  LocalSubjectAccessReview,
  Namespace,
  NetworkPolicy,
  Node,
  PersistentVolume,
  PersistentVolumeClaim,
  Pod,
  PodDisruptionBudget,
  PodTemplate,
  PriorityClass,
  ReplicaSet,
  ReplicationController,
  ResourceClaim,
  ResourceClaimTemplate,
  ResourceQuota,
  ResourceSlice,
  Role,
  RoleBinding,
  RuntimeClass,
  Secret,
  SelfSubjectAccessReview,
  SelfSubjectReview,
  SelfSubjectRulesReview,
  Service,
  ServiceAccount,
  ServiceCIDR,
  StatefulSet,
  StorageClass,
  SubjectAccessReview,
  TokenRequest,
  TokenReview,
  VolumeAttachment,
  VolumeAttributesClass,
} from "@flotilla/kubernetes";
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
import type { DeepReadonly, JsonObject } from "@flotilla/base";

const template: JsonObject = {
  metadata: { labels: { app: "web" } },
  spec: { containers: [{ name: "web", image: "web:1" }] },
};
const workload: JsonObject = { selector: { matchLabels: { app: "web" } }, template };
const jobTemplate: JsonObject = { spec: { restartPolicy: "Never", containers: [{ name: "web", image: "web:1" }] } };
const roleRef: JsonObject = { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name: "view" };
const manifestWork: JsonObject = {
  workload: { manifests: [{ apiVersion: "v1", kind: "ConfigMap", metadata: { name: "web", namespace: "shop" } }] },
};
/** For the user `tester`, signed with a discarded Ed25519 key. */
const CERTIFICATE_REQUEST =
  "LS0tLS1CRUdJTiBDRVJUSUZJQ0FURSBSRVFVRVNULS0tLS0KTUlHUU1FUUNBUUF3RVRFUE1BMEdBMVVFQXd3R2RHVnpkR1Z5TUNvd0JRWURLMlZ3QXlFQU5qc3hQUCtxbFNuKwp2WEVsQWNnR0xkUlJobEN0ajlGYjRuODI3YTlFbi9PZ0FEQUZCZ01yWlhBRFFRQ01UbXdXSEFvSU5jMkZJbVBKCjFuYmZWZzZsQ2VDdEE1UFQyUmVnUmphNFE2VVMzUFJ4UE0zdGZBNnFzaWloZ1QyaGFYS1VmNUhjc1hoK2xscDAKTFdzRgotLS0tLUVORCBDRVJUSUZJQ0FURSBSRVFVRVNULS0tLS0K";
const deploymentSelector: JsonObject = { apiVersion: "apps/v1", kind: "Deployment" };

const UID = "00000000-0000-4000-8000-000000000001";

const fields = new Map<Kind, JsonObject>([
  [Namespace, {}],
  [ConfigMap, {}],
  [Secret, {}],
  [ServiceAccount, {}],
  [Pod, { spec: { containers: [{ name: "web", image: "web:1" }] } }],
  [Node, {}],
  [Event, { involvedObject: { namespace: "shop" } }],
  [Service, { spec: { ports: [{ port: 80 }] } }],
  [PodTemplate, { template }],
  [Binding, { target: { name: "node-1" } }],
  [Eviction, {}],
  [Endpoints, {}],
  [
    PersistentVolume,
    { spec: { capacity: { storage: "1Gi" }, accessModes: ["ReadWriteOnce"], hostPath: { path: "/data" } } },
  ],
  [PersistentVolumeClaim, { spec: { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "1Gi" } } } }],
  [ReplicationController, { spec: { selector: { app: "web" }, template } }],
  [ResourceQuota, { spec: { hard: { pods: "1" } } }],
  [LimitRange, { spec: { limits: [{ type: "Container", default: { cpu: "1" } }] } }],
  [Deployment, { spec: workload }],
  [ReplicaSet, { spec: workload }],
  [StatefulSet, { spec: { ...workload, serviceName: "web" } }],
  [DaemonSet, { spec: workload }],
  [Job, { spec: { template: jobTemplate } }],
  [CronJob, { spec: { schedule: "0 * * * *", jobTemplate: { spec: { template: jobTemplate } } } }],
  [
    HorizontalPodAutoscaler,
    { spec: { maxReplicas: 2, scaleTargetRef: { apiVersion: "apps/v1", kind: "Deployment", name: "web" } } },
  ],
  [PodDisruptionBudget, { spec: { minAvailable: 1, selector: { matchLabels: { app: "web" } } } }],
  [EndpointSlice, { addressType: "IPv4", endpoints: [] }],
  [Ingress, { spec: { defaultBackend: { service: { name: "web", port: { number: 80 } } } } }],
  [IngressClass, { spec: { controller: "example.com/ingress" } }],
  [NetworkPolicy, { spec: { podSelector: {} } }],
  [StorageClass, { provisioner: "example.com/disk" }],
  [CSIDriver, { spec: {} }],
  [CSINode, { spec: { drivers: [] } }],
  [CSIStorageCapacity, { storageClassName: "fast" }],
  [
    VolumeAttachment,
    { spec: { attacher: "disks.example.com", nodeName: "node-1", source: { persistentVolumeName: "data" } } },
  ],
  [VolumeAttributesClass, { driverName: "disks.example.com", parameters: { iops: "100" } }],
  [ServiceCIDR, { spec: { cidrs: ["192.168.0.0/24"] } }],
  [IPAddress, { metadata: { name: "192.168.0.1" }, spec: { parentRef: { resource: "services", name: "web" } } }],
  [ResourceClaim, { spec: { devices: { requests: [{ name: "gpu", exactly: { deviceClassName: "gpu" } }] } } }],
  [
    ResourceClaimTemplate,
    { spec: { spec: { devices: { requests: [{ name: "gpu", exactly: { deviceClassName: "gpu" } }] } } } },
  ],
  [
    ResourceSlice,
    {
      spec: {
        driver: "gpu.example.com",
        pool: { name: "a", generation: 1, resourceSliceCount: 1 },
        nodeName: "node-1",
      },
    },
  ],
  [DeviceClass, { spec: {} }],
  [PriorityClass, { value: 1 }],
  [RuntimeClass, { handler: "runc" }],
  [Role, { rules: [] }],
  [ClusterRole, { rules: [] }],
  [RoleBinding, { roleRef }],
  [ClusterRoleBinding, { roleRef }],
  [
    EventsEvent,
    {
      eventTime: "2026-01-01T00:00:00.000000Z",
      reportingController: "example.com/c",
      reportingInstance: "c-1",
      action: "Start",
      reason: "Started",
      type: "Normal",
      regarding: { namespace: "shop" },
    },
  ],
  [SelfSubjectReview, {}],
  [TokenRequest, { spec: { audiences: [] } }],
  [TokenReview, { spec: { token: "x" } }],
  [SubjectAccessReview, { spec: { user: "u", nonResourceAttributes: { path: "/", verb: "get" } } }],
  [
    LocalSubjectAccessReview,
    { spec: { user: "u", resourceAttributes: { namespace: "shop", verb: "get", resource: "pods" } } },
  ],
  [SelfSubjectAccessReview, { spec: { nonResourceAttributes: { path: "/", verb: "get" } } }],
  [SelfSubjectRulesReview, { spec: { namespace: "shop" } }],
  [LogicalCluster, { spec: { profile: "empty" } }],
  [ControllerRevision, { data: {}, revision: 1 }],
  [
    CertificateSigningRequest,
    {
      spec: {
        request: CERTIFICATE_REQUEST,
        signerName: "example.com/signer",
        usages: ["client auth"],
        username: "tester",
      },
    },
  ],
  [Lease, {}],
  [
    CustomResourceDefinition,
    {
      spec: {
        group: "example.com",
        names: { plural: "teapots", kind: "Teapot" },
        scope: "Namespaced",
        versions: [{ name: "v1", served: true, storage: true, schema: { openAPIV3Schema: { type: "object" } } }],
      },
      // The server initializes this list.
      status: { storedVersions: ["v1"] },
    },
  ],
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

/** Kinds that declare their example themselves. */
const examples = new Map<Kind, DeepReadonly<JsonObject>>(
  kruiseDefinitions.flatMap(({ kind, example }) => (isServed(kind) && example ? [[kind, example as JsonObject]] : [])),
);

export const kinds: readonly Kind[] = [...fields.keys(), ...examples.keys()];

export function minimalObject(kind: Kind): JsonObject {
  const example = examples.get(kind) as JsonObject | undefined;
  if (example) return { ...example, metadata: { ...(example["metadata"] as JsonObject), uid: UID } };
  const apiVersion = formatApiVersion(kind.group, kind.storageVersion);
  const name = kind.kind === "CustomResourceDefinition" ? "teapots.example.com" : "web";
  return {
    apiVersion,
    kind: kind.kind,
    metadata: {
      name,
      uid: UID,
      ...(kind.scope === "Namespaced" && { namespace: "shop" }),
    },
    ...fields.get(kind),
  };
}
