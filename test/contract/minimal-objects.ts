/**
 * The minimal valid object of each kind, in its storage version. A new kind is covered by the
 * suites through the `example` of its definition; kinds that have no definition yet are listed here.
 */
import { ocmDefinitions } from "@flotilla/ocm";
import {
  AdvancedDaemonSet,
  AdvancedStatefulSet,
  BroadcastJob,
  CloneSet,
  PodUnavailableBudget,
  SidecarSet,
  UnitedDeployment,
} from "@flotilla/openkruise";
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
  isServed,
} from "@flotilla/kubernetes";
import { karmadaDefinitions } from "@flotilla/karmada";
import { LogicalCluster } from "@flotilla/apiserver";
import { argoDefinitions } from "@flotilla/argo";
import { formatApiVersion } from "@flotilla/apimachinery";
import type { Kind } from "@flotilla/apimachinery";
import type { JsonObject } from "@flotilla/base";

const template: JsonObject = {
  metadata: { labels: { app: "web" } },
  spec: { containers: [{ name: "web", image: "web:1" }] },
};
const workload: JsonObject = { selector: { matchLabels: { app: "web" } }, template };
const jobTemplate: JsonObject = { spec: { restartPolicy: "Never", containers: [{ name: "web", image: "web:1" }] } };
const roleRef: JsonObject = { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name: "view" };
/** For the user `tester`, signed with a discarded Ed25519 key. */
const CERTIFICATE_REQUEST =
  "LS0tLS1CRUdJTiBDRVJUSUZJQ0FURSBSRVFVRVNULS0tLS0KTUlHUU1FUUNBUUF3RVRFUE1BMEdBMVVFQXd3R2RHVnpkR1Z5TUNvd0JRWURLMlZ3QXlFQU5qc3hQUCtxbFNuKwp2WEVsQWNnR0xkUlJobEN0ajlGYjRuODI3YTlFbi9PZ0FEQUZCZ01yWlhBRFFRQ01UbXdXSEFvSU5jMkZJbVBKCjFuYmZWZzZsQ2VDdEE1UFQyUmVnUmphNFE2VVMzUFJ4UE0zdGZBNnFzaWloZ1QyaGFYS1VmNUhjc1hoK2xscDAKTFdzRgotLS0tLUVORCBDRVJUSUZJQ0FURSBSRVFVRVNULS0tLS0K";

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
  [CloneSet, { spec: workload }],
  [AdvancedStatefulSet, { spec: workload }],
  [AdvancedDaemonSet, { spec: workload }],
  [SidecarSet, { spec: { selector: { matchLabels: { app: "web" } }, containers: [{ name: "log", image: "log:1" }] } }],
  [
    UnitedDeployment,
    {
      spec: {
        replicas: 1,
        selector: workload["selector"],
        template: { deploymentTemplate: { metadata: { labels: { app: "web" } }, spec: workload } },
        topology: { subsets: [{ name: "a" }] },
      },
    } as JsonObject,
  ],
  [BroadcastJob, { spec: { template: jobTemplate } }],
  [PodUnavailableBudget, { spec: { maxUnavailable: 1, selector: { matchLabels: { app: "web" } } } }],
]);

const examples = new Map(
  [...karmadaDefinitions, ...ocmDefinitions, ...argoDefinitions].flatMap(({ kind, example }) =>
    isServed(kind) && example ? [[kind, example] as const] : [],
  ),
);

export const kinds: readonly Kind[] = [...fields.keys(), ...examples.keys()];

const UID = "00000000-0000-4000-8000-000000000001";

export function minimalObject(kind: Kind): JsonObject {
  const example = examples.get(kind);
  if (example) return { ...example, metadata: { ...example.metadata, uid: UID } } as unknown as JsonObject;
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
