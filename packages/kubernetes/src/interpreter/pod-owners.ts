/** Which pods belong to a workload, by the owner that manages them. */
import type { KubernetesObject } from "@flotilla/apimachinery";
import type { DeepReadonly } from "@flotilla/base";
import type { ControllerReference } from "./kind-interpreter.ts";

/** Whether the workload manages the pod itself. */
export const managesPod = (
  { kind, metadata }: DeepReadonly<KubernetesObject>,
  controller: ControllerReference | undefined,
): boolean => controller?.kind === kind && controller.name === metadata.name;

/** Whether one of the workload's ReplicaSets manages the pod. */
export const replicaSetManagesPod = (
  { metadata }: DeepReadonly<KubernetesObject>,
  controller: ControllerReference | undefined,
): boolean => controller?.kind === "ReplicaSet" && controller.name.startsWith(`${metadata.name}-`);
