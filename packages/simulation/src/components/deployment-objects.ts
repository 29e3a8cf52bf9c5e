/**
 * A running Deployment with its ReplicaSet and pod, exactly as the controllers would create them, so that the
 * controllers have nothing to do. The controllers recreate deleted or changed objects.
 */
import {
  DEPLOYMENT_DESIRED_REPLICAS_ANNOTATION,
  DEPLOYMENT_MAX_REPLICAS_ANNOTATION,
  DEPLOYMENT_REVISION_ANNOTATION,
} from "@flotilla/kubernetes";
import type { ContainerStatus, PodSpec, PodTemplateSpec } from "@flotilla/apimachinery/facts/core-v1.ts";
import type { Deployment, Pod, ReplicaSet } from "@flotilla/kubernetes";
import type { KubernetesObject } from "@flotilla/apimachinery";
import { imageIdOf, reportedImage } from "../kubelet/images.ts";
import { nodeAddress } from "../nodes/nodes.ts";

/** Replaces the hash that controllers put into names: they find their own objects by content. */
const TEMPLATE_HASH = "5d8c6f7b94";

/** `node` is the node of its pod and `index` the number of that node in the cluster. */
export function deploymentObjects(
  deployment: Deployment,
  { node, index, time }: { node: string; index: number; time: string },
): KubernetesObject[] {
  const { name, namespace = "" } = deployment.metadata;
  return [
    managed(deployment, time),
    replicaSet(deployment),
    podObject({
      name: `${name}-${TEMPLATE_HASH}-m4n8g`,
      namespace,
      template: withLabels(deployment.spec.template, { "pod-template-hash": TEMPLATE_HASH }),
      owner: { kind: "ReplicaSet", name: `${name}-${TEMPLATE_HASH}` },
      index,
      node,
      time,
    }),
  ];
}

function managed(deployment: Deployment, time: string): Deployment {
  const condition = (type: string, reason: string, message: string) => ({
    type,
    status: "True",
    lastUpdateTime: time,
    lastTransitionTime: time,
    reason,
    message,
  });
  return {
    ...deployment,
    metadata: { ...deployment.metadata, annotations: { [DEPLOYMENT_REVISION_ANNOTATION]: "1" } },
    status: {
      observedGeneration: 1,
      replicas: 1,
      updatedReplicas: 1,
      readyReplicas: 1,
      availableReplicas: 1,
      terminatingReplicas: 0,
      conditions: [
        condition(
          "Progressing",
          "NewReplicaSetAvailable",
          `ReplicaSet "${deployment.metadata.name}-${TEMPLATE_HASH}" has successfully progressed.`,
        ),
        condition("Available", "MinimumReplicasAvailable", "Deployment has minimum availability."),
      ],
    },
  };
}

function replicaSet({ metadata: { name, namespace = "" }, spec }: Deployment): ReplicaSet {
  const labels = { ...spec.template.metadata?.labels, "pod-template-hash": TEMPLATE_HASH };
  return {
    apiVersion: "apps/v1",
    kind: "ReplicaSet",
    metadata: {
      name: `${name}-${TEMPLATE_HASH}`,
      namespace,
      labels,
      annotations: {
        [DEPLOYMENT_REVISION_ANNOTATION]: "1",
        [DEPLOYMENT_DESIRED_REPLICAS_ANNOTATION]: "1",
        [DEPLOYMENT_MAX_REPLICAS_ANNOTATION]: "2",
      },
      ownerReferences: [ownerOf({ kind: "Deployment", name })],
    },
    spec: {
      replicas: 1,
      selector: { matchLabels: labels },
      template: withLabels(spec.template, { "pod-template-hash": TEMPLATE_HASH }),
    },
    status: {
      replicas: 1,
      fullyLabeledReplicas: 1,
      readyReplicas: 1,
      availableReplicas: 1,
      terminatingReplicas: 0,
      observedGeneration: 1,
    },
  };
}

/** The owner's uid depends on the cluster; the server fills it in. */
export const ownerOf = ({ kind, name }: { kind: string; name: string }) => ({
  apiVersion: "apps/v1",
  kind,
  name,
  uid: "",
  controller: true,
  blockOwnerDeletion: true,
});

export const withLabels = ({ metadata, spec }: PodTemplateSpec, labels: Record<string, string>): PodTemplateSpec => ({
  metadata: { ...metadata, labels: { ...metadata?.labels, ...labels } },
  spec,
});

interface PodInput {
  name: string;
  namespace: string;
  template: PodTemplateSpec;
  owner: { kind: string; name: string };
  index: number;
  node: string;
  time: string;
}

export function podObject(input: PodInput): Pod {
  const { name, namespace, template, owner, index, node, time } = input;
  const address = nodeAddress(index);
  const spec: PodSpec = {
    containers: [],
    ...template.spec,
    nodeName: node,
    enableServiceLinks: true,
    preemptionPolicy: "PreemptLowerPriority",
    priority: 0,
    serviceAccountName: "default",
    serviceAccount: "default",
  };
  const conditions = ["PodReadyToStartContainers", "Initialized", "Ready", "ContainersReady", "PodScheduled"].map(
    (type) => ({ type, status: "True", lastTransitionTime: time }),
  );
  return {
    apiVersion: "v1",
    kind: "Pod",
    metadata: { name, namespace, ...template.metadata, ownerReferences: [ownerOf(owner)] },
    spec,
    status: {
      observedGeneration: 1,
      phase: "Running",
      conditions,
      hostIP: address,
      hostIPs: [{ ip: address }],
      podIP: address,
      podIPs: [{ ip: address }],
      startTime: time,
      qosClass: "BestEffort",
      containerStatuses: spec.containers.map((container) => running(container, time)),
    },
  };
}

function running({ name, image = "" }: PodSpec["containers"][number], time: string): ContainerStatus {
  return {
    name,
    state: { running: { startedAt: time } },
    lastState: {},
    ready: true,
    restartCount: 0,
    image: reportedImage(image),
    imageID: imageIdOf(image),
    started: true,
  };
}
