/** The values that ManifestWorks return for workloads with replicas. */
export const REPLICA_VALUES = [
  ["ReadyReplicas", ".status.readyReplicas"],
  ["Replicas", ".status.replicas"],
  ["AvailableReplicas", ".status.availableReplicas"],
] as const;
