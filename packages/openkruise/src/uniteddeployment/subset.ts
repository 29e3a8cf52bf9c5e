/**
 * The observed state of one subset of a UnitedDeployment: its workload, its pods, and whether pods find nodes there.
 */
import type { ReadonlyPod } from "@flotilla/kubernetes";

/** The input of the replica allocation. */
export interface SubsetSize {
  name: string;
  /** The replicas in its workload's spec. */
  specReplicas: number;
  /** The replicas in its workload's status. */
  replicas: number;
  readyReplicas: number;
}

/** Whether pods find nodes in a subset; used only by adaptive deployments. */
export interface Schedulability {
  unschedulable: boolean;
  /** From the last status. With the reservation strategy, new pods start as reserved while it is set. */
  markedAsUnschedulable: boolean;
  reservedPods: number;
  /** Pods that have been pending for too long. */
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
  /** The target revision of its pods. */
  updatedRevision: string;
}
