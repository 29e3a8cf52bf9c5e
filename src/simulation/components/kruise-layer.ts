/**
 * What OpenKruise's workloads and the nodes look like on a member that is up, as objects of its profile: all members share them, and
 * an empty member stores none. They are exactly what the controllers would have made, so that these find nothing to do; what is
 * deleted or changed is theirs to make again. A test holds them to that.
 */
import type { ContainerStatus, ControllerRevision, DaemonSet, Deployment, KubernetesObject, Pod, PodSpec, PodTemplateSpec, ReplicaSet } from "../../api/index.ts";
import { formatTime } from "../../base/index.ts";
import { imageIdOf, reportedImage } from "../kubelet/images.ts";
import { nodeAddress, planNodes } from "../nodes/nodes.ts";
import { DAEMON, KRUISE_NAMESPACE, MANAGER, daemonSet, managerDeployment } from "./kruise-manifests.ts";

/** Stands in names where controllers put a hash: they find their own by what is in it. */
const TEMPLATE_HASH = "5d8c6f7b94";
const REVISION_HASH = "7f9c8b6d54";

export interface LayerOptions {
  /** How many nodes every member has. */
  nodes: number;
  nowMs: number;
}

/** As the zones are called in the guides that people follow: what they copy from there finds nodes. */
const ZONES = ["zone-a", "zone-b", "zone-c"];

export const nodeLayer = ({ nodes, nowMs }: LayerOptions): KubernetesObject[] => planNodes({ count: nodes, nowMs, zones: ZONES }) as unknown as KubernetesObject[];

/** Nothing without nodes to run on. */
export function kruiseLayer({ nodes, nowMs }: LayerOptions): KubernetesObject[] {
  if (nodes === 0) return [];
  const names = planNodes({ count: nodes, nowMs }).map(({ metadata }) => metadata.name);
  const time = formatTime(nowMs);
  const deployment = managerDeployment();
  const daemons = daemonSet();
  return [
    managed(deployment, time),
    replicaSet(deployment),
    pod({ name: `${MANAGER}-${TEMPLATE_HASH}-m4n8g`, template: withLabels(deployment.spec.template, { "pod-template-hash": TEMPLATE_HASH }), owner: { kind: "ReplicaSet", name: `${MANAGER}-${TEMPLATE_HASH}` }, index: 0, node: names[0] ?? "", time }),
    { ...daemons, metadata: { ...daemons.metadata, annotations: { "deprecated.daemonset.template.generation": "1" } }, status: daemonStatus(nodes) } as DaemonSet,
    revision(daemons),
    ...names.map((node, index) =>
      pod({ name: `${DAEMON}-${String(index).padStart(5, "0")}`, template: onNode(withLabels(daemons.spec.template, { "controller-revision-hash": REVISION_HASH, "pod-template-generation": "1" }), node), owner: { kind: "DaemonSet", name: DAEMON }, index, node, time }),
    ),
  ];
}

const REVISION = "deployment.kubernetes.io/revision";

function managed(deployment: Deployment, time: string): Deployment {
  const condition = (type: string, reason: string, message: string) => ({ type, status: "True", lastUpdateTime: time, lastTransitionTime: time, reason, message });
  return {
    ...deployment,
    metadata: { ...deployment.metadata, annotations: { [REVISION]: "1" } },
    status: {
      observedGeneration: 1,
      replicas: 1,
      updatedReplicas: 1,
      readyReplicas: 1,
      availableReplicas: 1,
      terminatingReplicas: 0,
      conditions: [condition("Progressing", "NewReplicaSetAvailable", `ReplicaSet "${MANAGER}-${TEMPLATE_HASH}" has successfully progressed.`), condition("Available", "MinimumReplicasAvailable", "Deployment has minimum availability.")],
    },
  };
}

