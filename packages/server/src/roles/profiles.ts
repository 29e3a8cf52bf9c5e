/** The initial content of a logical cluster: the kinds it serves and its built-in objects. */
import { Cluster, KARMADA_CLUSTER_NAMESPACE, KARMADA_SYSTEM_NAMESPACE, karmadaDefinitions } from "@flotilla/karmada";
import { OCM_AGENT_NAMESPACE, OCM_HUB_NAMESPACE, OCM_NAMESPACE, ocmHubKinds, ocmMemberKinds } from "@flotilla/ocm";
import { argoDefinitions } from "@flotilla/argo";
import {
  apiServerService,
  serviceAddresses,
  bootstrapRbac,
  defaultServiceAccount,
  kubernetesKinds,
  rootCertificateConfigMap,
  servedKinds,
  controllerFlowSchemas,
  flowControlDefaults,
  systemPriorityClasses,
  tokenTrackingConfigMap,
  RBAC_API_VERSION,
  RBAC_GROUP,
} from "@flotilla/kubernetes";
import { createKubeconfigHandler } from "./kubeconfig-handler.ts";
import type { ClusterRole, Namespace } from "@flotilla/kubernetes";
import { kruiseKinds } from "@flotilla/openkruise";
import { clusterId, frontProxyName, kubeletClientName, logicalClusterKind } from "@flotilla/apiserver";
import type { ConnectHandler, Kind, KubernetesObject, ObjectSource } from "@flotilla/apimachinery";
import type { ClusterObject, Profile } from "@flotilla/apiserver";
import {
  clusterManagerLayer,
  karmadaLayer,
  klusterletLayer,
  kruiseLayer,
  kruiseNamespace,
  metricsKinds,
  nodeLayer,
  standardStorageClass,
} from "@flotilla/simulation";
import {
  FLOTILLA_GROUP,
  auditorRole,
  bootstrapAccess,
  clusterProxyAdministrators,
  decisionKind,
  explanationKinds,
  plannerRoles,
  rolloutKinds,
  rolloutRoles,
} from "@flotilla/flotilla";

const CLUSTER_NAMESPACES = ["default", "kube-system", "kube-public", "kube-node-lease"];

/** Workloads of other projects: members run them, and the hub stores their templates. */
const WORKLOAD_KINDS: readonly Kind[] = [...kruiseKinds, ...servedKinds(argoDefinitions)];

const KARMADA_KINDS = servedKinds(karmadaDefinitions);

/** A Cluster is also a proxy to the API of its member. */
const withProxy = (kind: Kind, proxy: ConnectHandler | undefined): Kind =>
  kind === Cluster && proxy ? { ...kind, subresources: { ...kind.subresources, connect: { proxy } } } : kind;

/** Profiles of clusters whose workload controllers run in the process of their server. */
export const isSimulatedProfile = (name: string | undefined): boolean => name === "member" || name === "member-bare";

const isClusterRole = (object: KubernetesObject): object is ClusterRole => object.kind === "ClusterRole";

export interface FrontProxyAuthorities {
  /** Signs the certificates with which this server calls aggregated servers. */
  ca: string;
  /** Signs the certificates of clients that aggregated servers accept directly: none. */
  clientCa: string;
}

export interface ProfileOptions {
  /** PEM; if empty, it is omitted. */
  rootCertificate: string;
  /** PEM of the CAs that aggregated servers trust; if unset, clusters do not publish them. */
  frontProxy?: FrontProxyAuthorities;
  /** The day on which this server started to record the use of tokens in Secrets. */
  startedOn: string;
  /** The port of this server, which is known once it listens. */
  port?(): number;
  clusterKubeconfig?(cluster: string, lifetimeMs: number): string;
  /** The API of a member through its Cluster; if unset, the subresource is omitted. */
  clusterProxy?: ConnectHandler;
  /** Explanations of placements, by binding name; omitted if unset. */
  explanation?: Parameters<typeof explanationKinds>[0];
  /** Decisions of the controllers; omitted if unset. */
  decisions?: ObjectSource;
  /** The number of simulated nodes per member, and their creation time. */
  nodes?: number;
  nowMs?: number;
  /**
   * Resource usage of pods and nodes, computed on request. If unset, nothing runs there, so there is no storage driver
   * either.
   */
  metrics?: Parameters<typeof metricsKinds>[0];
  /** The same on the hub, for all members together; omitted if unset. */
  fleetMetrics?: Parameters<typeof metricsKinds>[0];
}

/**
 * A kind is listed here only if its controller works; docs/compatibility.md lists what is missing. Objects that
 * controllers create in every namespace are built in, so that an empty cluster stores nothing.
 */
