/** What a logical cluster starts with: the kinds that it serves and the objects that are there from the beginning. */
import {
  Cluster,
  ClusterOverridePolicy,
  ClusterPropagationPolicy,
  ClusterResourceBinding,
  ClusterTaintPolicy,
  OCM_AGENT_NAMESPACE,
  OCM_HUB_NAMESPACE,
  OCM_NAMESPACE,
  OverridePolicy,
  PropagationPolicy,
  ResourceBinding,
  ResourceInterpreterCustomization,
  ResourceInterpreterWebhookConfiguration,
  Work,
  Workflow,
  WorkloadRebalancer,
  apiServerService,
  bootstrapRbac,
  kruiseKinds,
  kubernetesKinds,
  logicalClusterKind,
  ocmHubKinds,
  ocmMemberKinds,
  systemPriorityClasses,
} from "../../api/index.ts";
import type { ConnectHandler, Kind, KubernetesObject, Namespace } from "../../api/index.ts";
import { HUB } from "../../apiserver/index.ts";
import type { Profile } from "../../apiserver/index.ts";
import { methodNotAllowed, pathNotFound } from "../../machinery/index.ts";
import {
  clusterManagerLayer,
  KARMADA_NAMESPACE,
  karmadaLayer,
  klusterletLayer,
  kruiseLayer,
  kruiseNamespace,
  metricsKinds,
  nodeLayer,
  standardStorageClass,
} from "../../simulation/index.ts";
import { explanationKinds } from "../../explain/index.ts";
import { clusterProxyAdministrators } from "../../membership/index.ts";
import {
  bootstrapAccess,
  defaultServiceAccount,
  rootCertificateConfigMap,
  tokenTrackingConfigMap,
} from "../../system/index.ts";

const CLUSTER_NAMESPACES = ["default", "kube-system", "kube-public", "kube-node-lease"];

/** Workloads of other projects: members run them, and the hub holds their templates. */
const WORKLOAD_KINDS: readonly Kind[] = [...kruiseKinds, Workflow];

export interface ProfileOptions {
  /** PEM; empty leaves it out. */
  rootCertificate: string;
  /** The day on which this server began to note when tokens in Secrets are used. */
  startedOn: string;
  clusterKubeconfig?(cluster: string): Promise<string>;
  /** The API of a member through its Cluster; unset leaves the subresource out. */
  clusterProxy?: ConnectHandler;
  /** Why things are where they are, by the name of the binding; unset leaves it out. */
  explanation?: Parameters<typeof explanationKinds>[0];
  /** How many simulated nodes every member has, and since when. */
  nodes?: number;
  nowMs?: number;
  /**
   * What pods and nodes of members use; asked when somebody reads it. Unset: nothing runs there, so there is no storage
   * driver either.
   */
  metrics?: Parameters<typeof metricsKinds>[0];
}

function kubeconfigHandler(kubeconfigOf: (cluster: string) => Promise<string>): ConnectHandler {
  return async ({ cluster, name, method }) => {
    // Only who is known to the hub may ask: elsewhere the same path would hand out what that cluster's users have no
    // right to.
    if (cluster !== HUB) throw pathNotFound();
    if (method !== "GET") throw methodNotAllowed();
    return {
      status: 200,
      headers: { "content-type": "application/yaml", "cache-control": "no-store" },
      body: new TextEncoder().encode(await kubeconfigOf(name)),
    };
  };
}

/**
 * A kind is listed here only when its controller works; docs/compatibility.md says what is missing. What controllers
 * put into every namespace is there from the start, so that an empty cluster stores nothing.
 */
export function createProfiles({
  rootCertificate,
  startedOn,
  clusterKubeconfig,
  clusterProxy,
  explanation,
  nodes = 0,
  nowMs = 0,
  metrics,
}: ProfileOptions): Record<"hub" | "member" | "member-bare" | "empty", Profile> {
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
  const shared = [...bootstrapRbac(), ...systemPriorityClasses(), tokenTrackingConfigMap(startedOn)];
  // No traffic flows through simulated clusters, so it matters that the server's Service is there, not where it leads.
  const apiServer = apiServerService({ address: "127.0.0.1", port: 6443 }, `${startedOn}T00:00:00Z`);
  const memberBare: Profile = {
    builtIns: kubernetesKinds,
    customs: [],
    objects: [...namespaces(...CLUSTER_NAMESPACES), ...apiServer, ...shared],
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
      podsAreTemplates: true,
      builtIns: [
        ...kubernetesKinds,
        clusterProxy
          ? { ...Cluster, subresources: { ...Cluster.subresources, connect: { proxy: clusterProxy } } }
          : Cluster,
        logicalClusterKind(clusterKubeconfig && kubeconfigHandler(clusterKubeconfig)),
        ...(explanation ? explanationKinds(explanation) : []),
      ],
      customs: [
        PropagationPolicy,
        ClusterPropagationPolicy,
        OverridePolicy,
        ClusterOverridePolicy,
        ClusterTaintPolicy,
        ResourceBinding,
        ClusterResourceBinding,
        Work,
        WorkloadRebalancer,
        ResourceInterpreterCustomization,
        ResourceInterpreterWebhookConfiguration,
        ...ocmHubKinds,
        ...WORKLOAD_KINDS,
      ],
      // The administrator's certificate and token both say `admin`.
      objects: [
        ...namespaces(...CLUSTER_NAMESPACES, KARMADA_NAMESPACE, "karmada-cluster", OCM_NAMESPACE, OCM_HUB_NAMESPACE),
        ...karmadaLayer({ nowMs }),
        ...clusterManagerLayer({ nowMs }),
        ...apiServer,
        ...shared,
        ...clusterProxyAdministrators(["admin"]),
        ...bootstrapAccess(),
      ],
    },
    // OpenKruise keeps the history of SidecarSets in its own namespace.
    member: {
      ...simulated,
      customs: [...WORKLOAD_KINDS, ...ocmMemberKinds],
      objects: [...simulated.objects, ...namespaces(kruiseNamespace()), ...kruiseLayer({ nodes, nowMs })],
    },
    "member-bare": { ...simulated, customs: ocmMemberKinds },
    empty: memberBare,
  };
}