function replicaSet({ spec }: Deployment): ReplicaSet {
  const labels = { "control-plane": MANAGER, "pod-template-hash": TEMPLATE_HASH };
  return {
    apiVersion: "apps/v1",
    kind: "ReplicaSet",
    metadata: {
      name: `${MANAGER}-${TEMPLATE_HASH}`,
      namespace: KRUISE_NAMESPACE,
      labels,
      annotations: { [REVISION]: "1", "deployment.kubernetes.io/desired-replicas": "1", "deployment.kubernetes.io/max-replicas": "2" },
      ownerReferences: [ownerOf({ kind: "Deployment", name: MANAGER })],
    },
    spec: { replicas: 1, selector: { matchLabels: labels }, template: withLabels(spec.template, { "pod-template-hash": TEMPLATE_HASH }) },
    status: { replicas: 1, fullyLabeledReplicas: 1, readyReplicas: 1, availableReplicas: 1, terminatingReplicas: 0, observedGeneration: 1 },
  };
}

const daemonStatus = (count: number): DaemonSet["status"] => ({
  currentNumberScheduled: count,
  numberMisscheduled: 0,
  desiredNumberScheduled: count,
  numberReady: count,
  observedGeneration: 1,
  updatedNumberScheduled: count,
  numberAvailable: count,
});

function revision({ spec }: DaemonSet): ControllerRevision {
  return {
    apiVersion: "apps/v1",
    kind: "ControllerRevision",
    metadata: { name: `${DAEMON}-${REVISION_HASH}`, namespace: KRUISE_NAMESPACE, labels: { "control-plane": DAEMON, "controller-revision-hash": REVISION_HASH }, annotations: { "deprecated.daemonset.template.generation": "1" }, ownerReferences: [ownerOf({ kind: "DaemonSet", name: DAEMON })] },
    data: { spec: { template: { ...spec.template, $patch: "replace" } } } as unknown as NonNullable<ControllerRevision["data"]>,
    revision: 1,
  };
}

/** Whose uid it is depends on the cluster; the server fills it in. */
const ownerOf = ({ kind, name }: { kind: string; name: string }) => ({ apiVersion: "apps/v1", kind, name, uid: "", controller: true, blockOwnerDeletion: true });

const withLabels = ({ metadata, spec }: PodTemplateSpec, labels: Record<string, string>): PodTemplateSpec => ({ metadata: { ...metadata, labels: { ...metadata?.labels, ...labels } }, ...(spec && { spec }) });

function onNode({ metadata, spec }: PodTemplateSpec, node: string): PodTemplateSpec {
  const nodeSelectorTerms = [{ matchFields: [{ key: "metadata.name", operator: "In" as const, values: [node] }] }];
  const pods: PodSpec = { containers: [], ...spec, affinity: { nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms } } } };
  return { ...(metadata && { metadata }), spec: pods };
}

function pod({ name, template, owner, index, node, time }: { name: string; template: PodTemplateSpec; owner: { kind: string; name: string }; index: number; node: string; time: string }): Pod {
  const address = nodeAddress(index);
  const spec: PodSpec = { containers: [], ...template.spec, nodeName: node, enableServiceLinks: true, preemptionPolicy: "PreemptLowerPriority", priority: 0, serviceAccountName: "default", serviceAccount: "default" };
  const conditions = ["PodReadyToStartContainers", "Initialized", "Ready", "ContainersReady", "PodScheduled"].map((type) => ({ type, status: "True", lastTransitionTime: time }));
  return {
    apiVersion: "v1",
    kind: "Pod",
    metadata: { name, namespace: KRUISE_NAMESPACE, ...template.metadata, ownerReferences: [ownerOf(owner)] },
    spec,
    status: { observedGeneration: 1, phase: "Running", conditions, hostIP: address, hostIPs: [{ ip: address }], podIP: address, podIPs: [{ ip: address }], startTime: time, qosClass: "BestEffort", containerStatuses: spec.containers.map((container) => running(container, time)) },
  };
}

function running({ name, image = "" }: PodSpec["containers"][number], time: string): ContainerStatus {
  return { name, state: { running: { startedAt: time } }, lastState: {}, ready: true, restartCount: 0, image: reportedImage(image), imageID: imageIdOf(image), started: true };
}
