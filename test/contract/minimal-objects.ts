/**
 * The minimal valid object of each kind, in its storage version. A new kind adds itself here and is covered by the
 * suites.
 */
import * as api from "../../src/api/index.ts";
import type { Kind } from "../../src/api/index.ts";
import type { JsonObject } from "../../src/base/index.ts";

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

const fields = new Map<Kind, JsonObject>([
  [api.Namespace, {}],
  [api.ConfigMap, {}],
  [api.Secret, {}],
  [api.ServiceAccount, {}],
  [api.Pod, { spec: { containers: [{ name: "web", image: "web:1" }] } }],
  [api.Node, {}],
  [api.Event, { involvedObject: { namespace: "shop" } }],
  [api.Service, { spec: { ports: [{ port: 80 }] } }],
  [api.PodTemplate, { template }],
  [api.Binding, { target: { name: "node-1" } }],
  [api.Eviction, {}],
  [api.Endpoints, {}],
  [
    api.PersistentVolume,
    { spec: { capacity: { storage: "1Gi" }, accessModes: ["ReadWriteOnce"], hostPath: { path: "/data" } } },
  ],
  [
    api.PersistentVolumeClaim,
    { spec: { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "1Gi" } } } },
  ],
  [api.ReplicationController, { spec: { selector: { app: "web" }, template } }],
  [api.ResourceQuota, { spec: { hard: { pods: "1" } } }],
  [api.LimitRange, { spec: { limits: [{ type: "Container", default: { cpu: "1" } }] } }],
  [api.Deployment, { spec: workload }],
  [api.ReplicaSet, { spec: workload }],
  [api.StatefulSet, { spec: { ...workload, serviceName: "web" } }],
  [api.DaemonSet, { spec: workload }],
  [api.Job, { spec: { template: jobTemplate } }],
  [api.CronJob, { spec: { schedule: "0 * * * *", jobTemplate: { spec: { template: jobTemplate } } } }],
  [
    api.HorizontalPodAutoscaler,
    { spec: { maxReplicas: 2, scaleTargetRef: { apiVersion: "apps/v1", kind: "Deployment", name: "web" } } },
  ],
  [api.PodDisruptionBudget, { spec: { minAvailable: 1, selector: { matchLabels: { app: "web" } } } }],
  [api.EndpointSlice, { addressType: "IPv4", endpoints: [] }],
  [api.Ingress, { spec: { defaultBackend: { service: { name: "web", port: { number: 80 } } } } }],
  [api.IngressClass, { spec: { controller: "example.com/ingress" } }],
  [api.NetworkPolicy, { spec: { podSelector: {} } }],
  [api.StorageClass, { provisioner: "example.com/disk" }],
  [api.CSIDriver, { spec: {} }],
  [api.CSINode, { spec: { drivers: [] } }],
  [api.CSIStorageCapacity, { storageClassName: "fast" }],
  [
    api.VolumeAttachment,
    { spec: { attacher: "disks.example.com", nodeName: "node-1", source: { persistentVolumeName: "data" } } },
  ],
  [api.VolumeAttributesClass, { driverName: "disks.example.com", parameters: { iops: "100" } }],
  [api.ServiceCIDR, { spec: { cidrs: ["192.168.0.0/24"] } }],
  [api.IPAddress, { metadata: { name: "192.168.0.1" }, spec: { parentRef: { resource: "services", name: "web" } } }],
  [api.ResourceClaim, { spec: { devices: { requests: [{ name: "gpu", exactly: { deviceClassName: "gpu" } }] } } }],
  [
    api.ResourceClaimTemplate,
    { spec: { spec: { devices: { requests: [{ name: "gpu", exactly: { deviceClassName: "gpu" } }] } } } },
  ],
  [
    api.ResourceSlice,
    {
      spec: {
        driver: "gpu.example.com",
        pool: { name: "a", generation: 1, resourceSliceCount: 1 },
        nodeName: "node-1",
      },
    },
  ],
  [api.DeviceClass, { spec: {} }],
  [api.PriorityClass, { value: 1 }],
  [api.RuntimeClass, { handler: "runc" }],
  [api.Role, { rules: [] }],
  [api.ClusterRole, { rules: [] }],
  [api.RoleBinding, { roleRef }],
  [api.ClusterRoleBinding, { roleRef }],
  [
    api.EventsEvent,
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
  [api.SelfSubjectReview, {}],
  [api.TokenRequest, { spec: { audiences: [] } }],
  [api.TokenReview, { spec: { token: "x" } }],
  [api.SubjectAccessReview, { spec: { user: "u", nonResourceAttributes: { path: "/", verb: "get" } } }],
  [
    api.LocalSubjectAccessReview,
    { spec: { user: "u", resourceAttributes: { namespace: "shop", verb: "get", resource: "pods" } } },
  ],
  [api.SelfSubjectAccessReview, { spec: { nonResourceAttributes: { path: "/", verb: "get" } } }],
  [api.SelfSubjectRulesReview, { spec: { namespace: "shop" } }],
  [api.LogicalCluster, { spec: { profile: "empty" } }],
  [api.ControllerRevision, { data: {}, revision: 1 }],
  [
    api.CertificateSigningRequest,
    {
      spec: {
        request: CERTIFICATE_REQUEST,
        signerName: "example.com/signer",
        usages: ["client auth"],
        username: "tester",
      },
    },
  ],
  [api.Lease, {}],
  [
    api.CustomResourceDefinition,
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
  [api.Cluster, { spec: { syncMode: "Push" } }],
  [api.PropagationPolicy, { spec: { resourceSelectors: [deploymentSelector], placement: { replicaScheduling: {} } } }],
  [api.ClusterPropagationPolicy, { spec: { resourceSelectors: [deploymentSelector] } }],
  [
    api.OverridePolicy,
    {
      spec: {
        resourceSelectors: [deploymentSelector],
        overrideRules: [{ overriders: { labelsOverrider: [{ operator: "add", value: { a: "b" } }] } }],
      },
    },
  ],
  [api.ClusterOverridePolicy, { spec: {} }],
  [api.ClusterTaintPolicy, { spec: { taints: [{ key: "a", effect: "NoSchedule" }] } }],
  [api.WorkloadRebalancer, { spec: { workloads: [{ apiVersion: "apps/v1", kind: "Deployment", name: "web" }] } }],
  [api.ResourceBinding, { spec: { resource: { apiVersion: "apps/v1", kind: "Deployment", name: "web" } } }],
  [
    api.ClusterResourceBinding,
    { spec: { resource: { apiVersion: "rbac.authorization.k8s.io/v1", kind: "ClusterRole", name: "viewer" } } },
  ],
  [api.Work, { spec: {} }],
  [
    api.ResourceInterpreterCustomization,
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
    api.ResourceInterpreterWebhookConfiguration,
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
  [api.CloneSet, { spec: workload }],
  [api.AdvancedStatefulSet, { spec: workload }],
  [api.AdvancedDaemonSet, { spec: workload }],
  [
    api.SidecarSet,
    { spec: { selector: { matchLabels: { app: "web" } }, containers: [{ name: "log", image: "log:1" }] } },
  ],
  [
    api.UnitedDeployment,
    {
      spec: {
        replicas: 1,
        selector: workload["selector"],
        template: { deploymentTemplate: { metadata: { labels: { app: "web" } }, spec: workload } },
        topology: { subsets: [{ name: "a" }] },
      },
    } as JsonObject,
  ],
  [api.BroadcastJob, { spec: { template: jobTemplate } }],
  [api.PodUnavailableBudget, { spec: { maxUnavailable: 1, selector: { matchLabels: { app: "web" } } } }],
  [api.ManagedCluster, { spec: { managedClusterClientConfigs: [{ url: "https://web.example.com" }] } }],
  [api.ManagedClusterSet, { spec: {} }],
  [api.ManagedClusterSetBinding, { spec: { clusterSet: "web" } }],
  [
    api.OcmPlacement,
    {
      spec: {
        predicates: [
          { requiredClusterSelector: { celSelector: { celExpressions: ["managedCluster.metadata.name != ''"] } } },
        ],
      },
    },
  ],
  [api.PlacementDecision, {}],
  [api.AddOnPlacementScore, {}],
  [api.ManifestWork, { spec: manifestWork }],
  [api.ManifestWorkReplicaSet, { spec: { manifestWorkTemplate: manifestWork, placementRefs: [{ name: "all" }] } }],
  [api.ClusterClaim, { spec: { value: "a" } }],
  [api.AppliedManifestWork, { spec: { hubHash: "abc", manifestWorkName: "web" } }],
  [api.Workflow, { spec: { entrypoint: "main", templates: [{ name: "main", container: { image: "web:1" } }] } }],
]);

export const kinds: readonly Kind[] = [...fields.keys()];

export function minimalObject(kind: Kind): JsonObject {
  const apiVersion = api.formatApiVersion(kind.group, kind.storageVersion);
  const name = kind.kind === "CustomResourceDefinition" ? "teapots.example.com" : "web";
  return {
    apiVersion,
    kind: kind.kind,
    metadata: {
      name,
      uid: "00000000-0000-4000-8000-000000000001",
      ...(kind.scope === "Namespaced" && { namespace: "shop" }),
    },
    ...fields.get(kind),
  };
}
