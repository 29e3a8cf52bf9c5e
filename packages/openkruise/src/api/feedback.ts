/** Values that ManifestWorks return for several of OpenKruise's kinds; the paths are the same in every version. */
type Path = readonly [name: string, path: string];

export const REPLICA_FEEDBACK: readonly Path[] = [
  ["ReadyReplicas", ".status.readyReplicas"],
  ["Replicas", ".status.replicas"],
  ["AvailableReplicas", ".status.availableReplicas"],
];
export const UPDATED_FEEDBACK: Path = ["UpdatedReplicas", ".status.updatedReplicas"];
