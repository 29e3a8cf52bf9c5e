/** Wires what makes a simulated member run: nodes, scheduling, kubelets, volumes, metrics and components. */
import type { ObjectSource } from "@flotilla/apimachinery";
import type { Pod } from "@flotilla/kubernetes";
import type { Clock, DeepReadonly } from "@flotilla/base";
import type { Client, ObjectKey } from "@flotilla/client";
import type { Controller, EventRecorders, Informers } from "@flotilla/controller-runtime";
import type { ComponentLogs } from "./components/component-logs.ts";
import { withComponentLogs } from "./components/component-runtime.ts";
import { KRUISE_NAMESPACE } from "./components/kruise-manifests.ts";
import { createPodAddresses } from "./kubelet/pod-addresses.ts";
import { createContainerConfig } from "./kubelet/config.ts";
import type { ContainerHashes } from "./kubelet/container-meta.ts";
import { createKubeletController } from "./kubelet/kubelet-controller.ts";
import type { KubeletTimes } from "./kubelet/kubelet-controller.ts";
import { createSimulatedRuntime } from "./exec/logs.ts";
import type { SimulatedRuntime } from "./exec/logs.ts";
import { createMetricsSources } from "./metrics/kinds.ts";
import { createServiceLoad } from "./metrics/service-load.ts";
import { usageOf } from "./metrics/usage.ts";
import type { PodUsage } from "./metrics/usage.ts";
import { createNodeEvictionController } from "./nodes/eviction-controller.ts";
import { createHeartbeatController } from "./nodes/heartbeat-controller.ts";
import { createNodeLifecycleController } from "./nodes/lifecycle-controller.ts";
import type { NodeTimes } from "./nodes/lifecycle-controller.ts";
import { ensureNodes } from "./nodes/nodes.ts";
import type { NodeOptions } from "./nodes/nodes.ts";
import { bindByUpdate } from "./placement/binding.ts";
import type { Bind } from "./placement/binding.ts";
import { createPlacementController } from "./placement/placement-controller.ts";
import { createClusterViews } from "./placement/views.ts";
import { createClaimController } from "./volumes/claim-controller.ts";
import { createImagePullController } from "./daemon/image-pull-controller.ts";
import { createProbeController } from "./daemon/probe-controller.ts";
import { createRecreateController } from "./daemon/recreate-controller.ts";
import { createEphemeralVolumeController } from "./volumes/ephemeral-controller.ts";
import { createVolumeReads } from "./placement/volume-reads.ts";
import { createVolumeController } from "./volumes/volume-controller.ts";

export interface SimulationDependencies {
  client: Client;
  /** The informers of the member clusters, without the hub. */
  informers: Informers;
  clock: Clock;
  times?: Partial<KubeletTimes & NodeTimes>;
  /** Unset emits no events. */
  events?: EventRecorders;
  /** Whether a member has its own kube-controller-manager, which judges the health of nodes. */
  isManagedElsewhere?(cluster: string): boolean;
  /** Notifies about members that start to have one. */
  onManagedElsewhere?(listener: (cluster: string) => void): () => void;
  /** How pods get their node; unset is `bindByUpdate`. */
  bind?(client: Client): Bind;
  /** OpenKruise's container hashes; unset disables the simulation of its node daemon. */
  hashes?: ContainerHashes;
  /** Log lines of the parts of this process, for the pods that represent them; unset shows none. */
  componentLogs?: ComponentLogs;
}

export interface Simulation {
  /** By the program that does the same in a real cluster, which may run on a member instead. */
  parts: {
    scheduler: Controller<ObjectKey>[];
    /** Always simulated: nothing else can be the kubelet of a simulated node. */
    kubelets: Controller<ObjectKey>[];
    controllerManager: Controller<ObjectKey>[];
  };
  /** All of them. */
  controllers: Controller<ObjectKey>[];
  /** Renews the Leases of nodes where a kube-controller-manager reads them. */
  heartbeat: Controller<{ cluster: string }>;
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
  const loadOf = createServiceLoad(informers);
  const storage = { ...deps, volumes, events: recorders?.("persistentvolume-controller") };
  const lifecycle = { ...deps, views, events: recorders?.("node-controller") };
  const parts: Simulation["parts"] = {
    scheduler: [
      createPlacementController({
        ...deps,
        bind: (deps.bind ?? bindByUpdate)(deps.client),
        views,
        volumes,
        events: recorders?.("default-scheduler"),
      }),
    ],
    kubelets: [
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
      ...(hashes
        ? [
            createImagePullController({ ...deps, events: recorders?.("kruise-daemon-imagepuller") }),
            createRecreateController(deps),
            createProbeController({ ...deps, events: recorders?.("kruise-daemon-podprobe") }),
          ]
        : []),
    ],
    controllerManager: [
      createNodeEvictionController({ ...deps, views, events: recorders?.("taint-eviction-controller") }),
      createClaimController(storage),
      createVolumeController(storage),
      createEphemeralVolumeController(storage),
    ],
  };
  const { isManagedElsewhere = () => false, onManagedElsewhere = () => () => {} } = deps;
  return {
    parts,
    heartbeat: createHeartbeatController({ ...deps, views, isManagedElsewhere, onManagedElsewhere }),
    controllers: Object.values(parts).flat(),
    runtime: deps.componentLogs
      ? withComponentLogs(createSimulatedRuntime(deps), deps.componentLogs, KRUISE_NAMESPACE)
      : createSimulatedRuntime(deps),
    metrics: createMetricsSources({ ...deps, views, loadOf }),
    podUsage: (cluster, pod) => usageOf(pod, loadOf(cluster, pod)),
    ensureNodes: (cluster, count, options, signal) => ensureNodes(deps, cluster, count, options, signal),
  };
}
