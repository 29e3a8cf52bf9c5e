/**
 * All rules, in chapters. New rules are added here, with a bad and a good fixture in `testdata`, and a line in
 * docs/reference/lint.md.
 */
import type { LintRule } from "../rule.ts";
import { affinityMatchesNothing } from "./affinity-matches-nothing.ts";
import { bindingNames } from "./binding-name.ts";
import { crdNotOnMembers } from "./crd-not-on-members.ts";
import { cronEverywhere } from "./cron-everywhere.ts";
import { hpaWithDivision } from "./hpa-with-division.ts";
import { ignoredSpread } from "./ignored-spread.ts";
import { interpreterOperations } from "./interpreter-operations.ts";
import { interpreterReplacesDivision } from "./interpreter-replaces-division.ts";
import { interpreterRetainsRelease } from "./interpreter-retains-release.ts";
import { interpreterScript } from "./interpreter-script.ts";
import { jobIndexes } from "./job-indexes.ts";
import { kruiseBudgetPerCluster } from "./kruise-budget-per-cluster.ts";
import { kruiseClusterLoss } from "./kruise-cluster-loss.ts";
import { kruiseDaemonsetPartition } from "./kruise-daemonset-partition.ts";
import { kruiseDeletionCost } from "./kruise-deletion-cost.ts";
import { kruiseLifecycleHooks } from "./kruise-lifecycle-hooks.ts";
import { kruiseOrderedReady } from "./kruise-ordered-ready.ts";
import { kruiseOrdinals } from "./kruise-ordinals.ts";
import { kruiseParallelism } from "./kruise-parallelism.ts";
import { kruisePartitionCount } from "./kruise-partition-count.ts";
import { kruisePartitionHold } from "./kruise-partition-hold.ts";
import { kruisePartitionPercent } from "./kruise-partition-percent.ts";
import { kruisePartitionRaised } from "./kruise-partition-raised.ts";
import { kruisePartitionRoundsUp } from "./kruise-partition-rounds-up.ts";
import { kruisePodsToDelete } from "./kruise-pods-to-delete.ts";
import { kruisePredownload } from "./kruise-predownload.ts";
import { kruiseRevisionCompared } from "./kruise-revision-compared.ts";
import { kruiseRolloutOwner } from "./kruise-rollout-owner.ts";
import { kruiseSidecarsetFirst } from "./kruise-sidecarset-first.ts";
import { kruiseStatefulsetPartition } from "./kruise-statefulset-partition.ts";
import { kruiseStatusSums } from "./kruise-status-sums.ts";
import { kruiseSubsetCounts } from "./kruise-subset-counts.ts";
import { kruiseSurge } from "./kruise-surge.ts";
import { kruiseTemplateBeforePartition } from "./kruise-template-before-partition.ts";
import { kruiseUnavailableCount } from "./kruise-unavailable-count.ts";
import { kruiseUnavailablePercent } from "./kruise-unavailable-percent.ts";
import { kruiseVersionDefaults } from "./kruise-version-defaults.ts";
import { kruiseVolumesStay } from "./kruise-volumes-stay.ts";
import { kruiseWorkloadSpread } from "./kruise-workload-spread.ts";
import { overrideDividedField } from "./override-divided-field.ts";
import { overridePath } from "./override-path.ts";
import { overrideSelectsNothing } from "./override-selects-nothing.ts";
import { placementChoosesNone } from "./placement-chooses-none.ts";
import { placementReference } from "./placement-reference.ts";
import { policiesTie } from "./policies-tie.ts";
import { policySelectsNothing } from "./policy-selects-nothing.ts";
import { refused } from "./refused.ts";
import { repeatedKey } from "./repeated-key.ts";
import { rivalScalers } from "./rival-scalers.ts";
import { scaleTarget } from "./scale-target.ts";
import { shorthand } from "./shorthand.ts";
import { sidecarsetNamespaces } from "./sidecarset-namespaces.ts";
import { spreadConstraints } from "./spread-constraints.ts";
import { statefulsetOrdinals } from "./statefulset-ordinals.ts";
import { staticWeights } from "./static-weights.ts";
import { strategySelectsNothing } from "./strategy-selects-nothing.ts";
import { taintsMoveNothing } from "./taints-move-nothing.ts";
import { tolerationSeconds } from "./toleration-seconds.ts";
import { twoOwners } from "./two-owners.ts";
import { unknownKind } from "./unknown-kind.ts";
import { unknownMember } from "./unknown-member.ts";
import { unreadable } from "./unreadable.ts";

export interface RuleChapter {
  readonly title: string;
  readonly says: string;
  readonly rules: readonly LintRule[];
}

export const RULE_CHAPTERS: readonly RuleChapter[] = [
  {
    title: "Files and the hub",
    says: "What the hub itself rejects or warns about, checked with or without a running hub.",
    rules: [unreadable, repeatedKey, refused, unknownKind, shorthand, crdNotOnMembers, bindingNames],
  },
  {
    title: "Policies",
    says: "Which objects are propagated where.",
    rules: [
      policySelectsNothing,
      policiesTie,
      affinityMatchesNothing,
      unknownMember,
      taintsMoveNothing,
      staticWeights,
      spreadConstraints,
      ignoredSpread,
      tolerationSeconds,
      cronEverywhere,
      jobIndexes,
      hpaWithDivision,
      scaleTarget,
      rivalScalers,
      strategySelectsNothing,
      statefulsetOrdinals,
      twoOwners,
    ],
  },
  {
    title: "Overrides",
    says: "Per-member changes.",
    rules: [overrideSelectsNothing, overridePath, overrideDividedField],
  },
  {
    title: "Interpreters",
    says: "Custom interpreter rules.",
    rules: [interpreterScript, interpreterOperations, interpreterReplacesDivision, interpreterRetainsRelease],
  },
  {
    title: "Open Cluster Management",
    says: "Placements and works.",
    rules: [placementReference, placementChoosesNone],
  },
  {
    title: "OpenKruise",
    says: "Fields that behave differently in a fleet than in one cluster. Most of these problems do not occur if a PropagationPolicy divides the workload.",
    rules: [
      kruisePartitionPercent,
      kruisePartitionRoundsUp,
      kruisePartitionCount,
      kruisePartitionHold,
      kruiseTemplateBeforePartition,
      kruisePartitionRaised,
      kruiseUnavailablePercent,
      kruiseUnavailableCount,
      kruiseSurge,
      kruisePodsToDelete,
      kruiseDeletionCost,
      kruiseRevisionCompared,
      kruiseStatusSums,
      kruiseOrdinals,
      kruiseOrderedReady,
      kruiseStatefulsetPartition,
      kruiseVolumesStay,
      kruiseSidecarsetFirst,
      sidecarsetNamespaces,
      kruiseSubsetCounts,
      kruiseWorkloadSpread,
      kruiseDaemonsetPartition,
      kruiseBudgetPerCluster,
      kruiseParallelism,
      kruiseRolloutOwner,
      kruiseLifecycleHooks,
      kruiseVersionDefaults,
      kruisePredownload,
      kruiseClusterLoss,
    ],
  },
];

export const RULES: readonly LintRule[] = RULE_CHAPTERS.flatMap(({ rules }) => rules);
