/** The programs of an installation: what runs them, protects them, and lets the API server reach them. Pure. */
import { AUTOMANAGED, HOSTNAME_LABEL } from "@flotilla/kubernetes";
import type { JsonObject } from "@flotilla/base";
import {
  CONTROLLERS_METRICS_PORT,
  CONTROLLERS_NAME,
  INSTALLED_LABELS,
  STORED_CLUSTERS,
  WEBHOOKS_METRICS_PORT,
  WEBHOOKS_NAME,
  WEBHOOKS_PORT,
} from "./install-names.ts";
import type { WorkloadProject } from "./plan-definitions.ts";

export interface ProgramOptions {
  namespace: string;
  projects: readonly WorkloadProject[];
  /** Unset: the programs run elsewhere, at `address`. */
  image?: string | undefined;
  replicas: number;
  /** Where the webhooks are served, if not by pods of this installation. */
  address?: { host: string; port: number } | undefined;
}

const SERVICE_PORT = 443;

/** The port under which webhooks are called. A Service for another host has no ports of its own. */
export const servicePort = ({ address }: Pick<ProgramOptions, "address">): number => address?.port ?? SERVICE_PORT;

export function planPrograms(options: ProgramOptions): JsonObject[] {
  const { namespace, image, replicas } = options;
  return [
    planService(options),
    ...(image === undefined
      ? []
      : [
          deployment({
            namespace,
            image,
            replicas,
            name: WEBHOOKS_NAME,
            container: "webhooks",
            args: [
              "webhooks",
              "--in-cluster",
              `--namespace=${namespace}`,
              `--port=${WEBHOOKS_PORT}`,
              "--bind-address=0.0.0.0",
              `--workloads=${options.projects.join(",") || "none"}`,
              `--metrics-address=0.0.0.0:${WEBHOOKS_METRICS_PORT}`,
              "--log-format=json",
              "--log-level=info",
            ],
            ports: [
              { name: "https", containerPort: WEBHOOKS_PORT },
              { name: "metrics", containerPort: WEBHOOKS_METRICS_PORT },
            ],
          }),
          deployment({
            namespace,
            image,
            replicas,
            name: CONTROLLERS_NAME,
            container: "controllers",
            args: [
              "controllers",
              "--in-cluster",
              `--metrics-address=0.0.0.0:${CONTROLLERS_METRICS_PORT}`,
              "--log-format=json",
              "--log-level=info",
            ],
            ports: [{ name: "metrics", containerPort: CONTROLLERS_METRICS_PORT }],
          }),
          ...[WEBHOOKS_NAME, CONTROLLERS_NAME].flatMap((name) => [
            disruptionBudget(namespace, name),
            networkPolicy(namespace, name),
          ]),
        ]),
  ];
}

function planService({ namespace, address }: ProgramOptions): JsonObject {
  return {
    apiVersion: "v1",
    kind: "Service",
    metadata: { name: WEBHOOKS_NAME, namespace, labels: { ...INSTALLED_LABELS } },
    spec: address
      ? { type: "ExternalName", externalName: address.host }
      : {
          selector: selectorOf(WEBHOOKS_NAME),
          // Each process keeps the decisions that it received: one API server sends them to one process.
          sessionAffinity: "ClientIP",
          ports: [{ name: "https", port: SERVICE_PORT, targetPort: "https" }],
        },
  };
}

const selectorOf = (name: string): JsonObject => ({ "app.kubernetes.io/name": name });

interface Program {
  namespace: string;
  name: string;
  container: string;
  image: string;
  replicas: number;
  args: string[];
  ports: JsonObject[];
}

