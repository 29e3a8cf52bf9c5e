/** Nodes, kubelets, scheduler and storage of the simulated members: one set of controllers serves all of them. */
import type { ObjectSource, Pod } from "../api/index.ts";
import type { Clock, DeepReadonly } from "../base/index.ts";
import type { Client, ObjectKey } from "../client/index.ts";
import type { Controller, EventRecorders, Informers } from "../runtime/index.ts";
import type { ComponentLogs } from "./components/component-logs.ts";
import { withComponentLogs } from "./components/component-runtime.ts";
import { KRUISE_NAMESPACE } from "./components/kruise-manifests.ts";
import { createPodAddresses } from "./kubelet/addresses.ts";
import { createContainerConfig } from "./kubelet/config.ts";
import type { ContainerHashes } from "./kubelet/container-meta.ts";
import { createKubeletController } from "./kubelet/kubelet-controller.ts";
import type { KubeletTimes } from "./kubelet/kubelet-controller.ts";
import { createSimulatedRuntime } from "./logs.ts";
import type { SimulatedRuntime } from "./logs.ts";
import { createMetricsSources } from "./metrics/kinds.ts";
import { usageOf } from "./metrics/usage.ts";
import type { PodUsage } from "./metrics/usage.ts";
import { createNodeEvictionController } from "./nodes/eviction-controller.ts";
import { createNodeLifecycleController } from "./nodes/lifecycle-controller.ts";
import type { NodeTimes } from "./nodes/lifecycle-controller.ts";
import { ensureNodes } from "./nodes/nodes.ts";
import type { NodeOptions } from "./nodes/nodes.ts";
import { bindByBinding, bindByUpdate } from "./placement/binding.ts";
import { createPlacementController } from "./placement/placement-controller.ts";
import { createClusterViews } from "./placement/views.ts";
import { createClaimController } from "./volumes/claim-controller.ts";
import { createEphemeralVolumeController } from "./volumes/ephemeral-controller.ts";
import { createVolumeReads } from "./volumes/reads.ts";
import { createVolumeController } from "./volumes/volume-controller.ts";

export { createComponentLogs, type ComponentLogs } from "./components/component-logs.ts";
export { componentsAlone, withComponentLogs } from "./components/component-runtime.ts";
export { KARMADA_CONTROLLER_MANAGER, KARMADA_SCHEDULER, karmadaLayer } from "./components/karmada-layer.ts";
export { createKruiseInstallController } from "./components/install-controller.ts";
export { kruiseLayer, nodeLayer } from "./components/kruise-layer.ts";
export { MANAGER as KRUISE_MANAGER, kruiseNamespace } from "./components/kruise-manifests.ts";
export { CLUSTER_MANAGER, clusterManagerLayer, KLUSTERLET, klusterletLayer } from "./components/ocm-layer.ts";
export type { ContainerHashes } from "./kubelet/container-meta.ts";
export type { KubeletTimes } from "./kubelet/kubelet-controller.ts";
export { createDistantInformers } from "./network/distant-informers.ts";
export { callThroughNetwork, throughNetwork } from "./network/hub-to-members.ts";
export { createMemberNetwork } from "./network/member-network.ts";
export { throughAgentNetwork } from "./network/members-to-hub.ts";
export type { NodeOptions } from "./nodes/nodes.ts";
export { metricsKinds } from "./metrics/kinds.ts";
export { standardStorageClass } from "./volumes/storage-class.ts";

export interface SimulationDependencies {
  client: Client;
  /** The informers of the member clusters, without the hub. */
  informers: Informers;
  clock: Clock;
  times?: Partial<KubeletTimes & NodeTimes>;
  /** Unset emits no events. */
  events?: EventRecorders;
  /** The API server is in another process, so it applies the rules for external schedulers. */
  isElsewhere?: boolean;
  /** OpenKruise's container hashes; unset disables the simulation of its node daemon. */
  hashes?: ContainerHashes;
  /** Log lines of the parts of this process, for the pods that represent them; unset shows none. */
  componentLogs?: ComponentLogs;
}

export interface Simulation {
  controllers: Controller<ObjectKey>[];
  /** Serves logs and commands of the containers. */
  runtime: SimulatedRuntime;
  /** The sources of `metrics.k8s.io`; see `metricsKinds`. */
  metrics: { pods: ObjectSource; nodes: ObjectSource };
  /** The resource usage of a pod; undefined for one that is not running. */
  podUsage(cluster: string, pod: DeepReadonly<Pod>): PodUsage | undefined;
  /** Creates the missing nodes of a member. */
  ensureNodes(cluster: string, count: number, options?: NodeOptions, signal?: AbortSignal): Promise<void>;
}

/** Call it once per set of informers, because it adds indexes to them. */
export function createSimulation(deps: SimulationDependencies): Simulation {
  const { informers, hashes, times, events: recorders } = deps;
  const views = createClusterViews(informers);
  const volumes = createVolumeReads(informers);
  const storage = { ...deps, volumes, events: recorders?.("persistentvolume-controller") };
  const lifecycle = { ...deps, views, events: recorders?.("node-controller") };
  return {
    controllers: [
      createPlacementController({
        ...deps,
        bind: deps.isElsewhere ? bindByBinding(deps.client) : bindByUpdate(deps.client),
        views,
        volumes,
        events: recorders?.("default-scheduler"),
      }),
      createKubeletController({
        ...deps,
        views,
        addresses: createPodAddresses(informers),
        config: createContainerConfig(informers),
        hashes,
        times,
        events: recorders?.("kubelet"),
      }),
      createNodeLifecycleController(lifecycle),
      createNodeEvictionController({ ...deps, views, events: recorders?.("taint-eviction-controller") }),
      createClaimController(storage),
      createVolumeController(storage),
      createEphemeralVolumeController(storage),
    ],
    runtime: deps.componentLogs
      ? withComponentLogs(createSimulatedRuntime(deps), deps.componentLogs, KRUISE_NAMESPACE)
      : createSimulatedRuntime(deps),
    metrics: createMetricsSources({ ...deps, views }),
    podUsage: (_cluster, pod) => usageOf(pod),
    ensureNodes: (cluster, count, options, signal) => ensureNodes(deps, cluster, count, options, signal),
  };
}