export function createProfiles(options: ProfileOptions): Record<"hub" | "member" | "member-bare" | "empty", Profile> {
  const {
    rootCertificate,
    frontProxy,
    startedOn,
    port = () => DEFAULT_PORT,
    clusterKubeconfig,
    clusterProxy,
    explanation,
    decisions,
    nodes = 0,
    nowMs = 0,
    metrics,
    fleetMetrics,
  } = options;
  const namespaces = (...given: (string | Namespace)[]): KubernetesObject[] =>
    given.flatMap((item) => {
      const namespace =
        typeof item === "string" ? { apiVersion: "v1", kind: "Namespace", metadata: { name: item } } : item;
      const { name } = namespace.metadata;
      return [
        namespace,
        defaultServiceAccount(name),
        ...(rootCertificate === "" ? [] : [rootCertificateConfigMap(name, rootCertificate)]),
      ];
    });
  const shared = [
    ...serviceAddresses(`${startedOn}T00:00:00Z`),
    ...bootstrapRbac(),
    ...systemPriorityClasses(),
    ...flowControlDefaults(`${startedOn}T00:00:00Z`),
    tokenTrackingConfigMap(startedOn),
  ];
  const clusterObjects = [
    ...apiServerObjects(port),
    ...(frontProxy ? [aggregationSettings(frontProxy), kubeletAccess()] : []),
  ];
  const memberBare: Profile = {
    clusterObjects,
    builtIns: kubernetesKinds,
    customs: [],
    objects: [...namespaces(...CLUSTER_NAMESPACES), ...shared],
  };
  // What a metrics server and a storage driver add to a real cluster.
  const simulated: Profile = metrics
    ? {
        ...memberBare,
        builtIns: [...kubernetesKinds, ...metricsKinds(metrics)],
        objects: [
          ...memberBare.objects,
          standardStorageClass(),
          ...nodeLayer({ nodes, nowMs }),
          ...namespaces(OCM_AGENT_NAMESPACE),
          ...klusterletLayer({ nodes, nowMs }),
        ],
      }
    : memberBare;
  return {
    hub: {
      clusterObjects,
      podsAreTemplates: true,
      builtIns: [
        ...kubernetesKinds,
        ...KARMADA_KINDS.filter(({ builtIn }) => builtIn).map((kind) => withProxy(kind, clusterProxy)),
        logicalClusterKind(clusterKubeconfig && createKubeconfigHandler(clusterKubeconfig)),
        ...(explanation ? explanationKinds(explanation) : []),
        ...(decisions ? [decisionKind(decisions)] : []),
        ...(fleetMetrics ? metricsKinds(fleetMetrics) : []),
      ],
      customs: [...KARMADA_KINDS.filter(({ builtIn }) => !builtIn), ...ocmHubKinds, ...rolloutKinds, ...WORKLOAD_KINDS],
      // The administrator's certificate and token both have the user `admin`.
      objects: [
        ...namespaces(
          ...CLUSTER_NAMESPACES,
          KARMADA_SYSTEM_NAMESPACE,
          KARMADA_CLUSTER_NAMESPACE,
          OCM_NAMESPACE,
          OCM_HUB_NAMESPACE,
        ),
        ...karmadaLayer({ nowMs }),
        ...clusterManagerLayer({ nowMs }),
        ...shared,
        ...controllerFlowSchemas("flotilla", FLOTILLA_GROUP, `${startedOn}T00:00:00Z`),
        ...clusterProxyAdministrators(["admin"]),
        ...bootstrapAccess(),
        auditorRole(),
        ...rolloutRoles(),
        ...plannerRoles(WORKLOAD_KINDS, bootstrapRbac().filter(isClusterRole)),
      ],
    },
    // OpenKruise keeps the history of SidecarSets in its own namespace.
    member: {
      ...simulated,
      customs: [...WORKLOAD_KINDS, ...ocmMemberKinds],
      objects: [...simulated.objects, ...namespaces(kruiseNamespace()), ...kruiseLayer({ nodes, nowMs })],
    },
    "member-bare": { ...simulated, customs: ocmMemberKinds },
    empty: { ...memberBare, hasForeignKinds: true },
  };
}

/** For a server that does not listen. */
const DEFAULT_PORT = 6443;

/** The Service of the API server with its endpoints: programs that know only a host and a port read it. */
function apiServerObjects(port: () => number): ClusterObject[] {
  const objects = (): KubernetesObject[] => apiServerService({ address: "127.0.0.1", port: port() });
  return objects().map((object, index) => ({
    object,
    fieldsOf: () => {
      const { apiVersion: _, kind: __, metadata: ___, ...fields } = { ...objects()[index] };
      return fields;
    },
  }));
}

/**
 * How aggregated servers recognize requests of this server: by a certificate that is for their cluster alone. Clients with
 * a certificate of their own are not accepted there, because one CA signs the clients of all logical clusters.
 */
function aggregationSettings({ ca, clientCa }: FrontProxyAuthorities): ClusterObject {
  return {
    object: EXTENSION_AUTHENTICATION,
    fieldsOf: (cluster) => ({
      data: {
        "client-ca-file": clientCa,
        "requestheader-allowed-names": JSON.stringify([frontProxyName(clusterId(cluster))]),
        "requestheader-client-ca-file": ca,
        "requestheader-extra-headers-prefix": '["X-Remote-Extra-"]',
        "requestheader-group-headers": '["X-Remote-Group"]',
        "requestheader-uid-headers": '["X-Remote-Uid"]',
        "requestheader-username-headers": '["X-Remote-User"]',
      },
    }),
  };
}

/** Kubelets ask the roles of their own cluster what this server may do; its name there is valid in that cluster alone. */
function kubeletAccess(): ClusterObject {
  return {
    object: {
      apiVersion: RBAC_API_VERSION,
      kind: "ClusterRoleBinding",
      metadata: { name: "flotilla:kubelet-client" },
    },
    fieldsOf: (cluster) => ({
      roleRef: { apiGroup: RBAC_GROUP, kind: "ClusterRole", name: "system:kubelet-api-admin" },
      subjects: [{ apiGroup: RBAC_GROUP, kind: "User", name: kubeletClientName(clusterId(cluster)) }],
    }),
  };
}

const EXTENSION_AUTHENTICATION: KubernetesObject = {
  apiVersion: "v1",
  kind: "ConfigMap",
  metadata: { name: "extension-apiserver-authentication", namespace: "kube-system" },
};
