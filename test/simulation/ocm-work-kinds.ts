/** One manifest of many kinds, as users write them: servers default missing fields, and normalize values. */
import { omitZero } from "@flotilla/base";
import { parseApiVersion } from "@flotilla/apimachinery";
import type { KubernetesObject } from "@flotilla/apimachinery";
import type { ManifestConfigOption } from "@flotilla/ocm";
import type { JsonObject } from "@flotilla/base";

const meta = (name: string, namespace: string | undefined = "default"): JsonObject => ({
  name,
  ...omitZero({ namespace }),
  labels: { app: "kinds" },
  creationTimestamp: null,
});
const selector = { matchLabels: { app: "kinds" } };
const template = {
  metadata: { labels: { app: "kinds" }, creationTimestamp: null },
  spec: {
    containers: [
      {
        name: "web",
        image: "web:1",
        ports: [{ containerPort: 80 }],
        resources: { requests: { cpu: "0.1", memory: "1024Mi" }, limits: { cpu: "1000m" } },
      },
    ],
  },
} as unknown as JsonObject;
const job = { template: { spec: { restartPolicy: "Never", containers: [{ name: "once", image: "once:1" }] } } };

export const manifestsOfManyKinds: JsonObject[] = [
  {
    apiVersion: "v1",
    kind: "Service",
    metadata: meta("kinds"),
    spec: { selector: { app: "kinds" }, ports: [{ port: 80 }] },
  },
  { apiVersion: "v1", kind: "ServiceAccount", metadata: meta("kinds") },
  { apiVersion: "v1", kind: "ConfigMap", metadata: meta("kinds"), data: { a: "1" }, binaryData: { b: "AQI=" } },
  { apiVersion: "v1", kind: "Secret", metadata: meta("kinds"), stringData: { a: "x" } },
  {
    apiVersion: "v1",
    kind: "PersistentVolumeClaim",
    metadata: meta("kinds"),
    spec: { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "1024Mi" } } },
  },
  {
    apiVersion: "v1",
    kind: "ResourceQuota",
    metadata: meta("kinds"),
    spec: { hard: { "requests.cpu": "1000m", pods: "100" } },
  },
  {
    apiVersion: "v1",
    kind: "LimitRange",
    metadata: meta("kinds"),
    spec: { limits: [{ type: "PersistentVolumeClaim", max: { storage: "2048Mi" } }] },
  },
  {
    apiVersion: "rbac.authorization.k8s.io/v1",
    kind: "Role",
    metadata: meta("kinds"),
    rules: [{ apiGroups: [""], resources: ["pods"], verbs: ["get"] }],
  },
  {
    apiVersion: "rbac.authorization.k8s.io/v1",
    kind: "RoleBinding",
    metadata: meta("kinds"),
    subjects: [{ kind: "ServiceAccount", name: "kinds", namespace: "default" }],
    roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "Role", name: "kinds" },
  },
  {
    apiVersion: "rbac.authorization.k8s.io/v1",
    kind: "ClusterRole",
    metadata: meta("kinds", ""),
    rules: [{ apiGroups: [""], resources: ["pods"], verbs: ["get"] }],
  },
  {
    apiVersion: "apps/v1",
    kind: "StatefulSet",
    metadata: meta("kinds"),
    spec: {
      serviceName: "kinds",
      selector,
      template,
      volumeClaimTemplates: [
        {
          metadata: { name: "data" },
          spec: { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "1Gi" } } },
        },
      ],
    },
  },
  { apiVersion: "apps/v1", kind: "DaemonSet", metadata: meta("kinds"), spec: { selector, template } },
  {
    apiVersion: "apps/v1",
    kind: "Deployment",
    metadata: meta("kinds"),
    spec: { selector, template, strategy: { rollingUpdate: { maxSurge: "25%" } } },
  },
  { apiVersion: "batch/v1", kind: "Job", metadata: meta("kinds"), spec: job },
  {
    apiVersion: "batch/v1",
    kind: "CronJob",
    metadata: meta("kinds"),
    spec: { schedule: "0 0 1 1 *", jobTemplate: { spec: job } },
  },
  {
    apiVersion: "networking.k8s.io/v1",
    kind: "NetworkPolicy",
    metadata: meta("kinds"),
    spec: { podSelector: {}, policyTypes: ["Ingress"] },
  },
  {
    apiVersion: "networking.k8s.io/v1",
    kind: "Ingress",
    metadata: meta("kinds"),
    spec: {
      rules: [
        {
          host: "web.example.com",
          http: {
            paths: [{ path: "/", pathType: "Prefix", backend: { service: { name: "kinds", port: { number: 80 } } } }],
          },
        },
      ],
    },
  },
  {
    apiVersion: "policy/v1",
    kind: "PodDisruptionBudget",
    metadata: meta("kinds"),
    spec: { minAvailable: 1, selector },
  },
  {
    apiVersion: "autoscaling/v2",
    kind: "HorizontalPodAutoscaler",
    metadata: meta("kinds"),
    spec: {
      scaleTargetRef: { apiVersion: "apps/v1", kind: "Deployment", name: "other" },
      maxReplicas: 3,
      metrics: [
        { type: "Resource", resource: { name: "cpu", target: { type: "Utilization", averageUtilization: 80 } } },
      ],
    },
  },
  { apiVersion: "scheduling.k8s.io/v1", kind: "PriorityClass", metadata: meta("kinds", ""), value: 5 },
  {
    apiVersion: "storage.k8s.io/v1",
    kind: "StorageClass",
    metadata: meta("kinds", ""),
    provisioner: "example.dev/none",
  },
  {
    apiVersion: "apiextensions.k8s.io/v1",
    kind: "CustomResourceDefinition",
    metadata: meta("gadgets.example.dev", ""),
    spec: {
      group: "example.dev",
      scope: "Namespaced",
      names: { plural: "gadgets", kind: "Gadget" },
      versions: [
        {
          name: "v1",
          served: true,
          storage: true,
          schema: {
            openAPIV3Schema: {
              type: "object",
              properties: { spec: { type: "object", properties: { size: { type: "integer", default: 1 } } } },
            },
          },
        },
      ],
    },
  },
  { apiVersion: "example.dev/v1", kind: "Gadget", metadata: meta("kinds"), spec: {} },
];

/** Irregular plurals. */
const PLURALS: Readonly<Record<string, string>> = {
  Ingress: "ingresses",
  StorageClass: "storageclasses",
  PriorityClass: "priorityclasses",
  NetworkPolicy: "networkpolicies",
};

/** One strategy for all of them. */
export function allOfThem(type: "Update" | "ServerSideApply"): { manifestConfigs: ManifestConfigOption[] } {
  const manifestConfigs = (manifestsOfManyKinds as unknown as KubernetesObject[]).map(
    ({ apiVersion, kind, metadata: { name, namespace = "" } }) => ({
      resourceIdentifier: {
        group: parseApiVersion(apiVersion).group,
        resource: PLURALS[kind] ?? `${kind.toLowerCase()}s`,
        namespace,
        name,
      },
      updateStrategy: { type },
    }),
  );
  return { manifestConfigs };
}
