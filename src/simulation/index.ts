export { createComponentLogs, type ComponentLogs } from "./components/component-logs.ts";
export { componentsAlone, withComponentLogs } from "./components/component-runtime.ts";
export { KARMADA_CONTROLLER_MANAGER, KARMADA_SCHEDULER, karmadaLayer } from "./components/karmada-layer.ts";
export { createKruiseInstallController } from "./components/install-controller.ts";
export { kruiseLayer, nodeLayer } from "./components/kruise-layer.ts";
export {
  DAEMON as KRUISE_DAEMON,
  KRUISE_NAMESPACE,
  MANAGER as KRUISE_MANAGER,
  kruiseNamespace,
} from "./components/kruise-manifests.ts";
export { CLUSTER_MANAGER, clusterManagerLayer, KLUSTERLET, klusterletLayer } from "./components/ocm-layer.ts";
export type { ContainerHashes } from "./kubelet/container-meta.ts";
export type { KubeletTimes } from "./kubelet/kubelet-controller.ts";
export { createDistantInformers } from "./network/distant-informers.ts";
export { callThroughNetwork, throughNetwork } from "./network/hub-to-members.ts";
export { createMemberNetwork, type MemberNetwork } from "./network/member-network.ts";
export { throughAgentNetwork } from "./network/members-to-hub.ts";
export type { NodeTimes } from "./nodes/lifecycle-controller.ts";
export type { NodeOptions } from "./nodes/nodes.ts";
export { metricsKinds } from "./metrics/kinds.ts";
export type { PodUsage } from "./metrics/usage.ts";
export { standardStorageClass } from "./volumes/storage-class.ts";
export { createSimulation } from "./create-simulation.ts";
export type { SimulationDependencies, Simulation } from "./create-simulation.ts";
