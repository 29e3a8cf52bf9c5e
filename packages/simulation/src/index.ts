export { createComponentLogs } from "./components/component-logs.ts";
export type { ComponentLogs } from "./components/component-logs.ts";
export { componentsAlone, withComponentLogs } from "./components/component-runtime.ts";
export { controllerComponents } from "./components/controller-components.ts";
export { createKruiseInstallController } from "./components/install-controller.ts";
export {
  KARMADA_CONTROLLER_MANAGER,
  KARMADA_SCHEDULER,
  KARMADA_WEBHOOK,
  karmadaLayer,
} from "./components/karmada-layer.ts";
export { kruiseLayer, nodeLayer } from "./components/kruise-layer.ts";
export { MANAGER, kruiseNamespace } from "./components/kruise-manifests.ts";
export { CLUSTER_MANAGER, KLUSTERLET, clusterManagerLayer, klusterletLayer } from "./components/ocm-layer.ts";
export { createSimulation } from "./create-simulation.ts";
export type { Simulation, SimulationDependencies } from "./create-simulation.ts";
export type { ContainerHashes } from "./kubelet/container-meta.ts";
export type { KubeletTimes } from "./kubelet/kubelet-controller.ts";
export { metricsKinds } from "./metrics/kinds.ts";
export { createDistantInformers } from "./network/distant-informers.ts";
export { callThroughNetwork, throughNetwork } from "./network/hub-to-members.ts";
export { createMemberNetwork } from "./network/member-network.ts";
export type { MemberNetwork } from "./network/member-network.ts";
export { throughAgentNetwork } from "./network/members-to-hub.ts";
export type { NodeOptions } from "./nodes/nodes.ts";
export { standardStorageClass } from "./volumes/storage-class.ts";
export type { Bind } from "./placement/binding.ts";