function deployment(program: Program): JsonObject {
  const { namespace, name, container, image, replicas, args, ports } = program;
  const labels = { ...INSTALLED_LABELS, ...selectorOf(name) };
  const probe = (path: string, periodSeconds: number, failureThreshold: number): JsonObject => ({
    httpGet: { path, port: "metrics" },
    periodSeconds,
    failureThreshold,
  });
  return {
    apiVersion: "apps/v1",
    kind: "Deployment",
    metadata: { name, namespace, labels },
    spec: {
      replicas,
      selector: { matchLabels: selectorOf(name) },
      strategy: { rollingUpdate: { maxUnavailable: 0, maxSurge: 1 } },
      template: {
        metadata: { labels },
        spec: {
          serviceAccountName: name,
          securityContext: {
            runAsNonRoot: true,
            runAsUser: 1000,
            runAsGroup: 1000,
            seccompProfile: { type: "RuntimeDefault" },
          },
          topologySpreadConstraints: [
            {
              maxSkew: 1,
              topologyKey: HOSTNAME_LABEL,
              whenUnsatisfiable: "ScheduleAnyway",
              labelSelector: { matchLabels: selectorOf(name) },
            },
          ],
          // Nothing is created or scheduled there without them.
          priorityClassName: "system-cluster-critical",
          terminationGracePeriodSeconds: 30,
          containers: [
            {
              name: container,
              image,
              args,
              ports,
              livenessProbe: probe("/healthz", 10, 6),
              readinessProbe: probe("/readyz", 5, 3),
              resources: { requests: { cpu: "250m", memory: "512Mi" }, limits: { memory: "2Gi" } },
              securityContext: {
                allowPrivilegeEscalation: false,
                readOnlyRootFilesystem: true,
                capabilities: { drop: ["ALL"] },
              },
            },
          ],
        },
      },
    },
  };
}

const disruptionBudget = (namespace: string, name: string): JsonObject => ({
  apiVersion: "policy/v1",
  kind: "PodDisruptionBudget",
  metadata: { name, namespace, labels: { ...INSTALLED_LABELS } },
  spec: { maxUnavailable: 1, selector: { matchLabels: selectorOf(name) } },
});

/** API servers call from addresses of nodes, which no selector names; so ports are what is restricted. */
const networkPolicy = (namespace: string, name: string): JsonObject => ({
  apiVersion: "networking.k8s.io/v1",
  kind: "NetworkPolicy",
  metadata: { name, namespace, labels: { ...INSTALLED_LABELS } },
  spec: {
    podSelector: { matchLabels: selectorOf(name) },
    policyTypes: ["Ingress"],
    ingress: [
      {
        ports: [
          ...(name === WEBHOOKS_NAME ? [{ port: "https", protocol: "TCP" }] : []),
          { port: "metrics", protocol: "TCP" },
        ],
      },
    ],
  },
});

/** API groups that the process of the webhooks answers instead of the API server. */
export const AGGREGATED_GROUPS = [
  { group: "cluster.karmada.io", version: "v1alpha1" },
  { group: "flotilla.dev", version: "v1alpha1" },
] as const;

/**
 * Above the version `stored`, which has the priority of all CustomResourceDefinitions: commands that name no version use
 * the one that has the proxy.
 */
const VERSION_PRIORITY = 200;
const GROUP_PRIORITY = 2000;

/** Kubernetes makes an APIService for every CustomResourceDefinition, and writes it unless this label says otherwise. */
const NOT_AUTOMATIC = { [AUTOMANAGED]: "false" };

export function planApiServices({ namespace, address }: Pick<ProgramOptions, "namespace" | "address">): JsonObject[] {
  return AGGREGATED_GROUPS.map(({ group, version }) => ({
    apiVersion: "apiregistration.k8s.io/v1",
    kind: "APIService",
    metadata: { name: `${version}.${group}`, labels: { ...INSTALLED_LABELS, ...NOT_AUTOMATIC } },
    spec: {
      group,
      version,
      groupPriorityMinimum: GROUP_PRIORITY,
      versionPriority: VERSION_PRIORITY,
      service: { namespace, name: WEBHOOKS_NAME, port: servicePort({ address }) },
    },
  }));
}

/** Versions of Clusters that only the API server of the cluster serves. */
export const storedVersionsOf = ({ group, kind }: { group: string; kind: string }): readonly string[] =>
  group === "cluster.karmada.io" && kind === "Cluster" ? [STORED_CLUSTERS] : [];
