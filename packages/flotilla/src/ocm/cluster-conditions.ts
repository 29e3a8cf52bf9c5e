/**
 * The conditions of a ManagedCluster with Open Cluster Management's wording; its tools wait for them by type, status
 * and reason.
 */
import type { ManagedCluster } from "@flotilla/ocm";
import type { DeepReadonly } from "@flotilla/base";
import type { NextCondition } from "@flotilla/apimachinery";

export type Read = DeepReadonly<ManagedCluster>;

export const HUB_ACCEPTED = "HubAcceptedManagedCluster";
export const JOINED = "ManagedClusterJoined";
export const AVAILABLE = "ManagedClusterConditionAvailable";
const CLOCK_SYNCED = "ManagedClusterConditionClockSynced";
export const DELETING = "Deleting";

export const accepted: NextCondition = {
  type: HUB_ACCEPTED,
  status: "True",
  reason: "HubClusterAdminAccepted",
  message: "Accepted by hub cluster admin",
};
export const denied: NextCondition = {
  type: HUB_ACCEPTED,
  status: "False",
  reason: "HubClusterAdminDenied",
  message: "Denied by hub cluster admin",
};
export const notAccepted = (message: string): NextCondition => ({
  type: HUB_ACCEPTED,
  status: "False",
  reason: "Error",
  message,
});

export const joined: NextCondition = {
  type: JOINED,
  status: "True",
  reason: "ManagedClusterJoined",
  message: "Managed cluster joined",
};
export const available: NextCondition = {
  type: AVAILABLE,
  status: "True",
  reason: "ManagedClusterAvailable",
  message: "Managed cluster is available",
};
export const unavailable = (message: string): NextCondition => ({
  type: AVAILABLE,
  status: "False",
  reason: "ManagedClusterKubeAPIServerUnavailable",
  message,
});
export const silent: NextCondition = {
  type: AVAILABLE,
  status: "Unknown",
  reason: "ManagedClusterLeaseUpdateStopped",
  message: "Registration agent stopped updating its lease.",
};

export const clockSynced = (isSynced: boolean): NextCondition =>
  isSynced
    ? {
        type: CLOCK_SYNCED,
        status: "True",
        reason: "ManagedClusterClockSynced",
        message: "The clock of the managed cluster is synced with the hub.",
      }
    : {
        type: CLOCK_SYNCED,
        status: "False",
        reason: "ManagedClusterClockOutOfSync",
        message:
          "The clock of hub and agent is out of sync. This may cause the Unknown status and affect agent functionalities.",
      };
