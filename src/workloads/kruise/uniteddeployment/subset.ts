/** One subset of a UnitedDeployment as it is: its workload, its pods, and whether pods find nodes there. */
import type { ReadonlyPod } from "../../kubernetes/pod.ts";

/** What the division of replicas looks at. */
export interface SubsetSize {
  name: string;
  /** What its workload is asked for. */
  specReplicas: number;
  /** What its workload reports. */
  replicas: number;
  readyReplicas: number;
}

/** Whether pods find nodes in a subset; only adaptive deployments ask. */
export interface Schedulability {
  unschedulable: boolean;
  /** The last status said so. With reserved pods, new ones start as reserved while it does. */
  markedAsUnschedulable: boolean;
  reservedPods: number;
  /** Pods that looked for a node for too long. */
  pendingPods: number;
  /** Pods of an old revision in an update that takes too long. */
  updateTimeoutPods: number;
}

export const SCHEDULABLE: Schedulability = {
  unschedulable: false,
  markedAsUnschedulable: false,
  reservedPods: 0,
  pendingPods: 0,
  updateTimeoutPods: 0,
};

export interface SubsetView extends SubsetSize {
  pods: readonly ReadonlyPod[];
  /** The revision that its pods should have. */
  updatedRevision: string;
}
