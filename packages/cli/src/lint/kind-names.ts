/** Kinds that several rules use, as arguments of `LintFleet.of`. */
export const CUSTOMIZATION = "config.karmada.io/ResourceInterpreterCustomization";
export const MANIFEST_WORK = "work.open-cluster-management.io/ManifestWork";
export const MANIFEST_WORK_REPLICA_SET = "work.open-cluster-management.io/ManifestWorkReplicaSet";
export const PLACEMENT = "cluster.open-cluster-management.io/Placement";
export const ROLLOUT_STRATEGY = "flotilla.dev/RolloutStrategy";
export const STATEFUL_SET = "apps/StatefulSet";
