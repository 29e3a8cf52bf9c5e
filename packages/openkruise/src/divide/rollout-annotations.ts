/** Annotations of templates that control how a rollout is divided over members. */

/**
 * On a template: with the value `cluster`, a partition, budgets, ordinals and subsets are copied unchanged and count in
 * each cluster separately. `fleet` is the default.
 */
export const PARTITION_SCOPE = "flotilla.dev/partition-scope";
/** On a template: the order in which members receive a release: `spread` (default), `ordered` or `canary`. */
export const ROLLOUT_ORDER = "flotilla.dev/rollout-order";
/** On a template with the rollout order `canary`: the comma-separated members that receive the release first. */
export const CANARY_CLUSTERS = "flotilla.dev/canary-clusters";
